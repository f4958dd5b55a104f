// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/dtype.h"
#include "wick/kernels/line.h"

namespace wick::kernels {

/// What a norm does to each line: y = (x - mean) / sqrt(variance + eps) * weight + bias
/// (layer_norm), or x / sqrt(mean(x^2) + eps) * weight (rms_norm; bias is null). The small floats
/// compute in f32. Means and sums of squares are added up in the order of sum-inl.h; the variance
/// is that of the centred line; where squares would overflow or vanish, the line is scaled by a
/// power of two first. A line of zeros (after centring) gives 0 * weight + bias, whatever eps is.
/// weight, bias and scratch hold padded(n) elements. y may be x with equal strides. One thread, no
/// allocation.
template <Float T>
using NormFn = void (*)(T* y, const T* x, const LineLoop& loop, const Compute<T>* weight,
                        const Compute<T>* bias, f64 eps, Compute<T>* scratch);
template <Float T>
NormFn<T> layer_norm();
template <Float T>
NormFn<T> rms_norm();

}  // namespace wick::kernels
