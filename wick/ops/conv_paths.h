// SPDX-License-Identifier: Apache-2.0
// A convolution after its arguments were checked, and the ways it can go.
#pragma once

#include <algorithm>
#include <numeric>

#include "wick/kernels/cast.h"
#include "wick/kernels/conv.h"
#include "wick/kernels/copy.h"
#include "wick/ops/gemm.h"
#include "wick/ops/gemm_paths.h"

namespace wick {

/// One axis: output o and place t of the window read input o * stride + first + t * step, and 0
/// where the input has no such element. Transposed convolutions have negative steps.
struct ConvAxis {
  Index in = 1, out = 1, taps = 1;
  Index stride = 1, first = 0, step = 1;
};

/// How the lines (or columns) of the input that outputs [0, size) of an axis need lie in a buffer:
/// in planes, in each those that one place of the window reads, one after the other. Places whose
/// inputs are a multiple of the stride apart share a plane.
struct Planes {
  Index count, size;
  Index period;  ///< place t lies in plane t % period
  bool shared;
  const ConvAxis* axis;

  Planes(const ConvAxis& a, Index outputs, bool may_share) : axis(&a) {
    const Index distance = std::abs(a.step);
    period = a.stride / std::gcd(a.stride, distance);
    const Index together = std::min(a.taps, period);
    const Index shared_size = outputs + (a.taps - 1) * distance / a.stride;
    shared = may_share && together * shared_size < a.taps * outputs;
    count = shared ? together : a.taps;
    size = shared ? shared_size : outputs;
  }
  /// Places from the one that reads the lowest input on.
  Index rank(Index t) const { return axis->step < 0 ? axis->taps - 1 - t : t; }
  Index plane(Index t) const { return shared ? rank(t) % period : t; }
  Index shift(Index t) const { return shared ? rank(t) * std::abs(axis->step) / axis->stride : 0; }
  /// The input that element 0 of a plane holds, for outputs from `begin` on.
  Index first(Index plane, Index begin) const {
    const Index base = begin * axis->stride + axis->first;
    if (!shared) return base + plane * axis->step;
    const Index lowest = axis->step < 0 ? (axis->taps - 1) * axis->step : 0;
    return base + lowest + plane * std::abs(axis->step) % axis->stride;
  }
  /// Elements of the plane that the input has.
  Range inside(Index first_input) const {
    const Index begin = first_input >= 0 ? 0 : ceil_div(-first_input, axis->stride);
    const Index end = first_input >= axis->in ? 0 : ceil_div(axis->in - first_input, axis->stride);
    const Index low = std::min(begin, size);
    return {low, std::clamp(end, low, size)};
  }
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

/// Copies elements to what they are added in.
template <Element T>
kernels::CastFn conv_load() {
  if constexpr (sizeof(T) == sizeof(kernels::GemmAcc<T>))
    return kernels::copy(static_cast<int>(sizeof(T)));
  else
    return kernels::cast(Float<T> ? DType::f32 : DType::u32, dtype_of<T>);
}

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
