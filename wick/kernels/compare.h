// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/nd_iter.h"
#include "wick/core/op_table.h"

namespace wick::kernels {

/// y = op(a, b) ? 1 : 0 over a two-dimensional loop. NaN is unequal to all and ordered with none.
template <Element T>
using CompareFn = void (*)(u8* y, const T* a, const T* b, const Loop2<3>& loop);

/// The fastest loop for this CPU; never nullptr.
template <Element T>
CompareFn<T> compare(CompareOp op);

}  // namespace wick::kernels
