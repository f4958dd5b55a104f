// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/kernels/gemm.h"

namespace wick::kernels {

/// Elements that one call adds up at most.
inline constexpr Index kDotBlock = 2048;

/// The sum of a[i] * b[i] for i < n <= kDotBlock, in an order that n and T alone fix: product i
/// goes to partial sum i mod 64 (f64 and i64: mod 32) by FMA, from 0, in order of i; then the upper
/// half of the partial sums is added to the lower half until one is left.
template <Element T>
using DotFn = GemmAcc<T> (*)(const T* a, const T* b, Index n);

/// The function for this CPU.
template <Element T>
DotFn<T> dot();

}  // namespace wick::kernels
