// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "wick/ops/gemm_paths.h"

namespace wick {

template <Element T, class Out>
bool gemm_tiny(const GemmProblem<T, Out>& p, const GemmBatch& batch) {
  if constexpr (std::is_same_v<T, Out> && sizeof(T) == sizeof(kernels::GemmAcc<T>)) {
    using Acc = kernels::GemmAcc<T>;
    constexpr Index kMost = 64;
    if (batch.rank > 0 || p.n > kMost || p.k > kMost || p.m > kMost || p.b.col != 1 || p.c.col != 1)
      return false;
    if (static_cast<Acc>(p.alpha) != Acc{1} || static_cast<Acc>(p.beta) != Acc{0}) return false;
    const auto kernel = kernels::gemm<T>();
    if ((p.n & (kernel.nr / 2 - 1)) != 0) return false;
    kernels::GemmBlock<Acc> g{};
    g.m = p.m;
    g.n = p.n;
    g.k = p.k;
    g.strip = kernel.mr;
    g.a = reinterpret_cast<const Acc*>(p.a.data);
    g.a_row = p.a.row;
    g.a_col = p.a.col;
    g.b = reinterpret_cast<const Acc*>(p.b.data);
    g.b_row = p.b.row;
    g.b_panel = kernel.nr;
    g.sum = reinterpret_cast<Acc*>(p.c.data);
    g.sum_row = p.c.row;
    kernel.block(g);
    return true;
  } else {
    static_cast<void>(p), static_cast<void>(batch);
    return false;
  }
}

#define WICK_INSTANTIATE(T, Out) \
  template bool gemm_tiny(const GemmProblem<T, Out>&, const GemmBatch&);
WICK_FOR_GEMM(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE

}  // namespace wick
