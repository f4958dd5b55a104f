// SPDX-License-Identifier: Apache-2.0
// A convolution after its arguments were checked, and the ways it can go.
#pragma once

#include "wick/kernels/conv.h"
#include "wick/ops/gemm.h"

namespace wick {

/// One axis: output o and place t of the window read input o * stride + first + t * step, and 0
/// where the input has no such element. Transposed convolutions have negative steps.
struct ConvAxis {
  Index in = 1, out = 1, taps = 1;
  Index stride = 1, first = 0, step = 1;
};

/// Strides of an operand, in elements.
struct ConvStrides {
  Index n = 0, c = 0, y = 0, x = 0;
};

/// The outputs [n, g, o, y, x] of a convolution, T being its dtype and Acc what it is added in. No
/// size but `batch`, `outputs` and `channels` is 0, and of axes `taps`.
template <Element T>
struct ConvProblem {
  using Acc = kernels::GemmAcc<T>;
  Index batch = 0, groups = 1, outputs = 0, channels = 0;  ///< the last two of one group
  ConvAxis y, x;
  const T* in = nullptr;
  ConvStrides in_step;
  const T* kernel = nullptr;  ///< element (g, o, c, i, j)
  Index kernel_g = 0, kernel_o = 0, kernel_c = 0, kernel_y = 0, kernel_x = 0;
  T* out = nullptr;
  ConvStrides out_step;
  GemmEpilogue<T, T> epilogue;  ///< bias.row: from output channel to output channel
  Compute<T> alpha = static_cast<Compute<T>>(1), beta = static_cast<Compute<T>>(0);
  ConvStrides residual_step;

  Index taps() const { return y.taps * x.taps; }
  Index k() const { return channels * taps(); }
};

/// Groups of one input channel: a kernel of its own. False if the problem is not of that kind.
template <Element T>
bool conv_depthwise(const ConvProblem<T>& problem);

/// All others, as a product of matrices. Every output is added in the order of k = (c, i, j), in
/// the chunks of a product (wick/ops/gemm.h).
template <Element T>
void conv_gemm(const ConvProblem<T>& problem);

/// What happens to the finished sums of group g in image n, from the output (y, x) on.
template <Element T>
kernels::GemmFinish<kernels::GemmAcc<T>> conv_finish(const ConvProblem<T>& p, Index n, Index g,
                                                     Index y, Index x) {
  using Acc = kernels::GemmAcc<T>;
  const auto& e = p.epilogue;
  const auto at = [&](const ConvStrides& s) {
    return n * s.n + g * p.outputs * s.c + y * s.y + x * s.x;
  };
  kernels::GemmFinish<Acc> f{};
  f.alpha = p.k() == 0 ? Acc{1} : static_cast<Acc>(p.alpha);
  f.beta = static_cast<Acc>(p.beta);
  f.out = p.out + at(p.out_step);
  f.row = p.out_step.c;
  f.col = p.out_step.x;
  f.out_bytes = static_cast<Index>(sizeof(T));
  f.bias = e.bias.data == nullptr ? nullptr : e.bias.data + g * p.outputs * e.bias.row;
  f.bias_row = e.bias.row;
  f.activate = e.activate;
  f.scale = static_cast<Acc>(e.scale);
  f.residual = e.residual.data == nullptr ? nullptr : e.residual.data + at(p.residual_step);
  f.residual_row = p.residual_step.c;
  f.residual_col = p.residual_step.x;
  f.apply = kernels::gemm_finish<T>();
  return f;
}

}  // namespace wick
