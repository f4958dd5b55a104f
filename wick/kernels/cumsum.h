// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/dtype.h"
#include "wick/kernels/line.h"

namespace wick::kernels {

template <Element T>
using CumsumOf = std::conditional_t<Float<T>, T, i64>;

/// y[i] = x[0] + ... + x[i] for each line, one addition after the other: floats in f64, rounded for
/// each y (small floats by way of f32); integers in i64, wrapping. y may be x with equal strides.
/// One thread, no allocation.
template <Element T>
using CumsumFn = void (*)(CumsumOf<T>* y, const T* x, const LineLoop& loop);
template <Element T>
CumsumFn<T> cumsum();

}  // namespace wick::kernels
