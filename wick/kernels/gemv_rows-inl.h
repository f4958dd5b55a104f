// SPDX-License-Identifier: Apache-2.0
// Matrix-vector products where the rows of B are contiguous.

#if defined(WICK_KERNELS_GEMV_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_GEMV_ROWS_INL_H_
#undef WICK_KERNELS_GEMV_ROWS_INL_H_
#else
#define WICK_KERNELS_GEMV_ROWS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "wick/kernels/gemv_vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of B are contiguous. A run of columns as wide as its partial sums have room in L1, some rows
// of B at a time.

template <class T>
struct GemvStrip {
  const T* a;
  Index a_row, a_col;
  const T* b;
  Index b_step, k;
  bool first;
  T* chunk;  ///< partial sums
  Index chunk_row;
  std::uintptr_t ask;  ///< what will be read soon
  Index ask_step;      ///< in bytes
  T* copy;             ///< of this part of B, next to each other
};

/// What a tile does beside multiplying: asks for lines, and copies its part of B, which other rows
/// of A will need.
enum class GemvBeside { nothing, ask, ask_and_copy };

template <std::size_t kM, std::size_t kV, GemvBeside kBeside, class T>
HWY_NOINLINE void GemvTile(const GemvStrip<T>& s) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  V c[kM * kV];
  if (s.first) {
    GemvZero(d, c, kGemvSeq<kM * kV>);
  } else {
    GemvLoadRows<kV>(d, s.chunk, s.chunk_row, c, kGemvSeq<kM>);
  }
  const T* HWY_RESTRICT a = s.a;
  const T* HWY_RESTRICT b = s.b;
  std::uintptr_t ask = s.ask;
  T* HWY_RESTRICT copy = s.copy;
  for (Index p = 0; p < s.k; ++p) {
    V v[kV];
    GemvLoad(d, b, v, kGemvSeq<kV>);
    GemvRowsStep<kV>(d, a, s.a_row, v, c, kGemvSeq<kM>);
    if constexpr (kBeside != GemvBeside::nothing) {
      GemvAsk(ask, static_cast<Index>(kV * hn::MaxLanes(d) * sizeof(T)));
      ask += static_cast<std::uintptr_t>(s.ask_step);
    }
    if constexpr (kBeside == GemvBeside::ask_and_copy) {
      GemvStore(d, v, copy, kGemvSeq<kV>);
      copy += kV * hn::MaxLanes(d);
    }
    a += s.a_col;
    b += s.b_step;
  }
  GemvStoreRows<kV>(d, c, s.chunk, s.chunk_row, kGemvSeq<kM>);
}

constexpr std::size_t kGemvGroup = kGemvManyRegisters ? 8 : 4;  // rows of A at once

/// Most vectors of columns that go with m rows of A at once.
constexpr std::size_t GemvWidth(std::size_t m) {
  return m == 1 ? 8 : m == 2 || (m <= 4 && kGemvManyRegisters) ? 4 : 2;
}

template <class T>
using GemvTileFn = void (*)(const GemvStrip<T>&);

/// Tile functions by rows - 1.
template <std::size_t kV, GemvBeside kBeside, class T, std::size_t... kR>
constexpr std::array<GemvTileFn<T>, sizeof...(kR)> GemvTiles(std::index_sequence<kR...>) {
  return {{&GemvTile<kR + 1, std::min(kV, GemvWidth(kR + 1)), kBeside, T>...}};
}

template <GemvBeside kBeside, class T>
HWY_INLINE void GemvRunTile(Index vectors, Index m, const GemvStrip<T>& s) {
  static constexpr auto k1 = GemvTiles<1, kBeside, T>(kGemvSeq<kGemvGroup>);
  static constexpr auto k2 = GemvTiles<2, kBeside, T>(kGemvSeq<kGemvGroup>);
  static constexpr auto k4 = GemvTiles<4, kBeside, T>(kGemvSeq<4>);
  const auto i = static_cast<std::size_t>(m - 1);
  switch (vectors) {
    case 1: return k1[i](s);
    case 2: return k2[i](s);
    case 4: return k4[i](s);
    default: return GemvTile<1, 8, kBeside>(s);
  }
}

/// Some columns (`vectors` of them, whole vectors) of some rows of B, for all rows of A.
template <class T>
HWY_INLINE void GemvTilesOfAllRows(Index m, Index vectors, bool ask, GemvStrip<T> s) {
  const GemmStrips groups(m, Index{kGemvGroup});
  for (Index i = 0; i < groups.count; ++i) {
    const Index height = groups.height(i);
    if (ask && i == 0 && groups.count > 1) {
      GemvRunTile<GemvBeside::ask_and_copy>(vectors, height, s);
      s.b = s.copy;
      s.b_step = vectors * static_cast<Index>(hn::Lanes(hn::ScalableTag<T>()));
    } else if (ask && i == 0) {
      GemvRunTile<GemvBeside::ask>(vectors, height, s);
    } else {
      GemvRunTile<GemvBeside::nothing>(vectors, height, s);
    }
    s.a += height * s.a_row;
    s.chunk += height * s.chunk_row;
  }
}

template <class T>
void GemvRows(const GemvBlock<T>& g) {
  using Acc = GemmAcc<T>;
  constexpr bool kSame = sizeof(T) == sizeof(Acc);
  const hn::ScalableTag<Acc> d;
  constexpr auto kLanes = static_cast<Index>(hn::MaxLanes(d));
  constexpr Index kMostSteps = 32, kRoom = Index{8192} / Index{sizeof(Acc)};
  HWY_ALIGN Acc chunk[std::size_t{kRoom + kGemvRows * kLanes}];
  // One block of B, widened or (columns after the last whole vector) filled up with zeros.
  HWY_ALIGN Acc block[std::size_t{kMostSteps * 4 * kLanes}];
  const GemmStrips groups(g.m, Index{kGemvGroup});
  const auto most = static_cast<Index>(GemvWidth(static_cast<std::size_t>(groups.height(0))));
  // More products for each time that partial sums are read and written.
  const Index steps = g.m > 4 ? kMostSteps : kMostSteps / 2;
  // Columns ahead that lines are asked for.
  const Index ahead = kGemvAhead / steps / Index{sizeof(T)};
  const Index run = std::max(kRoom / g.m / (most * kLanes), Index{1}) * most * kLanes;
  GemvStrip<Acc> s{};
  s.a_row = g.a_row;
  s.a_col = g.a_col;
  s.copy = block;
  for (Index j = 0; j < g.n; j += run) {
    const Index n = std::min(run, g.n - j);
    s.chunk_row = round_up(n, kLanes);
    for (Index c = 0, p0 = 0; p0 < g.k; ++c, p0 += g.chunk) {
      const Index end = std::min(g.k, p0 + g.chunk);
      for (Index p = p0; p < end; p += steps) {
        s.k = std::min(steps, end - p);
        s.a = g.a + p * g.a_col;
        s.first = p == p0;
        const T* rows = g.b + p * g.b_step + j;
        // What is read after these rows: those below, or the first ones of the next run.
        const T* below =
            p + steps < g.k ? rows + steps * g.b_step : g.b + (j + n < g.n ? j + n : j);
        for (Index x = 0; x < n;) {
          Index vectors = most;
          while (vectors > 1 && x + vectors * kLanes > n) vectors /= 2;
          const Index width = vectors * kLanes;
          const T* from = rows + x;
          s.chunk = chunk + x;
          s.ask = x + ahead < n ? GemvAddress(rows, x + ahead)
                                : GemvAddress(below, std::max(x + ahead - n, Index{0}) % n);
          s.ask_step = g.b_step * Index{sizeof(T)};
          if (kSame && x + width <= n) {
            s.b = reinterpret_cast<const Acc*>(from);
            s.b_step = g.b_step;
            GemvTilesOfAllRows(g.m, vectors, g.far, s);
          } else {
            const Index there = std::min(width, n - x);
            for (Index q = 0; q < s.k; ++q, from += g.b_step) {
              if (g.far)
                GemvAsk(s.ask + static_cast<std::uintptr_t>(q * s.ask_step),
                        width * Index{sizeof(T)});
              Acc* to = block + q * width;
              GemvWiden(from, there, to);
              std::fill(to + there, to + width, Acc{0});
            }
            s.b = block;
            s.b_step = width;
            GemvTilesOfAllRows(g.m, vectors, false, s);
          }
          x += width;
        }
      }
      for (Index r = 0; r < g.m; ++r)
        GemvFlush(chunk + r * s.chunk_row, n, GemvAdds(g, c), GemvSums(g, c) + r * g.sum_row + j);
    }
  }
}

// Few columns: chunks side by side, so that sums do not wait for each other.

template <class D, class T, class V, std::size_t... kC>
HWY_INLINE void GemvSideLoad(D d, const T* b, Index apart, V* v, std::index_sequence<kC...>) {
  ((v[kC] = hn::LoadU(d, b + static_cast<Index>(kC) * apart)), ...);
}
template <class D, class T, class V, std::size_t... kC>
HWY_INLINE void GemvSideRow(D d, const T* a, Index apart, const V* v, V* c,
                            std::index_sequence<kC...>) {
  ((c[kC] = GemvFma(hn::Set(d, a[static_cast<Index>(kC) * apart]), v[kC], c[kC])), ...);
}
template <std::size_t kC, class D, class T, class V, std::size_t... kR>
HWY_INLINE void GemvSideStep(D d, const T* a, Index row, Index apart, const V* v, V* c,
                             std::index_sequence<kR...>) {
  (GemvSideRow(d, a + static_cast<Index>(kR) * row, apart, v, c + kR * kC, kGemvSeq<kC>), ...);
}

/// kC chunks of k products each, for one vector of columns: sums[r][c][lanes]. The chunks of A are
/// a_apart, those of B b_apart elements apart.
template <std::size_t kM, std::size_t kC, class D, class T>
HWY_NOINLINE void GemvSideTile(D d, const GemvStrip<T>& s, Index a_apart, Index b_apart, T* sums) {
  using V = hn::Vec<D>;
  V c[kM * kC];
  GemvZero(d, c, kGemvSeq<kM * kC>);
  const T* HWY_RESTRICT a = s.a;
  const T* HWY_RESTRICT b = s.b;
  for (Index p = 0; p < s.k; ++p, a += s.a_col, b += s.b_step) {
    V v[kC];
    GemvSideLoad(d, b, b_apart, v, kGemvSeq<kC>);
    GemvSideStep<kC>(d, a, s.a_row, a_apart, v, c, kGemvSeq<kM>);
  }
  GemvStore(d, c, sums, kGemvSeq<kM * kC>);
}

/// Columns j to j + lanes of D, rows r to r + kM of A.
template <std::size_t kM, class D, class T>
HWY_INLINE void GemvSideOf(D d, const GemvBlock<T>& g, Index r, Index j) {
  constexpr std::size_t kSums = kM == 1 ? 8 : kM == 2 ? 4 : 2;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  HWY_ALIGN T sums[kM * kSums * kLanes];
  GemvStrip<T> s{};
  s.a_row = g.a_row;
  s.a_col = g.a_col;
  s.b_step = g.b_step;
  for (Index c = 0, p = 0; p < g.k;) {
    s.a = g.a + r * g.a_row + p * g.a_col;
    s.b = g.b + p * g.b_step + j;
    s.k = std::min(g.chunk, g.k - p);
    const bool many = g.k - p >= Index{kSums} * g.chunk;
    if (many) {
      GemvSideTile<kM, kSums>(d, s, g.chunk * g.a_col, g.chunk * g.b_step, sums);
    } else {
      GemvSideTile<kM, 1>(d, s, 0, 0, sums);
    }
    const std::size_t chunks = many ? kSums : 1;
    for (std::size_t i = 0; i < chunks; ++i, ++c, p += g.chunk)
      for (std::size_t q = 0; q < kM; ++q)
        GemvFlush(sums + (q * chunks + i) * kLanes, Index{kLanes}, GemvAdds(g, c),
                  GemvSums(g, c) + (r + static_cast<Index>(q)) * g.sum_row + j);
  }
}

template <class D, class T>
HWY_INLINE void GemvSideRows(D d, const GemvBlock<T>& g, Index j) {
  const GemmStrips groups(g.m, Index{4});
  for (Index i = 0, r = 0; i < groups.count; r += groups.height(i++)) {
    switch (groups.height(i)) {
      case 1: GemvSideOf<1>(d, g, r, j); break;
      case 2: GemvSideOf<2>(d, g, r, j); break;
      case 3: GemvSideOf<3>(d, g, r, j); break;
      default: GemvSideOf<4>(d, g, r, j); break;
    }
  }
}

/// All columns that are left, as many at a time as a vector of at most kLanes holds.
template <std::size_t kLanes, class T>
HWY_INLINE void GemvSideColumns(const GemvBlock<T>& g, Index j) {
  const hn::CappedTag<T, kLanes> d;
  for (; g.n - j >= Index{kLanes}; j += Index{kLanes}) GemvSideRows(d, g, j);
  if constexpr (kLanes > 1) {
    if (j < g.n) GemvSideColumns<kLanes / 2>(g, j);
  }
}

template <class T>
void GemvSide(const GemvBlock<T>& g) {
  using Acc = GemmAcc<T>;
  if constexpr (std::same_as<T, Acc>) {
    GemvSideColumns<hn::MaxLanes(hn::ScalableTag<T>())>(g, 0);
  } else if (g.n == 1 && g.b_step == 1) {
    constexpr Index kRoom = 8 * 384;
    HWY_ALIGN Acc stage[std::size_t{kRoom}];
    GemvBlock<Acc> part{g.m,   1, 0,     g.chunk,   nullptr,     g.a_row, g.a_col,
                        stage, 1, g.sum, g.sum_row, g.sum_chunk, g.add,   false};
    const Index most = kRoom / g.chunk;
    for (Index c = 0, p = 0; p < g.k; c += most, p += part.k) {
      part.k = std::min(most * g.chunk, g.k - p);
      GemvWiden(g.b + p, part.k, stage);
      part.a = g.a + p * g.a_col;
      part.sum = GemvSums(g, c);
      part.add = GemvAdds(g, c);
      GemvSideColumns<1>(part, 0);
    }
  } else {
    GemvRows(g);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
