// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "wick/core/nd_iter.h"

namespace wick::kernels {

/// Sets every element of a two-dimensional loop to the low bytes of `bits`.
using FillFn = void (*)(void* y, std::uint64_t bits, const Loop2<1>& loop);

/// The fill for elements of 1, 2, 4 or 8 bytes; nullptr for other sizes.
FillFn fill(int element_bytes);

}  // namespace wick::kernels
