// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/core/dtype.h"

namespace wick::kernels {

/// Windows of single channels: `rows` lines of `columns` outputs, each the sum over t of `taps`
/// products, one fused multiply-add after the other from 0.
template <class Acc>
struct Depthwise {
  Index rows, columns, taps;
  const Acc* x;     ///< up to kDepthwiseSlack elements past the last are read
  const Index* at;  ///< where place t of the window lies
  Index x_row, x_column;
  const Acc* w;
  Acc* y;
  Index y_row, y_column;
  Index channels;  ///< of `pixels`
  Index w_row;     ///< of `pixels`: between the weights of two places
};

template <class Acc>
struct DepthwiseFns {
  /// y[r * y_row + j] = sum of w[t] * x[r * x_row + at[t] + j]: one channel.
  void (*lines)(const Depthwise<Acc>& g);
  /// y[r * y_row + j * y_column + c] = sum of w[t * w_row + c] * x[r * x_row + j * x_column + at[t]
  /// + c]: channels next to each other.
  void (*pixels)(const Depthwise<Acc>& g);
};

inline constexpr Index kDepthwiseSlack = 64;

template <class Acc>
DepthwiseFns<Acc> depthwise();
template <>
DepthwiseFns<f32> depthwise();
template <>
DepthwiseFns<f64> depthwise();

}  // namespace wick::kernels
