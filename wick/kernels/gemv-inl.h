// SPDX-License-Identifier: Apache-2.0
// Matrix-vector products: a matrix that is read once, at the speed of the memory it lies in.

#if defined(WICK_KERNELS_GEMV_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_GEMV_INL_H_
#undef WICK_KERNELS_GEMV_INL_H_
#else
#define WICK_KERNELS_GEMV_INL_H_
#endif

#include <algorithm>
#include <array>
#include <utility>

// The order matters: these last.
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "wick/kernels/gemm_pack-inl.h"
#include "wick/kernels/gemm_transpose-inl.h"
#include "wick/kernels/gemv.h"
#include "wick/kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Arrays of vectors stay in registers only with constant indices: index sequences, as in the block
// kernel.

constexpr bool kGemvManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON;
constexpr Index kGemvLine = 64;
/// Lines are asked for so many bytes before they are read: of some rows of B together; of each of
/// 32 columns, or of 16.
constexpr Index kGemvAhead = 8192, kGemvAhead32 = 2048, kGemvAhead16 = 8192;
/// Lines of a column that are copied at once.
constexpr Index kGemvPiece = 4;

template <std::size_t kN>
constexpr std::make_index_sequence<kN> kGemvSeq{};

template <class V>
HWY_INLINE V GemvFma(V a, V b, V c) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
    return hn::MulAdd(a, b, c);
  } else {
    return hn::Add(c, hn::Mul(a, b));
  }
}

/// sum (+)= chunk for n elements.
template <class T>
HWY_INLINE void GemvFlush(const T* HWY_RESTRICT chunk, Index n, bool add, T* HWY_RESTRICT sum) {
  for (Index j = 0; j < n; ++j) sum[j] = add ? sum[j] + chunk[j] : chunk[j];
}

/// Where the sums of chunk c belong, and whether they are added to what is there.
template <class T>
HWY_INLINE auto* GemvSums(const GemvBlock<T>& g, Index c) {
  return g.sum + c * g.sum_chunk;
}
template <class T>
HWY_INLINE bool GemvAdds(const GemvBlock<T>& g, Index c) {
  return g.sum_chunk == 0 && (g.add || c > 0);
}

/// Asks for a line, into L2: rows a power of two apart share few sets of L1, and lines that come
/// early would push each other out. The address may lie anywhere.
HWY_INLINE void GemvAskLine(std::uintptr_t at) {
  __builtin_prefetch(reinterpret_cast<const char*>(at), 0, 2);
}
/// Asks for the lines of `bytes` bytes.
HWY_INLINE void GemvAsk(std::uintptr_t at, Index bytes) {
  for (Index i = 0; i < bytes; i += kGemvLine) GemvAskLine(at + static_cast<std::uintptr_t>(i));
}
template <class T>
HWY_INLINE std::uintptr_t GemvAddress(const T* base, Index offset) {
  return reinterpret_cast<std::uintptr_t>(base) +
         static_cast<std::uintptr_t>(offset * static_cast<Index>(sizeof(T)));
}

/// to[i] = from[i] as what products are added in.
template <class Acc, class T>
HWY_INLINE void GemvWiden(const T* HWY_RESTRICT from, Index n, Acc* HWY_RESTRICT to) {
  Index i = 0;
  if constexpr (Float<T>) {
    const typename Lanes<T>::D d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    for (; i + lanes <= n; i += lanes) hn::StoreU(Lanes<T>::Load(d, from + i), d, to + i);
  }
  for (; i < n; ++i) to[i] = GemmWiden<Acc>(from[i]);
}

template <class D, class T, class V, std::size_t... kV>
HWY_INLINE void GemvLoad(D d, const T* HWY_RESTRICT p, V* v, std::index_sequence<kV...>) {
  ((v[kV] = hn::LoadU(d, p + static_cast<Index>(kV * hn::MaxLanes(d)))), ...);
}
template <class D, class T, class V, std::size_t... kV>
HWY_INLINE void GemvStore(D d, const V* v, T* HWY_RESTRICT p, std::index_sequence<kV...>) {
  (hn::StoreU(v[kV], d, p + static_cast<Index>(kV * hn::MaxLanes(d))), ...);
}
template <class D, class V, std::size_t... kI>
HWY_INLINE void GemvZero(D d, V* v, std::index_sequence<kI...>) {
  ((v[kI] = hn::Zero(d)), ...);
}
template <class V, std::size_t... kV>
HWY_INLINE void GemvRow(V a, const V* v, V* c, std::index_sequence<kV...>) {
  ((c[kV] = GemvFma(a, v[kV], c[kV])), ...);
}
/// c[r] += a[r] * v for every row of A.
template <std::size_t kV, class D, class T, class V, std::size_t... kR>
HWY_INLINE void GemvRowsStep(D d, const T* HWY_RESTRICT a, Index row, const V* v, V* c,
                             std::index_sequence<kR...>) {
  (GemvRow(hn::Set(d, a[static_cast<Index>(kR) * row]), v, c + kR * kV, kGemvSeq<kV>), ...);
}
template <std::size_t kV, class D, class T, class V, std::size_t... kR>
HWY_INLINE void GemvLoadRows(D d, const T* p, Index row, V* c, std::index_sequence<kR...>) {
  (GemvLoad(d, p + static_cast<Index>(kR) * row, c + kR * kV, kGemvSeq<kV>), ...);
}
template <std::size_t kV, class D, class T, class V, std::size_t... kR>
HWY_INLINE void GemvStoreRows(D d, const V* c, T* p, Index row, std::index_sequence<kR...>) {
  (GemvStore(d, c + kR * kV, p + static_cast<Index>(kR) * row, kGemvSeq<kV>), ...);
}

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

// Columns of B are contiguous: as many columns as a vector has lanes, transposed in registers
// square by square.

template <class D, class T, class V, std::size_t... kR>
HWY_INLINE void GemvColumn(D d, const T* a, Index row, V column, V* sums,
                           std::index_sequence<kR...>) {
  ((sums[kR] = GemvFma(hn::Set(d, a[static_cast<Index>(kR) * row]), column, sums[kR])), ...);
}

template <std::size_t kM, class D, class T, class V, std::size_t... kP>
HWY_INLINE void GemvSquare(D d, const T* a, Index row, const V* columns, V* sums,
                           std::index_sequence<kP...>) {
  (GemvColumn(d, a + kP, row, columns[kP], sums, kGemvSeq<kM>), ...);
}

/// 16 bytes of each of the columns 0, kSide, 2 * kSide, ..., kStep apart, as the blocks of a
/// vector. Loads that repeat a block cost no shuffle.
template <Index kStep, class D, class T>
HWY_INLINE hn::Vec<D> GemvBlocks(D d, const T* HWY_RESTRICT b) {
  constexpr std::size_t kBlocks = hn::MaxLanes(d) * sizeof(T) / 16;
  constexpr Index next = 16 / Index{sizeof(T)} * kStep;
  if constexpr (kBlocks == 1) {
    return hn::LoadU(d, b);
  } else {
    const auto lower = hn::OddEvenBlocks(hn::LoadDup128(d, b + next), hn::LoadDup128(d, b));
    if constexpr (kBlocks == 2) {
      return lower;
    } else {
      static_assert(kBlocks == 4);
      const T* upper = b + 2 * next;
      return hn::ConcatUpperLower(
          d, hn::OddEvenBlocks(hn::LoadDup128(d, upper + next), hn::LoadDup128(d, upper)), lower);
    }
  }
}

/// 16 bytes of each of as many columns of B as there are lanes, turned round: out[p][column].
template <Index kStep, class D, class T, class V>
HWY_INLINE void GemvTurn(D d, const T* HWY_RESTRICT b, V* out) {
  if constexpr (sizeof(T) == 8) {
    const V r0 = GemvBlocks<kStep>(d, b), r1 = GemvBlocks<kStep>(d, b + kStep);
    out[0] = hn::InterleaveLower(d, r0, r1);
    out[1] = hn::InterleaveUpper(d, r0, r1);
  } else {
    const hn::Repartition<std::uint64_t, D> wide;
    const V r0 = GemvBlocks<kStep>(d, b), r1 = GemvBlocks<kStep>(d, b + kStep);
    const V r2 = GemvBlocks<kStep>(d, b + 2 * kStep);
    const V r3 = GemvBlocks<kStep>(d, b + 3 * kStep);
    const auto lower01 = hn::BitCast(wide, hn::InterleaveLower(d, r0, r1));
    const auto lower23 = hn::BitCast(wide, hn::InterleaveLower(d, r2, r3));
    const auto upper01 = hn::BitCast(wide, hn::InterleaveUpper(d, r0, r1));
    const auto upper23 = hn::BitCast(wide, hn::InterleaveUpper(d, r2, r3));
    out[0] = hn::BitCast(d, hn::InterleaveLower(wide, lower01, lower23));
    out[1] = hn::BitCast(d, hn::InterleaveUpper(wide, lower01, lower23));
    out[2] = hn::BitCast(d, hn::InterleaveLower(wide, upper01, upper23));
    out[3] = hn::BitCast(d, hn::InterleaveUpper(wide, upper01, upper23));
  }
}

/// sums[square][row of A] += 16 bytes of each column times that part of A.
template <std::size_t kM, Index kStep, class D, class T, class V, std::size_t... kS>
HWY_INLINE void GemvAddTurned(D d, const T* b, const T* a, Index a_row, V* sums,
                              std::index_sequence<kS...>) {
  constexpr std::size_t kSide = 16 / sizeof(T);
  constexpr auto kLanes = static_cast<Index>(hn::MaxLanes(d));
  const auto one = [&](const T* from, V* to) HWY_ATTR {
    V columns[kSide];
    GemvTurn<kStep>(d, from, columns);
    GemvSquare<kM>(d, a, a_row, columns, to, kGemvSeq<kSide>);
  };
  (one(b + static_cast<Index>(kS) * kLanes * kStep, sums + kS * kM), ...);
}

/// A line of each column.
template <std::size_t kM, std::size_t kS, Index kStep, class D, class T, class V, std::size_t... kQ>
HWY_INLINE void GemvAddLine(D d, const T* b, const T* a, Index a_row, V* sums,
                            std::index_sequence<kQ...>) {
  constexpr std::size_t kSide = 16 / sizeof(T);
  (GemvAddTurned<kM, kStep>(d, b + kQ * kSide, a + kQ * kSide, a_row, sums, kGemvSeq<kS>), ...);
}

template <std::size_t kM, class D, class T, class V, std::size_t... kS>
HWY_INLINE void GemvAddColumns(D d, const T* columns, const T* a, Index a_row, V* sums,
                               std::index_sequence<kS...>) {
  (GemvColumn(d, a, a_row, hn::Load(d, columns + kS * hn::MaxLanes(d)), sums + kS * kM,
              kGemvSeq<kM>),
   ...);
}

template <std::size_t... kR>
HWY_INLINE void GemvAskRows(std::uintptr_t at, Index step, std::index_sequence<kR...>) {
  (GemvAskLine(at + static_cast<std::uintptr_t>(static_cast<Index>(kR) * step)), ...);
}

/// Some columns of B for one chunk of k.
template <class T>
struct GemvColumnsPart {
  const GemmAcc<T>* a;
  Index a_row, a_col, k;
  const T* b;
  Index b_step, n;
  std::uintptr_t ask;  ///< what will be read soon; 0: nothing
};

/// Elements of each column that are copied at once.
template <class T>
constexpr Index kGemvCopied = kGemvPiece * kGemvLine / Index{sizeof(GemmAcc<T>)};

template <class D, class T, class V, std::size_t... kI>
HWY_INLINE void GemvLoadWide(D d, const T* HWY_RESTRICT b, V* v, std::index_sequence<kI...>) {
  ((v[kI] = Lanes<T>::Load(d, b + kI * hn::MaxLanes(d))), ...);
}

/// Copies a piece of each of kWidth columns, widened; the last of n columns is repeated. All loads
/// of a column come before its stores, since those 4096 bytes apart wait for each other.
template <std::size_t kWidth, class T>
HWY_INLINE void GemvCopyPiece(const T* HWY_RESTRICT b, Index step, Index n,
                              GemmAcc<T>* HWY_RESTRICT to) {
  const typename Lanes<T>::D d;
  constexpr std::size_t kVecs = std::size_t{kGemvCopied<T>} / hn::MaxLanes(d);
  for (Index i = 0; i < Index{kWidth}; ++i, b += i < n ? step : 0, to += kGemvCopied<T>) {
    typename Lanes<T>::V v[kVecs];
    GemvLoadWide(d, b, v, kGemvSeq<kVecs>);
    GemvStore(d, v, to, kGemvSeq<kVecs>);
  }
}
/// The same for the last, fewer products.
template <class T>
HWY_INLINE void GemvCopyRest(const T* HWY_RESTRICT b, Index step, Index n, Index width, Index k,
                             GemmAcc<T>* HWY_RESTRICT to) {
  for (Index i = 0; i < width; ++i, b += i < n ? step : 0)
    for (Index q = 0; q < k; ++q) to[i * kGemvCopied<T> + q] = GemmWiden<GemmAcc<T>>(b[q]);
}

/// kS vectors of columns; sums[square][row of A][lanes]. They are copied a piece at a time: to be
/// widened, because columns a power of two apart share few sets of L1, and because the distances
/// of a copy are constants.
template <std::size_t kM, std::size_t kS, class T>
HWY_NOINLINE void GemvColumnsTile(const GemvColumnsPart<T>& s, GemmAcc<T>* HWY_RESTRICT out) {
  using Acc = GemmAcc<T>;
  const hn::ScalableTag<Acc> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kWidth = kS * hn::MaxLanes(d);
  constexpr Index kLine = kGemvCopied<T>, kOne = kGemvLine / Index{sizeof(Acc)};
  HWY_ALIGN Acc lines[kWidth * std::size_t{kLine}];
  V sums[kM * kS];
  GemvZero(d, sums, kGemvSeq<kM * kS>);
  const Acc* HWY_RESTRICT a = s.a;
  const T* HWY_RESTRICT b = s.b;
  const Index step = s.b_step, a_row = s.a_row;
  const Index bytes = step * Index{sizeof(T)};
  Index p = 0;
  for (; p + kLine <= s.k; p += kLine) {
    GemvCopyPiece<kWidth>(b + p, step, s.n, lines);
    for (Index q = 0; q < kLine; q += kOne) {
      const Index at = (p + q) * Index{sizeof(T)};
      if (s.ask != 0 && at % kGemvLine == 0)
        GemvAskRows(s.ask + static_cast<std::uintptr_t>(at), bytes, kGemvSeq<kWidth>);
      GemvAddLine<kM, kS, kLine>(d, lines + q, a + p + q, a_row, sums, kGemvSeq<4>);
    }
  }
  if (p < s.k) {
    HWY_ALIGN Acc rest[kWidth * std::size_t{kLine}];
    HWY_ALIGN Acc column[kWidth];
    GemvCopyRest(b + p, step, s.n, Index{kWidth}, s.k - p, rest);
    for (std::size_t q = 0; p < s.k; ++p, ++q) {
      for (std::size_t i = 0; i < kWidth; ++i) column[i] = rest[i * std::size_t{kLine} + q];
      GemvAddColumns<kM>(d, column, a + p, a_row, sums, kGemvSeq<kS>);
    }
  }
  GemvStore(d, sums, out, kGemvSeq<kM * kS>);
}

/// What is read a while after product p of the columns from b on: further on in them, or the start
/// of the next ones.
template <class T>
HWY_INLINE std::uintptr_t GemvNext(const GemvBlock<T>& g, const T* b, Index p, Index width) {
  const Index ahead = (width > 16 ? kGemvAhead32 : kGemvAhead16) / Index{sizeof(T)};
  return GemvAddress(b,
                     p + ahead < g.k ? p + ahead : width * g.b_step + std::min(p, p + ahead - g.k));
}

/// kS squares of columns side by side where one row of A would wait for the latency of its sums.
template <std::size_t kM, std::size_t kS, class T>
HWY_INLINE void GemvColumnsOf(const GemvBlock<T>& g, Index begin, Index end) {
  using Acc = GemmAcc<T>;
  constexpr Index kLanes = Index{hn::MaxLanes(hn::ScalableTag<Acc>())};
  constexpr Index kWidth = Index{kS} * kLanes;
  HWY_ALIGN Acc sums[kM * std::size_t{kWidth}];
  GemvColumnsPart<T> s{};
  s.a_row = g.a_row;
  s.b_step = g.b_step;
  for (Index j = begin; j < end; j += kWidth) {
    s.n = std::min(kWidth, end - j);
    const T* b = g.b + j * g.b_step;
    for (Index c = 0, p = 0; p < g.k; ++c, p += g.chunk) {
      s.k = std::min(g.chunk, g.k - p);
      s.a = g.a + p;
      s.b = b + p;
      if (g.far) s.ask = GemvNext(g, b, p, kWidth);
      GemvColumnsTile<kM, kS>(s, sums);
      const Acc* from = sums;
      for (Index q = 0; q < s.n; q += kLanes)
        for (Index r = 0; r < Index{kM}; ++r, from += kLanes)
          GemvFlush(from, std::min(kLanes, s.n - q), GemvAdds(g, c),
                    GemvSums(g, c) + r * g.sum_row + j + q);
    }
  }
}

template <std::size_t kM, class T>
HWY_INLINE void GemvColumnsOf(const GemvBlock<T>& g) {
  constexpr std::size_t kS = kM <= 2 || !kGemvManyRegisters ? 2 : 1;
  constexpr Index kLanes = Index{hn::MaxLanes(hn::ScalableTag<GemmAcc<T>>())};
  const Index whole = g.n / (Index{kS} * kLanes) * (Index{kS} * kLanes);
  GemvColumnsOf<kM, kS>(g, 0, whole);
  GemvColumnsOf<kM, 1>(g, whole, g.n);
}

template <class T>
void GemvColumns(const GemvBlock<T>& g) {
  switch (g.m) {
    case 1: return GemvColumnsOf<1>(g);
    case 2: return GemvColumnsOf<2>(g);
    case 3: return GemvColumnsOf<3>(g);
    default: return GemvColumnsOf<4>(g);
  }
}

// More rows of A than transposing pays for: lanes run along them, and the elements of B are
// broadcast.

template <std::size_t kV, Index kStep, class D, class T, class V, std::size_t... kJ>
HWY_INLINE void GemvAcrossStep(D d, const T* HWY_RESTRICT b, const V* a, V* c,
                               std::index_sequence<kJ...>) {
  (GemvRow(hn::Set(d, b[static_cast<Index>(kJ) * kStep]), a, c + kJ * kV, kGemvSeq<kV>), ...);
}

/// out[j][rows of A] = sums of one chunk for kJ columns.
template <std::size_t kJ, std::size_t kV, class T>
HWY_NOINLINE void GemvAcrossTile(const GemvColumnsPart<T>& s, GemmAcc<T>* HWY_RESTRICT out) {
  using Acc = GemmAcc<T>;
  const hn::ScalableTag<Acc> d;
  using V = hn::Vec<decltype(d)>;
  constexpr Index kLine = kGemvCopied<T>;
  HWY_ALIGN Acc lines[kJ * std::size_t{kLine}];
  V c[kJ * kV];
  GemvZero(d, c, kGemvSeq<kJ * kV>);
  const Acc* HWY_RESTRICT a = s.a;
  const Index a_col = s.a_col, bytes = s.b_step * Index{sizeof(T)};
  const Index one = kGemvLine / Index{sizeof(T)};
  for (Index p = 0; p < s.k; p += kLine) {
    const Index k = std::min(kLine, s.k - p);
    if (k == kLine) {
      GemvCopyPiece<kJ>(s.b + p, s.b_step, s.n, lines);
    } else {
      GemvCopyRest(s.b + p, s.b_step, s.n, Index{kJ}, k, lines);
    }
    for (Index q0 = 0; q0 < k; q0 += one) {
      std::uintptr_t ask = s.ask + static_cast<std::uintptr_t>((p + q0) * Index{sizeof(T)});
      const Index end = std::min(k, q0 + one);
      for (Index q = q0; q < end; ++q, a += a_col) {
        V v[kV];
        GemvLoad(d, a, v, kGemvSeq<kV>);
        GemvAcrossStep<kV, kLine>(d, lines + q, v, c, kGemvSeq<kJ>);
        if (s.ask != 0 && q - q0 < Index{kJ}) GemvAskLine(ask);
        ask += static_cast<std::uintptr_t>(bytes);
      }
    }
  }
  GemvStore(d, c, out, kGemvSeq<kJ * kV>);
}

template <std::size_t kV, class T>
HWY_INLINE void GemvAcrossOf(const GemvBlock<T>& g) {
  using Acc = GemmAcc<T>;
  const hn::ScalableTag<Acc> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kJ = std::min<std::size_t>(kLanes, kGemvManyRegisters ? 16 / kV : 8 / kV);
  constexpr Index kWidth = Index{kLanes};
  HWY_ALIGN Acc tile[kLanes * kV * kLanes] = {};
  HWY_ALIGN Acc turned[kLanes * kLanes];
  GemvColumnsPart<T> s{};
  s.a_col = g.a_col;
  s.b_step = g.b_step;
  for (Index j = 0; j < g.n; j += kWidth) {
    const Index n = std::min(kWidth, g.n - j);
    for (Index c = 0, p = 0; p < g.k; ++c, p += g.chunk) {
      s.k = std::min(g.chunk, g.k - p);
      s.a = g.a + p * g.a_col;
      for (Index i = 0; i < n; i += Index{kJ}) {
        const T* b = g.b + (j + i) * g.b_step;
        s.n = n - i;
        s.b = b + p;
        if (g.far) s.ask = GemvNext(g, b, p, Index{kJ});
        GemvAcrossTile<kJ, kV>(s, tile + i * Index{kV * kLanes});
      }
      for (std::size_t v = 0; v < kV; ++v) {
        TransposeSquare(d, tile + v * kLanes, Index{kV * kLanes}, Index{kLanes}, Index{kLanes},
                        turned);
        const auto first = static_cast<Index>(v * kLanes);
        for (Index r = first; r < std::min(g.m, first + Index{kLanes}); ++r)
          GemvFlush(turned + (r - first) * Index{kLanes}, n, GemvAdds(g, c),
                    GemvSums(g, c) + r * g.sum_row + j);
      }
    }
  }
}

template <class T>
void GemvAcross(const GemvBlock<T>& g) {
  const auto lanes = static_cast<Index>(hn::Lanes(hn::ScalableTag<GemmAcc<T>>()));
  if (g.m <= lanes) {
    GemvAcrossOf<1>(g);
  } else {
    GemvAcrossOf<2>(g);
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

template <class T>
void GemvCopy(const T* from, Index step, Index n, GemmAcc<T>* to) {
  if (step == 1) return GemvWiden(from, n, to);
  for (Index i = 0; i < n; ++i) to[i] = GemmWiden<GemmAcc<T>>(from[i * step]);
}

template <class T>
Gemv<T> GemvTable() {
  return {static_cast<Index>(hn::Lanes(hn::ScalableTag<GemmAcc<T>>())),
          &GemvRows<T>,
          &GemvColumns<T>,
          &GemvAcross<T>,
          &GemvSide<T>,
          &GemvCopy<T>};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
