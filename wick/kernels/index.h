// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/dtype.h"
#include "wick/core/nd_iter.h"

namespace wick::kernels {

/// Whether an id (of u8, u32 or i64) in a two-dimensional loop is outside [0, size).
using OutOfRangeFn = bool (*)(const void* ids, const Loop2<1>& loop, Index size);
/// nullptr for other dtypes.
OutOfRangeFn out_of_range(DType ids);

/// y = x[id * x_step] for the elements of a two-dimensional loop over y, the ids and x. The ids are
/// in range; y shares nothing with the others.
using GatherFn = void (*)(void* y, const void* ids, const void* x, const Loop2<3>& loop,
                          Index x_step);
/// The kernel for elements of 1, 2, 4 or 8 bytes and ids of u8, u32 or i64; nullptr for others.
GatherFn gather(int element_bytes, DType ids);

/// What scatter and scatter_add do to a set of lines of y: for each line (j, i) of `lines` (over y,
/// the ids and src) and k = 0, 1, ... count - 1, in this order: with id = ids[k], y[id] = src[k] or
/// y[id] += src[k]. The steps are those along a line. y points to place `low`; ids outside [low,
/// high) are passed over, so that a long line can be shared out by places.
struct ScatterLoop {
  Loop2<3> lines;
  Index count = 0;
  Index y_step = 0;
  Index ids_step = 0;
  Index src_step = 0;
  Index low = 0;
  Index high = 0;
  bool all = true;  ///< every id is in [low, high)
  bool rows =
      false;  ///< lines have their ids in common: entry by entry, by the vector code of rows
};

using ScatterFn = void (*)(void* y, const void* ids, const void* src, const ScatterLoop& loop);
/// The kernel for elements of 1, 2, 4 or 8 bytes and ids of u8, u32 or i64; nullptr for others.
ScatterFn scatter(int element_bytes, DType ids);
/// The same that adds; y has elements of Compute<T>, so that small floats add up in f32. What is
/// NaN stays as it is.
template <Element T>
ScatterFn scatter_add(DType ids);

}  // namespace wick::kernels
