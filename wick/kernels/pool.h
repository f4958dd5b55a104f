// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/dtype.h"

namespace wick::kernels {

// Windows are reduced down their columns first, line by line of the input into a line of results,
// and then along it. A line is `width` places of `inner` neighbouring elements each: columns of a
// plane (inner 1), or pixels of channels.

/// A line of windows: output o covers places o * stride + t * step for t < taps.
struct PoolLine {
  Index outputs, taps, stride, step, inner;
};

template <Element T>
struct Pool {
  using C = Compute<T>;
  /// acc[i] = acc[i] op x[i * x_step] for i < n, or x alone if it is the `first` line.
  void (*fold)(C* acc, const T* x, Index n, Index x_step, bool first);
  /// y[o * y_place + c * y_step] = op over the window of o at element c of a place. Means are
  /// divided by lines * count[o]; count is null for maxima. `scratch` holds as many elements as
  /// `acc`, and kPoolSlack more lie behind both.
  void (*slide)(T* y, Index y_place, Index y_step, const C* acc, const PoolLine& line,
                const C* count, C lines, C* scratch);
};

/// Largest elements; NaN wins.
template <Element T>
Pool<T> max_pool();
/// Means.
template <Float T>
Pool<T> mean_pool();

/// Elements that lie behind a line, so that whole vectors may be read and written.
inline constexpr Index kPoolSlack = 192;

}  // namespace wick::kernels
