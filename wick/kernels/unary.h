// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/nd_iter.h"
#include "wick/core/op_table.h"

namespace wick::kernels {

/// y = op(x) over a two-dimensional loop. One thread, no allocation; y may be x with equal strides.
/// The result of an element depends on its value alone, not on strides or position.
template <Element T>
using UnaryFn = void (*)(T* y, const T* x, const Loop2<2>& loop);

/// The fastest loop for this CPU, or nullptr where the op does not exist for T (Domain::floats and
/// an integer). Look it up once per op.
///
/// Errors: f32 at most 1 ULP for exp, expm1, log, log1p, sin, cos, tan, tanh, erf, sigmoid,
/// softplus, log_sigmoid, silu and gelu, 2 for rsqrt, 4 for gelu_erf (without FMA 1); f64 at most 2
/// ULP, 3 for softplus, log_sigmoid, silu and gelu, 6 for gelu_erf. The others are exact or rounded
/// once. The small floats compute in f32 and round once.
template <Element T>
UnaryFn<T> unary(UnaryOp op);

}  // namespace wick::kernels
