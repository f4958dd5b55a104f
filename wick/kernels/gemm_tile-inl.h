// SPDX-License-Identifier: Apache-2.0
// The block kernel of the matrix product: tiles of C that stay in registers for a chunk of k.

#if defined(WICK_KERNELS_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_GEMM_TILE_INL_H_
#undef WICK_KERNELS_GEMM_TILE_INL_H_
#else
#define WICK_KERNELS_GEMM_TILE_INL_H_
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/highway.h"
#include "wick/kernels/gemm.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of the largest tile; it is two vectors wide. 28 of 32 registers, 12 of 16, 24 of 32.
template <class Acc>
inline constexpr std::size_t kGemmRows = !hwy::IsFloat<Acc>()      ? 4
                                         : HWY_TARGET <= HWY_AVX3  ? 14
                                         : HWY_TARGET <= HWY_SSSE3 ? 6
                                         : HWY_TARGET == HWY_NEON  ? 12
                                                                   : 4;
inline constexpr std::size_t kGemmVecs = 2;

template <class Acc>
HWY_INLINE Index GemmColumns() {
  return static_cast<Index>(kGemmVecs * hn::Lanes(hn::ScalableTag<Acc>()));
}

// GCC 12 keeps arrays of vectors in registers only if every index is a constant early on: hence
// index sequences instead of loops. Lambdas that capture the array make it spill.

template <class V>
HWY_INLINE V GemmFma(V a, V b, V c) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
    return hn::MulAdd(a, b, c);
  } else {
    return hn::Add(c, hn::Mul(a, b));
  }
}

/// How one step of k is added: c + a * b. Another one may stand for several k, where the panels
/// hold several elements in each place.
struct GemmMulAdd {
  template <class V>
  static HWY_INLINE V Step(V a, V b, V c) {
    return GemmFma(a, b, c);
  }
};

template <class Add, class V, std::size_t... kV>
HWY_INLINE void GemmRow(V a, const V* b, V* c, std::index_sequence<kV...>) {
  ((c[kV] = Add::Step(a, b[kV], c[kV])), ...);
}

template <class D, class V, class T, std::size_t... kV>
HWY_INLINE void GemmLoad(D d, const T* HWY_RESTRICT p, V* b, std::index_sequence<kV...>) {
  ((b[kV] = hn::LoadU(d, p + kV * hn::Lanes(d))), ...);
}

/// c += a[rows] * b[vectors] for one step of k. Packed: the rows of A are next to each other.
template <class Add, std::size_t kVecs, bool kPacked, class D, class V, class T, std::size_t... kR>
HWY_INLINE void GemmStep(D d, const T* HWY_RESTRICT a, Index row, const V* b, V* c,
                         std::index_sequence<kR...>) {
  (GemmRow<Add>(hn::Set(d, kPacked ? a[kR] : a[static_cast<Index>(kR) * row]), b, c + kR * kVecs,
                std::make_index_sequence<kVecs>()),
   ...);
}

template <class D, class V, std::size_t... kI>
HWY_INLINE void GemmZero(D d, V* c, std::index_sequence<kI...>) {
  ((c[kI] = hn::Zero(d)), ...);
}

template <bool kAdd, class D, class V, class T, std::size_t... kV>
HWY_INLINE void GemmStoreRow(D d, const V* c, T* HWY_RESTRICT to, std::index_sequence<kV...>) {
  constexpr auto at = [](std::size_t v, std::size_t lanes) { return v * lanes; };
  if constexpr (kAdd) {
    (hn::StoreU(hn::Add(hn::LoadU(d, to + at(kV, hn::Lanes(d))), c[kV]), d,
                to + at(kV, hn::Lanes(d))),
     ...);
  } else {
    (hn::StoreU(c[kV], d, to + at(kV, hn::Lanes(d))), ...);
  }
}

template <std::size_t kVecs, bool kAdd, class D, class V, class T, std::size_t... kR>
HWY_INLINE void GemmStore(D d, const V* c, T* to, Index row, std::index_sequence<kR...>) {
  (GemmStoreRow<kAdd>(d, c + kR * kVecs, to + static_cast<Index>(kR) * row,
                      std::make_index_sequence<kVecs>()),
   ...);
}

/// The last columns of a tile, `n` of them; no byte beside them is touched.
template <std::size_t kRows, std::size_t kVecs, class T>
HWY_NOINLINE void GemmStoreEdge(const T* HWY_RESTRICT tile, Index tile_row, Index n, bool add,
                                T* HWY_RESTRICT to, Index row) {
  for (std::size_t r = 0; r < kRows; ++r, tile += tile_row, to += row)
    for (Index j = 0; j < n; ++j) to[j] = add ? to[j] + tile[j] : tile[j];
}

/// tile = sums + tile.
template <std::size_t kRows, class T>
HWY_NOINLINE void GemmAddSums(const T* HWY_RESTRICT sum, Index row, Index n, T* HWY_RESTRICT tile,
                              Index tile_row) {
  for (std::size_t r = 0; r < kRows; ++r, sum += row, tile += tile_row)
    for (Index j = 0; j < n; ++j) tile[j] = sum[j] + tile[j];
}

/// One tile: kRows x (kVecs vectors) of C at row i, column j.
template <class Add, class T, std::size_t kRows, std::size_t kVecs, bool kPacked>
HWY_NOINLINE void GemmTile(const GemmBlock<T>& g, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                           Index i, Index j) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::make_index_sequence<kVecs> vecs{};
  constexpr std::make_index_sequence<kRows> rows{};
  V c[kRows * kVecs];
  GemmZero(d, c, std::make_index_sequence<kRows * kVecs>());
  const Index ldb = g.b_row;
  const Index col = kPacked ? Index{kRows} : g.a_col;
  const Index row = g.a_row;
  Index p = g.k;
  for (; p >= 2; p -= 2) {
    V v[kVecs];
    GemmLoad(d, b, v, vecs);
    GemmStep<Add, kVecs, kPacked>(d, a, row, v, c, rows);
    GemmLoad(d, b + ldb, v, vecs);
    GemmStep<Add, kVecs, kPacked>(d, a + col, row, v, c, rows);
    a += 2 * col;
    b += 2 * ldb;
  }
  if (p > 0) {
    V v[kVecs];
    GemmLoad(d, b, v, vecs);
    GemmStep<Add, kVecs, kPacked>(d, a, row, v, c, rows);
  }
  const auto width = static_cast<Index>(kVecs * hn::Lanes(d));
  const Index n = std::min(width, g.n - j);
  // Sums of one chunk that goes straight to `finish` have no place.
  T* to = g.sum == nullptr ? nullptr : g.sum + i * g.sum_row + j;
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
  g.finish->apply(*g.finish, tile, width, i, j, kRows, n);
}

template <class T>
using GemmTileFn = void (*)(const GemmBlock<T>&, const T*, const T*, Index, Index);

/// Tile functions by rows - 1.
template <class Add, class T, std::size_t kVecs, bool kPacked, std::size_t... kR>
constexpr std::array<GemmTileFn<T>, sizeof...(kR)> GemmTiles(std::index_sequence<kR...>) {
  return {{&GemmTile<Add, T, kR + 1, kVecs, kPacked>...}};
}

template <class Add, class T, bool kPacked>
HWY_INLINE void GemmBlockLoop(const GemmBlock<T>& g) {
  constexpr std::make_index_sequence<kGemmRows<T>> rows{};
  static constexpr auto kFull = GemmTiles<Add, T, kGemmVecs, kPacked>(rows);
  static constexpr auto kHalf = GemmTiles<Add, T, 1, kPacked>(rows);
  const Index nr = GemmColumns<T>();
  const GemmStrips strips(g.m, g.strip);
  // A strip of A (about 20 KiB) stays in L1 while the panels of B stream past it from L2.
  Index i = 0;
  for (Index s = 0; s < strips.count; ++s) {
    const Index height = strips.height(s);
    const T* a = g.a + (kPacked ? i * g.k : i * g.a_row);
    const T* b = g.b;
    for (Index j = 0; j < g.n; j += nr, b += g.b_panel) {
      const auto& tiles = g.n - j > nr / 2 ? kFull : kHalf;
      tiles[static_cast<std::size_t>(height - 1)](g, a, b, i, j);
    }
    i += height;
  }
}

template <class T, class Add = GemmMulAdd>
void GemmBlockRun(const GemmBlock<T>& g) {
  if (g.a_packed) {
    GemmBlockLoop<Add, T, true>(g);
  } else {
    GemmBlockLoop<Add, T, false>(g);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
