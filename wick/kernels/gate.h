// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/dtype.h"
#include "wick/core/nd_iter.h"

namespace wick::kernels {

// What follows a product in a transformer, in one pass. The small floats compute in f32 and round
// once. One thread, no allocation.

/// y = silu(gate) * up. y may be an operand with equal strides.
template <Float T>
using SwigluFn = void (*)(T* y, const T* gate, const T* up, const Loop2<3>& loop);
template <Float T>
SwigluFn<T> swiglu();

/// Pairs (a, b) turned by an angle: y0 = a cos - b sin, y1 = a sin + b cos, with a rounding after
/// each product. Operands of the loop: y0, y1, a, b, cos, sin. The outputs may be a and b with
/// equal strides.
template <Float T>
struct RotaryOperands {
  T* y0;
  T* y1;
  const T* a;
  const T* b;
  const T* cosine;
  const T* sine;
};
template <Float T>
using RotaryFn = void (*)(const RotaryOperands<T>& at, const Loop2<6>& loop);
template <Float T>
RotaryFn<T> rotary();

/// y = (x - mean) * scale + shift in f64, rounded once (small floats by way of f32). The parameters
/// are three planes `plane` elements apart, walked as operand 2 of the loop, and 16 elements after
/// them may be read. y may be x with equal strides.
template <Float T>
using NormalizeFn = void (*)(T* y, const T* x, const f64* params, Index plane,
                             const Loop2<3>& loop);
template <Float T>
NormalizeFn<T> normalize();

}  // namespace wick::kernels
