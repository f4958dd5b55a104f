// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/dtype.h"
#include "wick/core/nd_iter.h"

namespace wick::kernels {

/// y = cond != 0 ? a : b over a two-dimensional loop, by bytes: what is not chosen has no influence.
/// y may be a or b (or cond, if its elements are as wide) with equal strides.
using WhereFn = void (*)(void* y, const void* cond, const void* a, const void* b,
                         const Loop2<4>& loop);

/// The select for elements of 1, 2, 4 or 8 bytes and a condition of u8, u32 or i64; nullptr for
/// others.
WhereFn where(int element_bytes, DType cond);

}  // namespace wick::kernels
