// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/harness.h"

namespace wick::bench {

/// Who can multiply here: "wick", then each BLAS that was built in and is found on this machine.
std::vector<std::string> matmul_engines();

/// Whether the engine multiplies this dtype itself; what it cannot do runs on wick's engine.
bool engine_has(const std::string& engine, DType dtype);

/// The call as a candidate that runs on the engine.
Candidate on_engine(const std::string& engine, std::function<void()> call);

}  // namespace wick::bench
