// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/kernels/gemm.h"

namespace wick::kernels {

/// A few rows times a matrix that is read once, in place, in the order of the block kernel. k may
/// be several chunks. A is in the type that products are added in; element (r, p) is
/// a[r * a_row + p * a_col].
template <Element T>
struct GemvBlock {
  using Acc = GemmAcc<T>;
  Index m, n, k;
  Index chunk;  ///< k is cut every so many products
  const Acc* a;
  Index a_row, a_col;
  const T* b;
  Index b_step;  ///< from one row of B to the next (`rows`, `side`), or from one column to the next
  Acc* sum;      ///< columns next to each other
  Index sum_row;
  Index sum_chunk;  ///< sums of one chunk lie so far behind those of the one before; 0: added up
  bool add;         ///< the first chunk is added to what is there
  bool far;         ///< B comes from beyond L2: lines are asked for ahead
};

/// Most rows of A.
inline constexpr Index kGemvRows = 32;
/// Most rows of A for `columns`.
inline constexpr Index kGemvColumnRows = 4;

/// The functions for this CPU.
template <Element T>
struct Gemv {
  using Acc = GemmAcc<T>;
  using Run = void (*)(const GemvBlock<T>& g);
  Index lanes;  ///< elements of a vector
  Run rows;     ///< the elements of a row of B lie next to each other
  Run columns;  ///< those of a column do; at most kGemvColumnRows rows, a_col is 1
  Run across;   ///< the same for more rows, up to 2 * lanes; a_row is 1, a_col a multiple of lanes
  Run side;     ///< as `rows`, n <= lanes: chunks run side by side
  /// to[i] = from[i * step], i < n.
  void (*copy)(const T* from, Index step, Index n, Acc* to);
};

template <Element T>
Gemv<T> gemv();
#define WICK_DECLARE(T) \
  template <>           \
  Gemv<T> gemv();
WICK_FOR_FLOATS(WICK_DECLARE)
#undef WICK_DECLARE

}  // namespace wick::kernels
