// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/dtype.h"

namespace wick::kernels {

// Lines of `places` of `inner` neighbouring elements each: columns of a plane (inner 1), or pixels
// of channels.

/// y = x at from[0], from[1], ...; `doubled` promises that these are 0, 0, 1, 1, ... Along a line y
/// and x advance by y_place and x_place elements.
using NearestFn = void (*)(void* y, Index y_place, const void* x, Index x_place, Index inner,
                           const Index* from, Index n, bool doubled);
/// The function for elements of 1, 2, 4 or 8 bytes.
NearestFn nearest(int element_bytes);

/// Where outputs lie between inputs: between low[i] and high[i], the latter having the weight
/// part[i]. Where part[i] is 0 the former alone counts. Filled up to whole vectors.
template <class C>
struct Between {
  using Place = std::conditional_t<sizeof(C) == 4, std::int32_t, std::int64_t>;
  const Place *low, *high;
  const C* part;
};

template <Float T>
struct Bilinear {
  using C = Compute<T>;
  /// to[i] = x[i * step], i < n.
  void (*load)(C* to, const T* x, Index n, Index step);
  /// A line between the places of x; whole vectors of `to` are written.
  void (*spread)(C* to, const C* x, Index n, Index inner, const Between<C>& between);
  /// y[i * step] = a[i] where part is 0, else (1 - part) * a[i] + part * b[i].
  void (*blend)(T* y, Index step, const C* a, const C* b, C part, Index n);
};
template <Float T>
Bilinear<T> bilinear();

/// Elements behind a line that may be read and written.
inline constexpr Index kUpsampleSlack = 64;

}  // namespace wick::kernels
