// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/conv.h"

#include <algorithm>
#include <cstring>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/conv.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_tile-inl.h"
#include "wick/kernels/gemm_transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Finishes n columns of a tile, from column j of the output on. Where channels are neighbours in
/// the output the results are turned round first: single elements would take as long as a tenth of
/// the products.
template <std::size_t kRows, class T>
HWY_INLINE void Finish(const GemmFinish<T>& f, T* tile, Index width, Index j, Index n) {
  if (f.row != 1 || f.col == 1 || kRows == 1 || f.beta != T{0} ||
      f.out_bytes != static_cast<Index>(sizeof(T)))
    return f.apply(f, tile, width, 0, j, kRows, n);
  const hn::ScalableTag<T> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kTurned = (kRows + kLanes - 1) / kLanes * kLanes;
  HWY_ALIGN T results[kRows * kGemmVecs * kLanes] = {};
  HWY_ALIGN T turned[kTurned * kGemmVecs * kLanes];
  GemmFinish<T> local = f.at(0, j);
  local.out = results;
  local.row = width;
  local.col = 1;
  local.apply(local, tile, width, 0, 0, kRows, n);
  for (Index q = 0; q < n; q += Index{kLanes})
    for (std::size_t r = 0; r < kRows; r += kLanes)
      TransposeSquare(d, results + static_cast<Index>(r) * width + q, width,
                      static_cast<Index>(std::min(kLanes, kRows - r)), Index{kTurned},
                      turned + q * Index{kTurned} + r);
  T* out = static_cast<T*>(f.out) + j * f.col;
  for (Index q = 0; q < n; ++q, out += f.col)
    std::memcpy(out, turned + q * Index{kTurned}, kRows * sizeof(T));
}

/// Results of a tile, line after line of the output: those of a line in a tile of their own, since
/// an activation may run over what lies beside.
template <std::size_t kRows, class T>
HWY_NOINLINE void FinishLines(const ConvBlock<T>& g, const T* HWY_RESTRICT tile, Index width,
                              Index j, Index n, T* HWY_RESTRICT part) {
  for (Index q = 0; q < n;) {
    const Index line = (j + q) / g.line, x = (j + q) % g.line;
    const Index count = std::min(n - q, g.line - x);
    for (std::size_t r = 0; r < kRows; ++r)
      std::copy_n(tile + static_cast<Index>(r) * width + q, count,
                  part + static_cast<Index>(r) * width);
    GemmFinish<T> f = *g.finish;
    f.out = static_cast<char*>(f.out) + line * g.out_line * f.out_bytes;
    if (f.residual != nullptr)
      f.residual = static_cast<const char*>(f.residual) + line * g.residual_line * f.out_bytes;
    Finish<kRows>(f, part, width, x, count);
    q += count;
  }
}

/// kRows x (kVecs vectors) of C at column j.
template <class T, std::size_t kRows, std::size_t kVecs, GemmForm kForm>
HWY_NOINLINE void ConvTile(const ConvBlock<T>& g, Index j) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::make_index_sequence<kVecs> vecs{};
  constexpr std::make_index_sequence<kRows> rows{};
  V c[kRows * kVecs];
  GemmZero(d, c, std::make_index_sequence<kRows * kVecs>());
  const auto width = static_cast<Index>(kVecs * hn::Lanes(d));
  const Index n = std::min(width, g.n - j);
  GemmStripOfA<kForm, kRows, T> a(g.a, g.a_row, Index{kRows});
  const T* HWY_RESTRICT b = g.b + j;
  const Index* HWY_RESTRICT at = g.at;
  Index p = g.k;
  for (; p >= 2; p -= 2, a.Next(), at += 2) {
    V v[kVecs];
    GemmLoad(d, b + at[0], v, vecs);
    GemmAskRow(d, b + at[kConvAhead], vecs);
    GemmStep<GemmMulAdd, kVecs, false>(d, a, v, c, rows);
    GemmLoad(d, b + at[1], v, vecs);
    GemmAskRow(d, b + at[kConvAhead + 1], vecs);
    GemmStep<GemmMulAdd, kVecs, true>(d, a, v, c, rows);
  }
  if (p > 0) {
    V v[kVecs];
    GemmLoad(d, b + at[0], v, vecs);
    GemmStep<GemmMulAdd, kVecs, false>(d, a, v, c, rows);
  }
  T* to = g.sum == nullptr ? nullptr : g.sum + j;
  if (g.finish == nullptr && n == width) {
    if (g.add) {
      GemmStore<kVecs, true>(d, c, to, g.sum_row, rows);
    } else {
      GemmStore<kVecs, false>(d, c, to, g.sum_row, rows);
    }
    return;
  }
  HWY_ALIGN T tile[kRows * kVecs * hn::MaxLanes(d)];
  GemmStore<kVecs, false>(d, c, tile, width, rows);
  if (g.finish == nullptr) {
    GemmStoreEdge<kRows, kVecs>(tile, width, n, g.add, to, g.sum_row);
    return;
  }
  if (g.add) GemmAddSums<kRows>(to, g.sum_row, n, tile, width);
  if (g.line == 0) {
    Finish<kRows>(*g.finish, tile, width, j, n);
  } else {
    HWY_ALIGN T part[kRows * kVecs * hn::MaxLanes(d)] = {};
    FinishLines<kRows>(g, tile, width, j, n, part);
  }
}

template <class T>
using ConvTileFn = void (*)(const ConvBlock<T>&, Index);

/// Tile functions by rows - 1.
template <class T, std::size_t kVecs, GemmForm kForm, std::size_t... kR>
constexpr std::array<ConvTileFn<T>, sizeof...(kR)> ConvTiles(std::index_sequence<kR...>) {
  return {{&ConvTile<T, kR + 1, kVecs, kForm>...}};
}

template <class T, GemmForm kForm>
void ConvLoop(const ConvBlock<T>& g) {
  constexpr std::make_index_sequence<kGemmRows<T>> rows{};
  static constexpr auto kFull = ConvTiles<T, kGemmVecs, kForm>(rows);
  static constexpr auto kHalf = ConvTiles<T, 1, kForm>(rows);
  const Index nr = GemmColumns<T>();
  const auto place = static_cast<std::size_t>(g.m - 1);
  for (Index j = 0; j < g.n; j += nr) (g.n - j > nr / 2 ? kFull : kHalf)[place](g, j);
}

template <class T>
void ConvRun(const ConvBlock<T>& g) {
  if (g.packed) {
    ConvLoop<T, GemmForm::panels>(g);
  } else {
    ConvLoop<T, GemmForm::strides>(g);
  }
}

template <class T>
Conv<T> Make() {
  return {Index{kGemmRows<T>}, GemmColumns<T>(), &ConvRun<T>};
}

}  // namespace

Conv<f32> ConvF32() { return Make<f32>(); }
Conv<f64> ConvF64() { return Make<f64>(); }
Conv<std::uint32_t> ConvU32() { return Make<std::uint32_t>(); }
Conv<std::uint64_t> ConvU64() { return Make<std::uint64_t>(); }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(ConvF32);
HWY_EXPORT(ConvF64);
HWY_EXPORT(ConvU32);
HWY_EXPORT(ConvU64);

template <>
Conv<f32> conv() {
  return HWY_DYNAMIC_DISPATCH(ConvF32)();
}
template <>
Conv<f64> conv() {
  return HWY_DYNAMIC_DISPATCH(ConvF64)();
}
template <>
Conv<std::uint32_t> conv() {
  return HWY_DYNAMIC_DISPATCH(ConvU32)();
}
template <>
Conv<std::uint64_t> conv() {
  return HWY_DYNAMIC_DISPATCH(ConvU64)();
}

}  // namespace wick::kernels
#endif
