// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/base/export.h"
#include "wick/core/dtype.h"

namespace wick {

/// C = alpha * A·B + beta * C on memory of the caller: A is m x k, B is k x n, C is m x n, and
/// element (i, j) of X is x[i * rsx + j * csx] (row and column strides in elements).
///
/// Strides may have any value, negative or 0 for A and B; transposed and padded matrices are read
/// where they lie. C must not overlap A or B, and its own elements must not overlap. beta == 0 does
/// not read C. k == 0 gives beta * C; m == 0 or n == 0 does nothing.
///
/// Element types: f32, f64; bf16, f16, f8e4m3 (added in f32, alpha and beta are f32, rounded once);
/// u8, u32, i16, i32, i64 (modulo 2^bits). The result's bits depend on k, the type and the elements
/// alone: k is cut into chunks of 384 (f64: 256); in a chunk products are added one after the other
/// by fused multiply-add, from 0; sums of chunks are added in order; then comes
/// fma(beta, c, alpha * sum). NaN and infinity follow IEEE 754. (CPUs without FMA round twice. CPUs
/// that multiply pairs of bf16 have an order of their own for bf16: docs/numerics.md.)
///
/// Runs on current_executor(), on the calling thread alone where m * n * k is small. Errors:
/// `shape` (a negative size), `argument` (a null pointer to a matrix that has elements), `overlap`
/// (strides with which elements of C share memory), `overflow`, `out_of_memory`.
template <Element T>
WICK_API void gemm(Index m, Index n, Index k, Compute<T> alpha, const T* a, Index rsa, Index csa,
                   const T* b, Index rsb, Index csb, Compute<T> beta, T* c, Index rsc, Index csc);

/// The same with results in f32, for the small floats.
template <SmallFloat T>
WICK_API void gemm(Index m, Index n, Index k, f32 alpha, const T* a, Index rsa, Index csa,
                   const T* b, Index rsb, Index csb, f32 beta, f32* c, Index rsc, Index csc);

}  // namespace wick
