// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/nd_iter.h"

namespace wick::kernels {

/// y[k, j, i] = x[ids[k], j, i] for k in [0, count) and the elements (j, i) of a two-dimensional
/// loop. Along k, y advances by y_step elements; entry `id` of x lies id * x_step further. y and x
/// do not overlap; the ids are in range.
using IndexSelectFn = void (*)(void* y, const void* x, const Loop2<2>& loop, const Index* ids,
                               Index count, Index y_step, Index x_step);

/// The kernel for elements of 1, 2, 4 or 8 bytes; nullptr for other sizes.
IndexSelectFn index_select(int element_bytes);

}  // namespace wick::kernels
