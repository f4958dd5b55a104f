// SPDX-License-Identifier: Apache-2.0
// Matrix-vector products where the columns of B are contiguous.

#if defined(WICK_KERNELS_GEMV_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_GEMV_COLUMNS_INL_H_
#undef WICK_KERNELS_GEMV_COLUMNS_INL_H_
#else
#define WICK_KERNELS_GEMV_COLUMNS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "wick/kernels/gemm_transpose-inl.h"
#include "wick/kernels/gemv_vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

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
    const V rows[] = {GemvBlocks<kStep>(d, b), GemvBlocks<kStep>(d, b + kStep)};
    TransposeInBlocks(d, rows, out);
  } else {
    const V rows[] = {GemvBlocks<kStep>(d, b), GemvBlocks<kStep>(d, b + kStep),
                      GemvBlocks<kStep>(d, b + 2 * kStep), GemvBlocks<kStep>(d, b + 3 * kStep)};
    TransposeInBlocks(d, rows, out);
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
  ((v[kI] = GemvLoadLanes(d, b + kI * hn::MaxLanes(d))), ...);
}

/// Copies a piece of each of kWidth columns, widened; the last of n columns is repeated. All loads
/// of a column come before its stores, since those 4096 bytes apart wait for each other.
template <std::size_t kWidth, class T>
HWY_NOINLINE void GemvCopyPiece(const T* HWY_RESTRICT b, Index step, Index n,
                                GemmAcc<T>* HWY_RESTRICT to) {
  const typename Lanes<T>::D d;
  constexpr std::size_t kVecs = std::size_t{kGemvCopied<T>} / hn::MaxLanes(d);
  for (Index i = 0; i < Index{kWidth}; ++i, b += i < n ? step : 0, to += kGemvCopied<T>) {
    typename Lanes<T>::V v[kVecs];
    GemvLoadWide(d, b, v, kGemvSeq<kVecs>);
    GemvStore(d, v, to, kGemvSeq<kVecs>);
  }
}
/// The same for the last k, fewer than a piece.
template <class T>
HWY_NOINLINE void GemvCopyRest(const T* HWY_RESTRICT b, Index step, Index n, Index width, Index k,
                               GemmAcc<T>* HWY_RESTRICT to) {
  for (Index i = 0; i < width; ++i, b += i < n ? step : 0, to += kGemvCopied<T>)
    GemvWiden(b, k, to);
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
  if (const Index rest = s.k - p; rest > 0) {
    constexpr Index kSide = 16 / Index{sizeof(Acc)};
    HWY_ALIGN Acc column[kWidth];
    GemvCopyRest(b + p, step, s.n, Index{kWidth}, rest, lines);
    Index q = 0;
    for (; q + kSide <= rest; q += kSide)
      GemvAddTurned<kM, kLine>(d, lines + q, a + p + q, a_row, sums, kGemvSeq<kS>);
    for (; q < rest; ++q) {
      for (std::size_t i = 0; i < kWidth; ++i) column[i] = lines[static_cast<Index>(i) * kLine + q];
      GemvAddColumns<kM>(d, column, a + p + q, a_row, sums, kGemvSeq<kS>);
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
