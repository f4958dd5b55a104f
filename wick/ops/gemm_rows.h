// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/ops/gemm.h"

namespace wick {

/// A few rows (or columns) of bf16 against a large matrix whose rows lie in memory as they are, on
/// machines that multiply pairs of bf16: it is read once, in place. False if the problem is not of
/// that kind, or the machine is not.
template <Element T, class Out>
bool gemm_rows(const GemmProblem<T, Out>& problem, const GemmBatch& batch, Executor& executor,
               const GemmTuning& tuning);

}  // namespace wick
