// SPDX-License-Identifier: Apache-2.0
#include "wick/gemm.h"

#include <cstdint>
#include <cstdlib>

#include "wick/ops/blas.h"
#include "wick/ops/gemm.h"
#include "wick/ops/gemm_tiny.h"

namespace wick {
namespace {

/// Whether two elements of an m x n matrix with these strides share memory.
bool shares_elements(Index m, Index n, Index row, Index col) {
  if (m > 1 && row == 0) return true;
  if (n > 1 && col == 0) return true;
  if (m < 2 || n < 2) return false;
  // Rows after rows, or columns after columns: nearly always.
  if (std::abs(row) >= n * std::abs(col) || std::abs(col) >= m * std::abs(row)) return false;
  // (i, j) and (i', j') meet where (i - i') row == (j' - j) col: i - i' a multiple of |col| / g and
  // j' - j the same multiple of |row| / g, for the greatest common divisor g.
  Index x = std::abs(row), y = std::abs(col);
  while (y != 0) {
    const Index rest = x % y;
    x = y;
    y = rest;
  }
  return std::abs(col) / x < m && std::abs(row) / x < n;
}

/// The reach of a matrix in bytes must fit into an Index.
void check_reach(const char* name, Index rows, Index cols, Index row, Index col) {
  constexpr Index kMost = Index{1} << 62;
  if (row < -kMost || row > kMost || col < -kMost || col > kMost)
    throw Error(ErrorKind::overflow, "gemm", str("strides of ", name, " out of range"));
  const Index reach = checked_add(checked_mul(rows - 1, std::abs(row), "gemm", name),
                                  checked_mul(cols - 1, std::abs(col), "gemm", name), "gemm", name);
  checked_mul(reach, 16, "gemm", name);
}

/// Whether no check of a reach is needed: all of these are below 2^28.
template <class... I>
bool all_small(I... values) {
  constexpr auto kSmall = std::uint64_t{1} << 28;
  return (((static_cast<std::uint64_t>(values) + kSmall) >> 29) | ...) == 0;
}

/// What is tiny and right goes straight to its kernel; false: all checks are still to do.
template <class T, class Out>
bool straight(Index m, Index n, Index k, Compute<T> alpha, const MatrixRef<const T>& a,
              const MatrixRef<const T>& b, Compute<T> beta, const MatrixRef<Out>& c) {
  const auto tiny = [](Index size) {
    return static_cast<std::uint64_t>(size) - 1 < static_cast<std::uint64_t>(kTinyMost);
  };
  return tiny(m) && tiny(n) && tiny(k) && all_small(a.row, a.col, b.row, b.col, c.row, c.col) &&
         a.data != nullptr && b.data != nullptr && c.data != nullptr &&
         !shares_elements(m, n, c.row, c.col) && blas() == Blas::wick &&
         gemm_tiny<T, Out>(m, n, k, alpha, a, b, beta, c);
}

template <class T, class Out>
[[gnu::noinline]] void checked_gemm(const GemmProblem<T, Out>& p) {
  if (p.m < 0 || p.n < 0 || p.k < 0)
    throw Error(ErrorKind::shape, "gemm",
                str("wanted sizes of at least 0, got m ", p.m, ", n ", p.n, ", k ", p.k));
  if (p.m == 0 || p.n == 0) return;
  const auto check_pointer = [](const void* data, const char* name) {
    if (data == nullptr)
      throw Error(ErrorKind::argument, "gemm", str("wanted a pointer to ", name, ", got null"));
  };
  if (p.k > 0) {
    check_pointer(p.a.data, "A");
    check_pointer(p.b.data, "B");
    check_reach("A", p.m, p.k, p.a.row, p.a.col);
    check_reach("B", p.k, p.n, p.b.row, p.b.col);
  }
  check_pointer(p.c.data, "C");
  check_reach("C", p.m, p.n, p.c.row, p.c.col);
  if (shares_elements(p.m, p.n, p.c.row, p.c.col))
    throw Error(ErrorKind::overlap, "gemm",
                str("wanted strides that give each element of C its own place, got ", p.c.row,
                    " and ", p.c.col, " for ", p.m, " x ", p.n));
  if (blas_gemm(p, kNoBatch)) return;
  gemm(p, current_executor());
}

}  // namespace

template <Element T>
void gemm(Index m, Index n, Index k, Compute<T> alpha, const T* a, Index rsa, Index csa, const T* b,
          Index rsb, Index csb, Compute<T> beta, T* c, Index rsc, Index csc) {
  if (straight<T, T>(m, n, k, alpha, {a, rsa, csa}, {b, rsb, csb}, beta, {c, rsc, csc})) return;
  checked_gemm(
      GemmProblem<T, T>{m, n, k, alpha, {a, rsa, csa}, {b, rsb, csb}, beta, {c, rsc, csc}});
}

template <SmallFloat T>
void gemm(Index m, Index n, Index k, f32 alpha, const T* a, Index rsa, Index csa, const T* b,
          Index rsb, Index csb, f32 beta, f32* c, Index rsc, Index csc) {
  if (straight<T, f32>(m, n, k, alpha, {a, rsa, csa}, {b, rsb, csb}, beta, {c, rsc, csc})) return;
  checked_gemm(
      GemmProblem<T, f32>{m, n, k, alpha, {a, rsa, csa}, {b, rsb, csb}, beta, {c, rsc, csc}});
}

#define WICK_INSTANTIATE(T)                                                                      \
  template WICK_API void gemm(Index, Index, Index, Compute<T>, const T*, Index, Index, const T*, \
                              Index, Index, Compute<T>, T*, Index, Index);
WICK_FOR_ELEMENTS(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE
template WICK_API void gemm(Index, Index, Index, f32, const f16*, Index, Index, const f16*, Index,
                            Index, f32, f32*, Index, Index);
template WICK_API void gemm(Index, Index, Index, f32, const bf16*, Index, Index, const bf16*, Index,
                            Index, f32, f32*, Index, Index);
template WICK_API void gemm(Index, Index, Index, f32, const f8e4m3*, Index, Index, const f8e4m3*,
                            Index, Index, f32, f32*, Index, Index);

}  // namespace wick
