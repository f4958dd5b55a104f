// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/kernels/gemm.h"

namespace wick::kernels {

/// Elements of a small matrix, and of its like in the next product: element (i, j) of product p is
/// data[i * row + j * col + p * step].
template <class T>
struct TinyOperand {
  T* data;
  Index row, col, step;
};

/// `count` equal small products, C = alpha * A·B + beta * C, one after the other in the order of
/// the block kernel, added in Acc. m, n, k >= 1. k is at most one chunk of the order of summation.
template <class T, class Out, class Acc>
struct TinyProducts {
  Index m, n, k;
  TinyOperand<const T> a, b;
  TinyOperand<Out> c;
  Index count;
  Acc alpha, beta;
};

template <Element T, class Out>
using GemmTiny = TinyProducts<T, Out, GemmAcc<T>>;

/// What the tiles see: alpha is 1, beta is 0, columns of B and of C lie next to each other.
template <class Acc>
using TinyCall = TinyProducts<Acc, Acc, Acc>;

/// Bytes of stack that the kernel has for operands that it can not read or write in place.
inline constexpr Index kTinyStage = Index{40} << 10;

/// Whether the kernel reads B and writes C where they lie.
template <Element T, class Out>
constexpr bool tiny_in_place(const GemmTiny<T, Out>& g) {
  using Acc = GemmAcc<T>;
  return sizeof(T) == sizeof(Acc) && sizeof(Out) == sizeof(Acc) && g.b.col == 1 && g.c.col == 1 &&
         g.alpha == Acc{1} && g.beta == Acc{0};
}

/// Whether the copies that the kernel needs of one product fit into its stack.
template <Element T, class Out>
constexpr bool tiny_fits(const GemmTiny<T, Out>& g) {
  if (tiny_in_place(g)) return true;
  constexpr Index kSlack = 16;
  constexpr bool kSame = sizeof(T) == sizeof(GemmAcc<T>);
  const Index b = (g.k + kSlack) * g.n + kSlack;
  Index elements = 0;
  if (!kSame) elements += g.m * g.k + kSlack;
  if (!kSame || g.b.col != 1) elements += b;
  if (!kSame && g.b.col != 1) elements += b;
  elements += g.m * g.n + kSlack;
  return elements * Index{sizeof(GemmAcc<T>)} <= kTinyStage;
}

/// Multiplies, with the instructions of this CPU: one thread, no allocation.
template <Element T, class Out>
void gemm_tiny(const GemmTiny<T, Out>& g);
#define WICK_DECLARE(T, Out) \
  template <>                \
  void gemm_tiny(const GemmTiny<T, Out>& g);
WICK_DECLARE(u8, u8)
WICK_DECLARE(u32, u32)
WICK_DECLARE(i16, i16)
WICK_DECLARE(i32, i32)
WICK_DECLARE(i64, i64)
WICK_DECLARE(bf16, bf16)
WICK_DECLARE(bf16, f32)
WICK_DECLARE(f16, f16)
WICK_DECLARE(f16, f32)
WICK_DECLARE(f32, f32)
WICK_DECLARE(f64, f64)
WICK_DECLARE(f8e4m3, f8e4m3)
WICK_DECLARE(f8e4m3, f32)
#undef WICK_DECLARE

}  // namespace wick::kernels
