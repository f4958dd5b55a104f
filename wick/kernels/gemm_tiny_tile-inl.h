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
#include <cstdint>
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
    return std::size_t{kVecs == 1 ? 8 : kVecs == 2 ? 14 : 9};
  return std::size_t{kVecs == 1 ? 8 : kVecs == 2 ? 6 : 4};
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

// Tiles of one vector load an element of A for every multiply-add. Where the elements of a row lie
// next to each other, each row has a pointer of its own and four steps share it: an index register
// in the address would take the multiply-add apart again.

template <class T, std::size_t... kR>
HWY_INLINE void TinyRows(const T* a, Index row, const T** at, std::index_sequence<kR...>) {
  ((at[kR] = a + static_cast<Index>(kR) * row), ...);
}
template <Index kSteps, class T, std::size_t... kR>
HWY_INLINE void TinyNext(const T** at, std::index_sequence<kR...>) {
  ((at[kR] += kSteps), ...);
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  // Else GCC makes one index of what the pointers have in common.
  (([](const T*& pointer) HWY_ATTR { asm("" : "+r"(pointer)); }(at[kR])), ...);
#endif
}
template <bool kEdge, std::size_t kP, class D, class V, class T, std::size_t... kR>
HWY_INLINE void TinyStepUnit(D d, const T* const* at, const T* HWY_RESTRICT b, Index n, V* c,
                             std::index_sequence<kR...>) {
  const V v = kEdge ? TinyLoadEdge(d, b, n) : hn::LoadU(d, b);
  (TinyRow(hn::Set(d, at[kR][kP]), &v, c + kR, std::make_index_sequence<1>()), ...);
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
    const T* b = first;
    Index p = g.k;
    if (kVecs == 1 && !(kEdge && hn::MaxLanes(d) <= 4) && col == 1) {
      const T* each[kRows];
      TinyRows(a, row, each, rows);
      for (; p >= 4; p -= 4) {
        TinyStepUnit<kEdge, 0>(d, each, b, n, c, rows);
        TinyStepUnit<kEdge, 1>(d, each, b + ldb, n, c, rows);
        b += 2 * ldb;
        TinyStepUnit<kEdge, 2>(d, each, b, n, c, rows);
        TinyStepUnit<kEdge, 3>(d, each, b + ldb, n, c, rows);
        b += 2 * ldb;
        TinyNext<4>(each, rows);
      }
      for (; p > 0; --p, b += ldb) {
        TinyStepUnit<kEdge, 0>(d, each, b, n, c, rows);
        TinyNext<1>(each, rows);
      }
    } else {
      const T* at[(kRows + 2) / 3];
      TinyBegin(a, row, at, groups);
      for (; p > 0; --p, b += ldb) {
        V v[kVecs];
        if constexpr (kEdge) {
          v[0] = TinyLoadEdge(d, b, n);
        } else {
          TinyLoad(d, b, last, v, vecs);
        }
        TinyStep<kVecs>(d, at, row, v, c, rows);
        TinyAdvance(at, col, groups);
      }
    }
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

/// The tiles for a width, and how many strips of rows they make of m.
template <class T>
struct TinyChoice {
  const TinyFn<T>* tiles;
  Index strips;
};

template <class D, std::size_t kVecs, bool kEdge, bool kNarrow>
HWY_INLINE TinyChoice<hn::TFromD<D>> TinyChosen(Index m) {
  using T = hn::TFromD<D>;
  constexpr std::size_t kRows = kTinyRows<T, kVecs, kNarrow>;
  static constexpr auto kTiles = TinyTiles<D, kVecs, kEdge>(std::make_index_sequence<kRows>());
  // Unsigned and by a constant: a real division would take as long as a small product.
  return {kTiles.data(), static_cast<Index>((static_cast<std::size_t>(m) + kRows - 1) / kRows)};
}

/// One vector, of as few lanes as hold n columns (integers: always the full ones).
template <class T, std::size_t kLanes, bool kNarrow = false>
HWY_INLINE TinyChoice<T> TinyOneVector(Index m, Index n) {
  using D = hn::CappedTag<T, kLanes>;
  if constexpr (kLanes > 1 && hwy::IsFloat<T>()) {
    if (n <= static_cast<Index>(kLanes / 2)) return TinyOneVector<T, kLanes / 2, true>(m, n);
  }
  if constexpr (kLanes > (hwy::IsFloat<T>() ? 2 : 1)) {
    if (n < static_cast<Index>(kLanes)) return TinyChosen<D, 1, true, kNarrow>(m);
  }
  return TinyChosen<D, 1, false, kNarrow>(m);
}

template <class T>
HWY_INLINE TinyChoice<T> TinyVectors(Index m, Index n, Index vecs) {
  using D = hn::ScalableTag<T>;
  if (vecs == 1) return TinyOneVector<T, hn::MaxLanes(D())>(m, n);
  if constexpr (hwy::IsFloat<T>()) {
    if (vecs == 3) return TinyChosen<D, 3, false, false>(m);
  }
  return TinyChosen<D, 2, false, false>(m);
}

/// n columns of the products, in strips of rows whose heights differ by at most one.
template <class T>
HWY_INLINE void TinyStrips(const TinyCall<T>& g, const TinyChoice<T>& choice, const T* a,
                           const T* b, T* c, Index count, Index n) {
  if (choice.strips == 1) return choice.tiles[g.m - 1](g, a, b, c, count, n, false);
  const auto m = static_cast<std::uint32_t>(g.m),
             strips = static_cast<std::uint32_t>(choice.strips);
  const std::uint32_t base = strips == 2 ? m / 2 : strips == 4 ? m / 4 : m / strips;
  const Index low = base, taller = m - base * strips, rest = choice.strips - taller;
  const Index i = taller * (low + 1);
  for (; count > 0; --count, a += g.a.step, b += g.b.step, c += g.c.step) {
    if (taller > 0) choice.tiles[low](g, a, b, c, taller, n, true);
    choice.tiles[low - 1](g, a + i * g.a.row, b, c + i * g.c.row, rest, n, true);
  }
}

template <class T>
HWY_INLINE void TinyMultiplyRun(const TinyCall<T>& g) {
  const hn::ScalableTag<T> d;
  constexpr auto kLanes = static_cast<Index>(hn::MaxLanes(d));
  constexpr Index kMost = hwy::IsFloat<T>() ? 3 : 2;
  const Index vecs = g.n <= kLanes ? 1 : (g.n + kLanes - 1) / kLanes;
  if (vecs <= kMost)
    return TinyStrips(g, TinyVectors<T>(g.m, g.n, vecs), g.a.data, g.b.data, g.c.data, g.count,
                      g.n);
  // Two vectors at a time, three where a single one would be left (integers have no such tile).
  // Product after product, so that one stays in L1.
  for (Index i = 0; i < g.count; ++i) {
    for (Index j = 0, left = vecs; left > 0;) {
      const Index some = left == 3 ? kMost : std::min(left, Index{2});
      const Index n = std::min(some * kLanes, g.n - j);
      TinyStrips(g, TinyVectors<T>(g.m, n, some), g.a.data + i * g.a.step,
                 g.b.data + i * g.b.step + j, g.c.data + i * g.c.step + j, Index{1}, n);
      left -= some;
      j += some * kLanes;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
