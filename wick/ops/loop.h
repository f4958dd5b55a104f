// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "wick/core/nd_iter.h"
#include "wick/parallel/executor.h"

namespace wick {

/// Elements that one thread should at least get, measured for f32: below, handing over costs more
/// than it saves. Cheap steps are bound by memory, costly ones (exp, tanh, ...) by arithmetic.
inline constexpr Index kCheapGrain = 32 * 1024;
inline constexpr Index kCostlyGrain = 8 * 1024;

/// Calls f(offsets, loop) for two-dimensional loops that together cover N layouts of one shape, on
/// the current threads where there is enough to do. See NdIter::for_each.
template <std::size_t N, class F>
void for_each_loop(const std::array<const Layout*, N>& layouts, Index grain, F&& f) {
  const NdIter<N> it(layouts);
  if (it.size() <= grain) return it.for_each(0, it.size(), f);
  parallel_for(it.size(), grain, [&](Index begin, Index end) { it.for_each(begin, end, f); });
}

}  // namespace wick
