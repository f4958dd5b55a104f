// SPDX-License-Identifier: Apache-2.0
// The short way to the kernel of tiny products, inline: everything before it costs as much as
// hundreds of multiply-adds.
#pragma once

#include <algorithm>
#include <type_traits>

#include "wick/kernels/bf16_unit.h"
#include "wick/kernels/gemm_tiny.h"
#include "wick/ops/gemm.h"

namespace wick {

/// The types that the kernel is made for.
template <Element T, class Out>
inline constexpr bool kTiny =
    std::disjunction_v<std::is_same<T, Out>, std::is_same<kernels::GemmAcc<T>, Out>>;

/// Most rows, columns and elements of k.
inline constexpr Index kTinyMost = 128;

/// Whether C^T = B^T A^T suits C or the lanes better.
template <class T, class Out>
bool tiny_turns(Index m, Index n, const MatrixRef<const T>& a, const MatrixRef<Out>& c) {
  if (n == 1) return m > 1 && c.row == 1 && a.row == 1;
  return c.col != 1 && c.row == 1 && m > 1;
}

/// The product as the kernel sees it.
template <Element T, class Out>
kernels::GemmTiny<T, Out> tiny_product(Index m, Index n, Index k, Compute<T> alpha,
                                       const MatrixRef<const T>& a, const MatrixRef<const T>& b,
                                       Compute<T> beta, const MatrixRef<Out>& c, bool turned) {
  using Acc = kernels::GemmAcc<T>;
  kernels::GemmTiny<T, Out> g;
  g.k = k;
  if (turned) {
    g.m = n;
    g.n = m;
    g.a = {b.data, b.col, b.row, 0};
    g.b = {a.data, a.col, a.row, 0};
    g.c = {c.data, c.col, c.row, 0};
  } else {
    g.m = m;
    g.n = n;
    g.a = {a.data, a.row, a.col, 0};
    g.b = {b.data, b.row, b.col, 0};
    g.c = {c.data, c.row, c.col, 0};
  }
  if (g.n == 1) g.b.col = g.c.col = 1;  // a stride that leads nowhere
  g.count = 1;
  g.alpha = static_cast<Acc>(alpha);
  g.beta = static_cast<Acc>(beta);
  return g;
}

/// Whether the kernel is the best way: what one product needs stays in L1, or nearly.
template <Element T, class Out>
bool tiny_is_best(const kernels::GemmTiny<T, Out>& g) {
  // Instructions for bf16 have an order of summation of their own.
  if constexpr (std::is_same_v<T, bf16>) {
    if (kernels::bf16_unit() != kernels::Bf16Unit::widen) return false;
  }
  constexpr auto kSize = Index{sizeof(kernels::GemmAcc<T>)};
  if (g.k < 1 || std::max({g.m, g.n, g.k}) > kTinyMost) return false;
  if ((g.m * g.k + g.k * g.n + g.m * g.n) * kSize > (Index{100} << 10)) return false;
  // Rows so far apart push each other out of L1.
  const auto awkward = [](Index rows, Index step) { return rows > 8 && step * kSize % 4096 == 0; };
  if (awkward(g.m, g.a.row) || awkward(g.k, g.b.row)) return false;
  return kernels::tiny_fits(g);
}

/// One product of sizes >= 1, if it is tiny.
template <Element T, class Out>
bool gemm_tiny(Index m, Index n, Index k, Compute<T> alpha, const MatrixRef<const T>& a,
               const MatrixRef<const T>& b, Compute<T> beta, const MatrixRef<Out>& c) {
  if constexpr (kTiny<T, Out>) {
    const auto g = tiny_product<T, Out>(m, n, k, alpha, a, b, beta, c, tiny_turns(m, n, a, c));
    if (!tiny_is_best(g)) return false;
    kernels::gemm_tiny(g);
    return true;
  } else {
    return false;
  }
}

}  // namespace wick
