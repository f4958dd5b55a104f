// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "wick/core/dtype.h"
#include "wick/kernels/line.h"

namespace wick::kernels {

/// y = e^(x - max) / sum, or x - max - log(sum), for each line. The small floats compute in f32.
/// The exponentials are added up in the order of sum-inl.h, so the bits depend on neither strides
/// nor the split of the lines. y may be x with equal strides. `scratch` holds softmax_scratch(n)
/// elements. One thread, no allocation.
template <Float T>
using SoftmaxFn = void (*)(T* y, const T* x, const LineLoop& loop, Compute<T>* scratch);
template <Float T>
SoftmaxFn<T> softmax();
template <Float T>
SoftmaxFn<T> log_softmax();

/// The most lines that are walked in step, and how many are for lines of n elements: a tile should
/// nearly fit the L2 cache.
inline constexpr Index kSoftmaxLines = 256;
constexpr Index softmax_tile(Index n) {
  const Index lines = 262144 / (n + 1) / 16 * 16;
  return lines < 16 ? 16 : lines > kSoftmaxLines ? kSoftmaxLines : lines;
}

/// True where lines may be walked in step, vectors across them, rather than one by one: the lines
/// are short, or neighbours are nearer than the next element of the line.
constexpr bool softmax_across(Index n, Index x_step) { return n < 32 || x_step > 1 || x_step < -1; }

/// Elements of scratch, checked to fit.
inline Index softmax_scratch(Index n, Index x_step, std::string_view op) {
  const Index lines = softmax_across(n, x_step) ? softmax_tile(n) : 1;
  return checked_add(checked_mul(n, lines, op, "scratch"), 32, op, "scratch");
}

}  // namespace wick::kernels
