// SPDX-License-Identifier: Apache-2.0
#include "wick/ops/gemm.h"

#include "wick/ops/gemm_paths.h"

namespace wick {

template <Element T, class Out>
void gemm_batch(const GemmProblem<T, Out>& problem, const GemmBatch& batch, Executor& executor,
                const GemmTuning& tuning) {
  using Path = GemmTuning::Path;
  if (problem.m == 0 || problem.n == 0 || batch.count() == 0) return;
  const bool automatic = tuning.path == Path::automatic;
  if (problem.b_packed) {
    if (automatic && tuning.mc == 0 && gemm_panels(problem, batch, executor, tuning)) return;
  } else {
    const bool plain = automatic && tuning.ranks == 0 && tuning.mc == 0 && problem.epilogue.empty();
    if (plain && gemm_tiny(problem, batch, executor)) return;
    if (automatic || tuning.path == Path::thin) {
      if (gemm_rows(problem, batch, executor, tuning)) return;
      if (gemm_thin(problem, batch, executor, tuning)) return;
    }
  }
  gemm_packed(problem, batch, executor, tuning);
}

#define WICK_INSTANTIATE(T, Out)                                                    \
  template void gemm_batch(const GemmProblem<T, Out>&, const GemmBatch&, Executor&, \
                           const GemmTuning&);
WICK_FOR_GEMM(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE

}  // namespace wick
