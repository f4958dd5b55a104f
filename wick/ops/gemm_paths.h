// SPDX-License-Identifier: Apache-2.0
// The ways a product can go, and what they share. gemm.cc tries them in order: panels
// (of a PackedMatrix), tiny, rows (native bf16), thin, packed.
#pragma once

#include <utility>

#include "wick/kernels/gemm.h"
#include "wick/ops/gemm.h"

namespace wick {

/// Sizes of this machine's caches in bytes: L2 of one core, L3 shared by all.
struct CacheSizes {
  Index l2 = Index{512} << 10, l3 = Index{4} << 20;
};
const CacheSizes& cache_sizes();

struct Range {
  Index begin, end;
  Index size() const { return end - begin; }
};

/// Piece i of [0, n) cut into `pieces` even parts, in whole units.
Range piece(Index n, Index unit, Index i, Index pieces);

/// Work (in multiply-adds) below which a second thread costs more than it brings.
inline constexpr Index kWorkPerRank = Index{1} << 19;

/// How the ranks of a parallel region share the work: whole products of the batch, or a grid over
/// the elements of each.
struct GemmSplit {
  Index ranks = 1, grid_m = 1, grid_n = 1;
  bool by_product = false;
  Index unit_m = 1, unit_n = 1;  ///< parts are whole multiples of these

  struct Part {
    Range products, rows, columns;
  };
  Part part(Index rank, Index count, Index m, Index n) const;
};

/// `unit_m` and `unit_n`: what parts of C should be multiples of. `ranks` 0: as many as the work
/// is worth, at most `threads`.
GemmSplit gemm_split(Index m, Index n, Index k, Index count, Index unit_m, Index unit_n,
                     Index threads, Index ranks);

/// C^T = B^T A^T: the same products in the same order.
template <class T, class Out>
void turn(GemmProblem<T, Out>& p, GemmBatch& batch) {
  std::swap(p.m, p.n);
  std::swap(p.a, p.b);
  std::swap(p.a.row, p.a.col);
  std::swap(p.b.row, p.b.col);
  std::swap(p.c.row, p.c.col);
  std::swap(p.epilogue.bias.row, p.epilogue.bias.col);
  std::swap(p.epilogue.residual.row, p.epilogue.residual.col);
  std::swap(batch.a, batch.b);
}

/// What happens to the finished sums of one product of the batch.
template <class T, class Out>
kernels::GemmFinish<kernels::GemmAcc<T>> gemm_finish(const GemmProblem<T, Out>& p,
                                                     const GemmBatch::Offsets& at = {}) {
  using Acc = kernels::GemmAcc<T>;
  const GemmEpilogue<T, Out>& e = p.epilogue;
  kernels::GemmFinish<Acc> finish{};
  // Nothing is added up if k is 0: the sum is 0 whatever alpha is.
  finish.alpha = p.k == 0 ? Acc{1} : static_cast<Acc>(p.alpha);
  finish.beta = static_cast<Acc>(p.beta);
  finish.out = p.c.data + at.c;
  finish.row = p.c.row;
  finish.col = p.c.col;
  finish.out_bytes = static_cast<Index>(sizeof(Out));
  finish.bias = e.bias.data;
  finish.bias_row = e.bias.row;
  finish.bias_col = e.bias.col;
  finish.activate = e.activate;
  finish.scale = static_cast<Acc>(e.scale);
  finish.residual = e.residual.data == nullptr ? nullptr : e.residual.data + at.residual;
  finish.residual_row = e.residual.row;
  finish.residual_col = e.residual.col;
  finish.apply = kernels::gemm_finish<Out>();
  return finish;
}

/// Whether C may hold the running sums.
template <class T, class Out>
bool holds_sums(const GemmProblem<T, Out>& p) {
  // A residual that is C itself would be gone before it is added.
  return sizeof(Out) == sizeof(kernels::GemmAcc<T>) && p.beta == static_cast<Compute<T>>(0) &&
         p.c.col == 1 &&
         (p.k <= kGemmChunk<T> || p.epilogue.residual.data == nullptr ||
          static_cast<const void*>(p.epilogue.residual.data) != static_cast<const void*>(p.c.data));
}

/// Whether finished sums are the result as they are.
template <class T, class Out>
bool sums_are_results(const GemmProblem<T, Out>& p) {
  return (p.alpha == static_cast<Compute<T>>(1) || p.k == 0) && p.epilogue.empty();
}

/// Small products, and batches of them: straight to a kernel that reads operands where they lie,
/// since the decisions of the other paths would take as long as the products. False if the problem
/// is not of that kind; then nothing has happened.
template <Element T, class Out>
bool gemm_tiny(const GemmProblem<T, Out>& problem, const GemmBatch& batch, Executor& executor);

/// A few rows (or columns) against a large matrix, which is read once, in place. False if the
/// problem is not of that kind.
template <Element T, class Out>
bool gemm_thin(const GemmProblem<T, Out>& problem, const GemmBatch& batch, Executor& executor,
               const GemmTuning& tuning);

/// The same for bf16 where rows of B are contiguous, on machines that multiply pairs of bf16: there
/// gemm_thin has another order of summation. False if the problem is not of that kind, or the
/// machine is not.
template <Element T, class Out>
bool gemm_rows(const GemmProblem<T, Out>& problem, const GemmBatch& batch, Executor& executor,
               const GemmTuning& tuning);

/// A few rows against a matrix that was packed before. False if the problem is not of that kind.
template <Element T, class Out>
bool gemm_panels(const GemmProblem<T, Out>& problem, const GemmBatch& batch, Executor& executor,
                 const GemmTuning& tuning);

/// Everything else: blocks for the caches, operands packed where that pays.
template <Element T, class Out>
void gemm_packed(const GemmProblem<T, Out>& problem, const GemmBatch& batch, Executor& executor,
                 const GemmTuning& tuning);

/// WICK_X(T, Out) for every pair of element and result type that the paths are made for.
// clang-format off
#define WICK_FOR_GEMM(WICK_X)                                                             \
  WICK_X(u8, u8) WICK_X(u32, u32) WICK_X(i16, i16) WICK_X(i32, i32) WICK_X(i64, i64)      \
  WICK_X(f32, f32) WICK_X(f64, f64) WICK_X(f16, f16) WICK_X(bf16, bf16)                   \
  WICK_X(f8e4m3, f8e4m3) WICK_X(f16, f32) WICK_X(bf16, f32) WICK_X(f8e4m3, f32)           \
  WICK_X(f32, bf16) WICK_X(f32, f16)
// clang-format on

}  // namespace wick
