// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/gemm_panels.h"

#include <algorithm>

#include "wick/ops/gemm_paths.h"
#include "wick/ops/scratch.h"

namespace wick {
namespace {

/// Up to so many rows a product waits for memory rather than for multiplications.
constexpr Index kMostRows = 16;

template <Element T, class Out>
class Panels {
 public:
  using Acc = kernels::GemmAcc<T>;
  static constexpr Index kChunk = kGemmChunk<T>;

  Panels(const GemmProblem<T, Out>& problem, const GemmBatch& batch, const kernels::Gemm<T>& kernel)
      : p_(problem), batch_(batch), kernel_(kernel), panels_(kernels::gemm_panels<T>()) {}

  void run(Executor& executor, Index ranks) {
    const Index count = batch_.count();
    split_ = gemm_split(p_.m, p_.n, p_.k, count, p_.m, kernel_.nr, executor.threads(), ranks);
    a_bytes_ = round_up((p_.m * p_.k + kernels::kGemmSlack) * Index{sizeof(Acc)}, 64);
    const Index bytes = a_bytes_ + round_up(p_.m * kernel_.nr * Index{sizeof(Acc)}, 64);
    const Scratch scratch(checked_mul(bytes, split_.ranks, "gemm", "scratch"), "gemm");
    executor.run(static_cast<int>(split_.ranks), [&](int rank) {
      const GemmSplit::Part part = split_.part(rank, count, p_.m, p_.n);
      for (Index i = part.products.begin; i < part.products.end; ++i)
        multiply(part.columns, batch_.offsets(i), scratch.data() + rank * bytes);
    });
  }

 private:
  /// Panel after panel of B, in each chunk after chunk.
  void multiply(Range columns, GemmBatch::Offsets at, std::byte* scratch) const {
    const kernels::GemmFinish<Acc> finish = gemm_finish(p_, at);
    const kernels::GemmStrips strips(p_.m, panels_.rows);
    const T* b = p_.b.data + at.b;
    auto* packed = reinterpret_cast<Acc*>(scratch);
    Index row = 0;
    for (Index s = 0; s < strips.count; row += strips.height(s++))
      kernel_.pack(p_.a.data + at.a + row * p_.a.row, p_.a.row, p_.a.col, strips.height(s),
                   strips.height(s), p_.k, packed + row * p_.k);
    auto* tile = reinterpret_cast<Acc*>(scratch + a_bytes_);
    kernels::GemmPanel<T> g{};
    for (Index j = columns.begin; j < columns.end; j += kernel_.nr) {
      for (Index p = 0; p < p_.k; p += kChunk) {
        g.k = std::min(kChunk, p_.k - p);
        g.b = panel(b, j, p);
        g.add = p > 0;
        // What is read next is asked for in equal parts, one with each strip.
        const T* next = p + g.k < p_.k ? panel(b, j, p + g.k) : panel(b, j + kernel_.nr, 0);
        const Index lines = std::max(Index{1}, 2 * kernel_.nr * Index{sizeof(T)} / 64);
        g.ahead_lines = std::min(Index{4}, ceil_div(lines, strips.count));
        Index asked = 0;
        for (Index s = 0, i = 0; s < strips.count; i += g.m, ++s) {
          g.m = strips.height(s);
          g.a = packed + i * p_.k + p * g.m;
          g.tile = tile + i * kernel_.nr;
          g.ahead = reinterpret_cast<const char*>(next) + asked * 64;
          if (asked >= lines * ceil_div(g.k, 2)) g.ahead_lines = 0;
          asked += g.ahead_lines * ceil_div(g.k, 2);
          panels_.panel(g);
        }
      }
      finish.apply(finish, tile, kernel_.nr, 0, j, p_.m, std::min(kernel_.nr, columns.end - j));
    }
  }

  const T* panel(const T* b, Index j, Index p) const {
    const Index padded = round_up(p_.n, kernel_.nr);
    if (j >= padded) return b;  // there is no next one
    return b + p * padded + j * std::min(kChunk, p_.k - p);
  }

  GemmProblem<T, Out> p_;
  GemmBatch batch_;
  kernels::Gemm<T> kernel_;
  kernels::GemmPanels<T> panels_;
  GemmSplit split_;
  Index a_bytes_ = 0;
};

}  // namespace

template <Element T, class Out>
bool gemm_panels([[maybe_unused]] const GemmProblem<T, Out>& problem,
                 [[maybe_unused]] const GemmBatch& batch, [[maybe_unused]] Executor& executor,
                 [[maybe_unused]] const GemmTuning& tuning) {
  if constexpr (Float<T>) {
    if (!problem.b_packed || problem.m > kMostRows || problem.k == 0) return false;
    // CPUs with instructions of their own for T add in another order.
    const kernels::Gemm<T> kernel = kernels::gemm<T>();
    if (kernel.depth != 1) return false;
    Panels<T, Out>(problem, batch, kernel).run(executor, tuning.ranks);
    return true;
  } else {
    return false;
  }
}

#define WICK_INSTANTIATE(T, Out)                                                     \
  template bool gemm_panels(const GemmProblem<T, Out>&, const GemmBatch&, Executor&, \
                            const GemmTuning&);
WICK_FOR_GEMM(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE

}  // namespace wick
