// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/dtype.h"
#include "wick/core/nd_iter.h"

namespace wick::kernels {

/// y = convert<To>(x) over a two-dimensional loop; y and x point to elements of the two dtypes.
using CastFn = void (*)(void* y, const void* x, const Loop2<2>& loop);

/// The loop for a pair of compute dtypes, bit for bit what wick::convert gives. nullptr if one of
/// the two is raw.
CastFn cast(DType to, DType from);

}  // namespace wick::kernels
