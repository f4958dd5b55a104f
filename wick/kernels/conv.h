// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "wick/kernels/gemm.h"

namespace wick::kernels {

// A convolution is a matrix product: the kernel as [o, c kh kw] times the windows of the input as
// columns. The columns are never made: rows of that matrix (one channel, one place in the window)
// are runs of a buffer in which each line of the input lies once for every column of the window, so
// that a table of their beginnings is enough. The order of operations is the block kernel's.

/// One call: sums of m x n products over one chunk of k, m <= mr.
template <class Acc>
struct ConvBlock {
  Index m, n, k;
  const Acc* a;
  bool packed;      ///< element (i, p) of A at a[p * m + i], else at a[i * a_row + p]
  Index a_row;      ///< not packed: between rows
  const Acc* b;     ///< element (p, j) of B at b[at[p] + j]; up to nr elements past n are read
  const Index* at;  ///< k of them, and kConvAhead more to ask for
  Acc* sum;         ///< running sums; unused if !add and finish
  Index sum_row;
  bool add;                       ///< sum += chunk, else sum = chunk
  const GemmFinish<Acc>* finish;  ///< not null: the last chunk; results go there, not to sum
  Index line;                     ///< columns of C in one line of the output; 0: all of them
  Index out_line, residual_line;  ///< from one line to the next
};

/// Rows of B that are asked for before they are multiplied.
inline constexpr Index kConvAhead = 8;

template <class Acc>
struct Conv {
  Index mr;  ///< most rows of one call
  Index nr;  ///< columns of a tile; half as many are multiplied where that is enough
  void (*block)(const ConvBlock<Acc>& g);
};

/// For f32, f64, and the unsigned integers that integers are added in.
template <class Acc>
Conv<Acc> conv();
template <>
Conv<f32> conv();
template <>
Conv<f64> conv();
template <>
Conv<std::uint32_t> conv();
template <>
Conv<std::uint64_t> conv();

}  // namespace wick::kernels
