// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/blas.h"
#include "wick/ops/gemm.h"

namespace wick {

/// Computes the products on the BLAS in force, with as many threads as current_executor() has.
/// False, and nothing done, if that is wick's own engine or if the BLAS cannot do it.
template <Element T, class Out>
bool blas_gemm(const GemmProblem<T, Out>& problem, const GemmBatch& batch);

}  // namespace wick
