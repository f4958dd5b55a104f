// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/nd_iter.h"
#include "wick/core/op_table.h"

namespace wick::kernels {

/// y = op(x, p, q) over a two-dimensional loop, p and q being the op's scalars (q unused where the
/// op has one). Floats round p and q to Compute<T> first. Integers: affine computes x * p + q in
/// f64 and casts as `convert` does; clamp casts the bounds, which gives what casting the result
/// would. y may be x with equal strides.
template <Element T>
using ParamFn = void (*)(T* y, const T* x, const Loop2<2>& loop, f64 p, f64 q);

/// The fastest loop for this CPU, or nullptr where the op does not exist for T. f32 errors: elu at
/// most 2 ULP, powf at most 1.
template <Element T>
ParamFn<T> param(ParamOp op);

}  // namespace wick::kernels
