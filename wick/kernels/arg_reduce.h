// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/kernels/reduce.h"

namespace wick::kernels {

/// The best element of a range: its rank among numbers and its index.
struct Best {
  i64 key;
  Index index;

  /// `b` comes after `a`: it wins only if it is better.
  friend constexpr Best merge(const Best& a, const Best& b) { return b.key > a.key ? b : a; }
};

/// First index of the greatest (or the least) element; the first NaN counts as better than any
/// number. loop.begin < loop.end.
template <Element T>
using BestFn = ReduceFn<T, Best>;
template <Element T>
BestFn<T> arg_max();
template <Element T>
BestFn<T> arg_min();

}  // namespace wick::kernels
