// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "wick/kernels/bf16_unit.h"
#include "wick/kernels/gemm_bf16.h"
#include "wick/ops/gemm_paths.h"
#include "wick/ops/scratch.h"

namespace wick {
namespace {

using kernels::Bf16Rows;
using kernels::Bf16Unit;

template <class Out>
bool run(GemmProblem<bf16, Out> p, GemmBatch batch, Executor& executor, const GemmTuning& tuning) {
  const Bf16Unit unit = kernels::bf16_unit();
  if (unit == Bf16Unit::widen || p.b_packed || p.k == 0) return false;
  if (p.n < p.m) turn(p, batch);
  if (p.m > Bf16Rows::kMost || p.b.col != 1) return false;
  // What stays in L2 is as well off with tiles.
  const Index bytes = p.k * p.n * static_cast<Index>(sizeof(bf16));
  if (tuning.path != GemmTuning::Path::thin && bytes <= cache_sizes().l2 / 2) return false;
  const Index count = batch.count();
  const GemmSplit split = gemm_split(p.m, p.n, p.k * std::max(p.m, Index{4}) / p.m, count, p.m,
                                     Bf16Rows::kWidth, executor.threads(), tuning.ranks);
  const Index sum_row = round_up(p.n, Bf16Rows::kWidth);
  const Index floats = p.m * sum_row;
  const Scratch scratch(
      checked_mul(2 * floats * static_cast<Index>(sizeof(f32)), split.ranks, "gemm", "scratch"),
      "gemm");
  const auto multiply = unit == Bf16Unit::amx ? kernels::bf16_rows_amx() : kernels::bf16_rows_dot();
  executor.run(static_cast<int>(split.ranks), [&](int rank) {
    const GemmSplit::Part part = split.part(rank, count, p.m, p.n);
    Bf16Rows g{};
    g.m = part.rows.size();
    g.n = part.columns.size();
    g.k = p.k;
    g.a_row = p.a.row;
    g.a_col = p.a.col;
    g.b_row = p.b.row;
    g.sum = reinterpret_cast<f32*>(scratch.data()) + rank * 2 * floats;
    g.chunk = g.sum + floats;
    g.sum_row = round_up(g.n, Bf16Rows::kWidth);
    if (g.m == 0 || g.n == 0) return;
    for (Index i = part.products.begin; i < part.products.end; ++i) {
      const GemmBatch::Offsets at = batch.offsets(i);
      g.a = p.a.data + at.a + part.rows.begin * p.a.row;
      g.b = p.b.data + at.b + part.columns.begin;
      multiply(g);
      const auto finish = gemm_finish(p, at).at(part.rows.begin, part.columns.begin);
      finish.apply(finish, g.sum, g.sum_row, 0, 0, g.m, g.n);
    }
  });
  return true;
}

}  // namespace

template <Element T, class Out>
bool gemm_rows([[maybe_unused]] const GemmProblem<T, Out>& problem,
               [[maybe_unused]] const GemmBatch& batch, [[maybe_unused]] Executor& executor,
               [[maybe_unused]] const GemmTuning& tuning) {
  if constexpr (std::is_same_v<T, bf16>) {
    return run(problem, batch, executor, tuning);
  } else {
    return false;
  }
}

#define WICK_INSTANTIATE(T, Out)                                                   \
  template bool gemm_rows(const GemmProblem<T, Out>&, const GemmBatch&, Executor&, \
                          const GemmTuning&);
WICK_FOR_GEMM(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE

}  // namespace wick
