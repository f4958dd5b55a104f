// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/nd_iter.h"
#include "wick/core/op_table.h"

namespace wick::kernels {

/// y = op(a, b) over a two-dimensional loop. y may be a or b with equal strides. Integers wrap; the
/// smallest integer divided by -1 is itself, its remainder 0. What integer_check finds must be
/// ruled out by the caller: a zero divisor gives 0 here, a negative exponent an unspecified value
/// (never a trap).
template <Element T>
using BinaryFn = void (*)(T* y, const T* a, const T* b, const Loop2<3>& loop);

/// The fastest loop for this CPU, or nullptr where the op does not exist for T (Domain::floats and
/// an integer). Errors of pow and floor_div: at most 1 ULP.
template <Element T>
BinaryFn<T> binary(BinaryOp op);

/// True if some element of b cannot be a right operand.
template <Element T>
using CheckFn = bool (*)(const T* b, const Loop2<1>& loop);

/// What to ask of the right operand before anything is written: of div, rem and floor_div, is any
/// element zero; of pow, is any negative. nullptr where every value is fine: other ops, floats, and
/// pow of unsigned integers.
template <Element T>
CheckFn<T> integer_check(BinaryOp op);

}  // namespace wick::kernels
