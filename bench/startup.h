// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/harness.h"

namespace wick::bench {

/// What the first op of a process costs, a product of two 256 x 256 matrices with all that it
/// starts: seconds. Says something only where nothing else of the library was used before.
double first_op_seconds(bool context);

/// `wick embed` for one sentence: from the start of the process to its first line.
Candidate startup_candidate(const std::string& model);

/// first_op_seconds() in new processes, by `wick first-op`.
Candidate first_op_candidate(bool context);

}  // namespace wick::bench
