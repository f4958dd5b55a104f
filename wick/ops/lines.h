// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/nd_iter.h"
#include "wick/kernels/line.h"
#include "wick/ops/loop.h"

namespace wick {

/// A layout without one of its dims.
inline Layout without_dim(const Layout& layout, int dim) {
  return {layout.shape.erased(dim), layout.strides.erased(dim), layout.offset};
}

/// Calls f(offset in y, offset in x, loop, scratch) for sets of lines along `dim` that together
/// cover two layouts of one shape, on the current threads where there is enough to do. `scratch`
/// holds `scratch_elements` of C and belongs to one thread. A thread gets at least `least` lines.
template <class C, class F>
void for_each_line(std::string_view op, const Layout& y, const Layout& x, int dim,
                   Index scratch_elements, Index grain, Index least, F&& f) {
  const Index n = y.shape[dim];
  const Layout y_rest = without_dim(y, dim), x_rest = without_dim(x, dim);
  const NdIter<2> it({&y_rest, &x_rest});
  if (n == 0 || it.size() == 0) return;
  parallel_for(it.size(), std::max(least, grain / n), [&](Index begin, Index end) {
    const Buffer<C> scratch(scratch_elements, op);
    it.for_each(begin, end, [&](const auto& at, const Loop2<2>& run) {
      const kernels::LineLoop loop{n,     y.strides[dim], x.strides[dim],
                                   run.n, run.inner[0],   run.inner[1]};
      for (Index j = 0; j < run.m; ++j)
        f(at[0] + j * run.outer[0], at[1] + j * run.outer[1], loop, scratch.data());
    });
  });
}

}  // namespace wick
