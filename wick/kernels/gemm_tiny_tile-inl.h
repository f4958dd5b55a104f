// SPDX-License-Identifier: Apache-2.0
// Tiles of small products: whole products where registers allow, the loop over products inside.

#if defined(WICK_KERNELS_GEMM_TINY_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_GEMM_TINY_TILE_INL_H_
#undef WICK_KERNELS_GEMM_TINY_TILE_INL_H_
#else
#define WICK_KERNELS_GEMM_TINY_TILE_INL_H_
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/highway.h"
#include "wick/kernels/gemm_tiny.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The first n < lanes elements; no other byte is read.
template <class D, class T>
HWY_INLINE hn::Vec<D> TinyLoadEdge(D d, const T* HWY_RESTRICT p, Index n) {
  if constexpr (HWY_TARGET <= HWY_AVX2) {
    return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(n)), d, p);
  } else {
    HWY_ALIGN T some[hn::MaxLanes(d)] = {};
    for (Index i = 0; i < n; ++i) some[i] = p[i];
    return hn::Load(d, some);
  }
}

/// The first n <= lanes elements, by halves: AMD's masked stores without AVX-512 take longer than
/// the product.
template <class D, class V, class T>
HWY_INLINE void TinyStoreHalves(D d, V v, Index n, T* HWY_RESTRICT to) {
  if constexpr (hn::MaxLanes(d) == 1) {
    if (n > 0) hn::StoreU(v, d, to);
  } else {
    const hn::Half<D> half;
    constexpr auto kHalf = static_cast<Index>(hn::MaxLanes(half));
    if (n >= kHalf) {
      hn::StoreU(hn::LowerHalf(half, v), half, to);
      if (n > kHalf) TinyStoreHalves(half, hn::UpperHalf(half, v), n - kHalf, to + kHalf);
    } else {
      TinyStoreHalves(half, hn::LowerHalf(half, v), n, to);
    }
  }
}

template <class D, class V, class T>
HWY_INLINE void TinyStoreEdge(D d, V v, Index n, T* HWY_RESTRICT to) {
  if constexpr (HWY_TARGET <= HWY_AVX3) {
    hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(n)), d, to);
  } else if constexpr (HWY_TARGET <= HWY_AVX2) {
    TinyStoreHalves(d, v, n, to);
  } else {
    HWY_ALIGN T some[hn::MaxLanes(d)];
    hn::Store(v, d, some);
    for (Index i = 0; i < n; ++i) to[i] = some[i];
  }
}

/// Most rows of a tile of so many vectors; `narrow` ones are not as wide as the machine's.
template <class T, std::size_t kVecs, bool kNarrow = false>
inline constexpr std::size_t kTinyRows = [] {
  if (!hwy::IsFloat<T>()) return std::size_t{kVecs == 1 ? 8 : 4};
  if (HWY_TARGET > HWY_SSSE3 && HWY_TARGET != HWY_NEON) return std::size_t{kVecs == 1 ? 8 : 4};
  if (kNarrow) return std::size_t{8};
  if (HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON)
    return std::size_t{kVecs == 1 ? 16 : kVecs == 2 ? 14 : 9};
  return std::size_t{kVecs == 1 ? 12 : kVecs == 2 ? 6 : 4};
}();

// Accumulators stay in registers with GCC 12 only if every index is a constant: index sequences.

template <class V, std::size_t... kV>
HWY_INLINE void TinyRow(V a, const V* b, V* c, std::index_sequence<kV...>) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
    ((c[kV] = hn::MulAdd(a, b[kV], c[kV])), ...);
  } else {
    ((c[kV] = hn::Add(c[kV], hn::Mul(a, b[kV]))), ...);
  }
}

/// Three rows of A share a pointer, so that x86 addresses them by one register for the stride.
template <std::size_t kVecs, class D, class V, class T, std::size_t... kR>
HWY_INLINE void TinyStep(D d, const T* const* at, Index row, const V* b, V* c,
                         std::index_sequence<kR...>) {
  (TinyRow(hn::Set(d, at[kR / 3][static_cast<Index>(kR % 3) * row]), b, c + kR * kVecs,
           std::make_index_sequence<kVecs>()),
   ...);
}

template <class T, std::size_t... kG>
HWY_INLINE void TinyBegin(const T* a, Index row, const T** at, std::index_sequence<kG...>) {
  ((at[kG] = a + static_cast<Index>(3 * kG) * row), ...);
}
template <class T, std::size_t... kG>
HWY_INLINE void TinyAdvance(const T** at, Index col, std::index_sequence<kG...>) {
  ((at[kG] += col), ...);
}
template <class D, class V, std::size_t... kI>
HWY_INLINE void TinyZero(D d, V* c, std::index_sequence<kI...>) {
  ((c[kI] = hn::Zero(d)), ...);
}

/// Vectors of a row: one after the other, but that the last one ends where the row does.
template <class D, class V, class T, std::size_t... kV>
HWY_INLINE void TinyLoad(D d, const T* HWY_RESTRICT p, Index last, V* b,
                         std::index_sequence<kV...>) {
  constexpr std::size_t kLast = sizeof...(kV) - 1;
  ((b[kV] = hn::LoadU(d, p + (kV == kLast ? last : static_cast<Index>(kV * hn::MaxLanes(d))))),
   ...);
}
template <class D, class V, class T, std::size_t... kV>
HWY_INLINE void TinyStoreRow(D d, const V* c, Index last, T* HWY_RESTRICT p,
                             std::index_sequence<kV...>) {
  constexpr std::size_t kLast = sizeof...(kV) - 1;
  ((hn::StoreU(c[kV], d, p + (kV == kLast ? last : static_cast<Index>(kV * hn::MaxLanes(d))))),
   ...);
}
template <std::size_t kVecs, class D, class V, class T, std::size_t... kR>
HWY_INLINE void TinyStore(D d, const V* c, Index last, T* to, Index row,
                          std::index_sequence<kR...>) {
  (TinyStoreRow(d, c + kR * kVecs, last, to + static_cast<Index>(kR) * row,
                std::make_index_sequence<kVecs>()),
   ...);
}
template <class D, class V, class T, std::size_t... kR>
HWY_INLINE void TinyStoreEdges(D d, const V* c, Index n, T* to, Index row,
                               std::index_sequence<kR...>) {
  (TinyStoreEdge(d, c[kR], n, to + static_cast<Index>(kR) * row), ...);
}

/// `count` products of kRows rows; kVecs vectors hold the n columns, the last overlapping the one
/// before, or, with kEdge, more than all. `strips`: not from product to product, but from strip to
/// strip of one.
template <class D, std::size_t kRows, std::size_t kVecs, bool kEdge, class T = hn::TFromD<D>>
HWY_NOINLINE void TinyTile(const TinyCall<T>& g, const T* a, const T* first, T* to, Index count,
                           Index n, bool strips) {
  const D d;
  using V = hn::Vec<D>;
  constexpr std::make_index_sequence<kVecs> vecs{};
  constexpr std::make_index_sequence<kRows> rows{};
  constexpr std::make_index_sequence<(kRows + 2) / 3> groups{};
  const Index row = g.a.row, col = g.a.col, ldb = g.b.row;
  const Index last = kVecs == 1 ? 0 : n - static_cast<Index>(hn::MaxLanes(d));
  for (;;) {
    V c[kRows * kVecs];
    TinyZero(d, c, std::make_index_sequence<kRows * kVecs>());
    const T* at[(kRows + 2) / 3];
    TinyBegin(a, row, at, groups);
    const T* b = first;
    Index p = g.k;
    do {
      V v[kVecs];
      if constexpr (kEdge) {
        v[0] = TinyLoadEdge(d, b, n);
      } else {
        TinyLoad(d, b, last, v, vecs);
      }
      TinyStep<kVecs>(d, at, row, v, c, rows);
      TinyAdvance(at, col, groups);
      b += ldb;
    } while (--p > 0);
    if constexpr (kEdge) {
      TinyStoreEdges(d, c, n, to, g.c.row, rows);
    } else {
      TinyStore<kVecs>(d, c, last, to, g.c.row, rows);
    }
    if (--count <= 0) return;
    a += strips ? static_cast<Index>(kRows) * row : g.a.step;
    first += strips ? 0 : g.b.step;
    to += strips ? static_cast<Index>(kRows) * g.c.row : g.c.step;
  }
}

template <class T>
using TinyFn = void (*)(const TinyCall<T>&, const T*, const T*, T*, Index, Index, bool);

/// Tile functions by rows - 1.
template <class D, std::size_t kVecs, bool kEdge, std::size_t... kR>
constexpr std::array<TinyFn<hn::TFromD<D>>, sizeof...(kR)> TinyTiles(std::index_sequence<kR...>) {
  return {{&TinyTile<D, kR + 1, kVecs, kEdge>...}};
}

template <class T>
struct TinyChoice {
  const TinyFn<T>* tiles;
  Index rows;
};

template <class D, std::size_t kVecs, bool kEdge, bool kNarrow>
HWY_INLINE TinyChoice<hn::TFromD<D>> TinyChosen() {
  using T = hn::TFromD<D>;
  constexpr std::size_t kRows = kTinyRows<T, kVecs, kNarrow>;
  static constexpr auto kTiles = TinyTiles<D, kVecs, kEdge>(std::make_index_sequence<kRows>());
  return {kTiles.data(), static_cast<Index>(kRows)};
}

/// One vector, of as few lanes as hold n columns (integers: always the full ones).
template <class T, std::size_t kLanes, bool kNarrow = false>
HWY_INLINE TinyChoice<T> TinyOneVector(Index n) {
  using D = hn::CappedTag<T, kLanes>;
  if constexpr (kLanes > 1 && hwy::IsFloat<T>()) {
    if (n <= static_cast<Index>(kLanes / 2)) return TinyOneVector<T, kLanes / 2, true>(n);
  }
  if constexpr (kLanes > (hwy::IsFloat<T>() ? 2 : 1)) {
    if (n < static_cast<Index>(kLanes)) return TinyChosen<D, 1, true, kNarrow>();
  }
  return TinyChosen<D, 1, false, kNarrow>();
}

template <class T>
HWY_INLINE TinyChoice<T> TinyVectors(Index n, Index vecs) {
  using D = hn::ScalableTag<T>;
  if (vecs == 1) return TinyOneVector<T, hn::MaxLanes(D())>(n);
  if constexpr (hwy::IsFloat<T>()) {
    if (vecs == 3) return TinyChosen<D, 3, false, false>();
  }
  return TinyChosen<D, 2, false, false>();
}

/// n columns of the products, in strips of rows.
template <class T>
HWY_INLINE void TinyStrips(const TinyCall<T>& g, const TinyChoice<T>& choice, const T* a,
                           const T* b, T* c, Index count, Index n) {
  if (g.m <= choice.rows) return choice.tiles[g.m - 1](g, a, b, c, count, n, false);
  const GemmStrips strips(g.m, choice.rows);
  for (; count > 0; --count, a += g.a.step, b += g.b.step, c += g.c.step) {
    const Index tall = strips.taller, rest = strips.count - strips.taller;
    if (tall > 0) choice.tiles[strips.base](g, a, b, c, tall, n, true);
    const Index i = tall * (strips.base + 1);
    choice.tiles[strips.base - 1](g, a + i * g.a.row, b, c + i * g.c.row, rest, n, true);
  }
}

template <class T>
HWY_INLINE void TinyMultiplyRun(const TinyCall<T>& g) {
  const hn::ScalableTag<T> d;
  constexpr auto kLanes = static_cast<Index>(hn::MaxLanes(d));
  constexpr Index kMost = hwy::IsFloat<T>() ? 3 : 2;
  const Index vecs = g.n <= kLanes ? 1 : (g.n + kLanes - 1) / kLanes;
  if (vecs <= kMost)
    return TinyStrips(g, TinyVectors<T>(g.n, vecs), g.a.data, g.b.data, g.c.data, g.count, g.n);
  // Two vectors at a time, three where a single one would be left (integers have no such tile).
  // Product after product, so that one stays in L1.
  for (Index i = 0; i < g.count; ++i) {
    for (Index j = 0, left = vecs; left > 0;) {
      const Index some = left == 3 ? kMost : std::min(left, Index{2});
      const Index n = std::min(some * kLanes, g.n - j);
      TinyStrips(g, TinyVectors<T>(n, some), g.a.data + i * g.a.step, g.b.data + i * g.b.step + j,
                 g.c.data + i * g.c.step + j, Index{1}, n);
      left -= some;
      j += some * kLanes;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
