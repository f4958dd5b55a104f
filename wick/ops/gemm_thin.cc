// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "wick/kernels/gemv.h"
#include "wick/ops/gemm_paths.h"
#include "wick/ops/scratch.h"

namespace wick {
namespace {

template <Element T, class Out>
class Thin {
 public:
  using Acc = kernels::GemmAcc<T>;
  static constexpr Index kChunk = kGemmChunk<T>;

  Thin(const GemmProblem<T, Out>& problem, const GemmBatch& batch)
      : p_(problem), batch_(batch), count_(batch.count()), kernel_(kernels::gemm<T>()) {
    if (p_.n <= kernels::kGemvRows && p_.n < p_.m) turn(p_, batch_);
    in_place_ = holds_sums(p_) && sums_are_results(p_);
    by_columns_ = p_.b.row == 1 && p_.k >= kernel_.nr / 2;
  }

  /// Few rows, and the elements of B's rows or columns next to each other; rows only if B is more
  /// than what packing would leave in L2.
  bool fits(bool forced) const {
    if (p_.m > kernels::kGemvRows || p_.k == 0) return false;
    const Index b_size = p_.k * p_.n * static_cast<Index>(sizeof(Acc));
    return by_columns_ || (p_.b.col == 1 && (forced || b_size > cache_sizes().l2 / 4));
  }

  void run(Executor& executor, Index ranks) {
    split_ = gemm_split(p_.m, p_.n, p_.k, count_, 4, kernel_.nr / 2, executor.threads(), ranks);
    const Index sums = in_place_ ? 0 : p_.m * p_.n * static_cast<Index>(sizeof(Acc));
    const Index bytes = round_up(sums, 64);
    const Scratch scratch(checked_mul(bytes, split_.ranks, "gemm", "scratch"), "gemm");
    executor.run(static_cast<int>(split_.ranks), [&](int rank) {
      const GemmSplit::Part part = split_.part(rank, count_, p_.m, p_.n);
      auto* sum = reinterpret_cast<Acc*>(scratch.data() + rank * bytes);
      for (Index i = part.products.begin; i < part.products.end; ++i)
        multiply(part, batch_.offsets(i), sum);
    });
  }

 private:
  /// Chunk after chunk of B, each read once.
  void multiply(const GemmSplit::Part& part, GemmBatch::Offsets at, Acc* sum) const {
    const kernels::GemmFinish<Acc> finish =
        gemm_finish(p_, at).at(part.rows.begin, part.columns.begin);
    kernels::GemvBlock<Acc> g{};
    g.m = part.rows.size();
    g.n = part.columns.size();
    g.a_row = p_.a.row;
    g.a_col = p_.a.col;
    g.b_step = by_columns_ ? p_.b.col : p_.b.row;
    g.sum = in_place_ ? reinterpret_cast<Acc*>(finish.out) : sum;
    g.sum_row = in_place_ ? p_.c.row : p_.n;
    const T* a = p_.a.data + at.a + part.rows.begin * p_.a.row;
    const T* b = p_.b.data + at.b + part.columns.begin * p_.b.col;
    const auto kernel = kernels::gemv<Acc>();
    for (Index p = 0; p < p_.k; p += kChunk) {
      g.k = std::min(kChunk, p_.k - p);
      g.a = a + p * p_.a.col;
      g.b = b + p * p_.b.row;
      g.add = p > 0;
      (by_columns_ ? kernel.columns : kernel.rows)(g);
    }
    if (!in_place_) finish.apply(finish, sum, p_.n, 0, 0, g.m, g.n);
  }

  GemmProblem<T, Out> p_;
  GemmBatch batch_;
  Index count_;
  kernels::Gemm<T> kernel_;
  GemmSplit split_;
  bool in_place_, by_columns_;
};

}  // namespace

template <Element T, class Out>
bool gemm_thin(const GemmProblem<T, Out>& problem, const GemmBatch& batch, Executor& executor,
               const GemmTuning& tuning) {
  if constexpr (std::is_same_v<T, kernels::GemmAcc<T>> && Float<T>) {
    if (std::min(problem.m, problem.n) > kernels::kGemvRows) return false;
    Thin<T, Out> thin(problem, batch);
    if (!thin.fits(tuning.path == GemmTuning::Path::thin)) return false;
    thin.run(executor, tuning.ranks);
    return true;
  } else {
    static_cast<void>(problem), static_cast<void>(batch);
    static_cast<void>(executor), static_cast<void>(tuning);
    return false;
  }
}

#define WICK_INSTANTIATE(T, Out)                                                   \
  template bool gemm_thin(const GemmProblem<T, Out>&, const GemmBatch&, Executor&, \
                          const GemmTuning&);
WICK_FOR_GEMM(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE

}  // namespace wick
