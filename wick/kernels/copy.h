// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/nd_iter.h"

namespace wick::kernels {

/// y = x over a two-dimensional loop; strides count elements. y and x do not overlap, or are the
/// same with equal strides.
using CopyFn = void (*)(void* y, const void* x, const Loop2<2>& loop);

/// The copy for elements of 1, 2, 4 or 8 bytes; nullptr for other sizes. Contiguous rows move as
/// blocks, a transposing copy goes tile by tile.
CopyFn copy(int element_bytes);

}  // namespace wick::kernels
