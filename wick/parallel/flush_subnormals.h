// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "wick/base/export.h"

namespace wick {

/// While it lives, ops called by this thread read and write subnormal numbers as zero, on every
/// thread they use (FTZ and DAZ on x86, FZ on AArch64; no effect elsewhere). Arithmetic on
/// subnormals can be tens of times slower. Half types are computed in f32 and keep their own
/// subnormals. It also holds for the caller's own arithmetic.
class WICK_API FlushSubnormals {
 public:
  FlushSubnormals();
  ~FlushSubnormals();
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  std::uint64_t before_;
};

}  // namespace wick
