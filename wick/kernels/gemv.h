// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/kernels/gemm.h"

namespace wick::kernels {

/// A few rows times a matrix that is read once, in place: sums of one chunk of k, in the order of
/// the block kernel. Row r of A is a + r * a_row, its elements a_col apart.
template <class Acc>
struct GemvBlock {
  Index m, n, k;  ///< m <= kGemvRows
  const Acc* a;
  Index a_row, a_col;
  const Acc* b;
  Index b_step;  ///< from one row of B to the next, or from one column to the next
  Acc* sum;      ///< columns next to each other
  Index sum_row;
  bool add;  ///< sum += chunk, else sum = chunk
};

inline constexpr Index kGemvRows = 4;

/// The functions for this CPU, for f32 and f64.
template <class Acc>
struct Gemv {
  void (*rows)(const GemvBlock<Acc>& g);     ///< the elements of a row of B lie next to each other
  void (*columns)(const GemvBlock<Acc>& g);  ///< those of a column do
};

template <class Acc>
Gemv<Acc> gemv();
template <>
Gemv<f32> gemv();
template <>
Gemv<f64> gemv();

}  // namespace wick::kernels
