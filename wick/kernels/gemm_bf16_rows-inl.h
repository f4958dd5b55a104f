// SPDX-License-Identifier: Apache-2.0
// A few rows of bf16 times a matrix that is read once: the loops, which the units share.

#if defined(WICK_KERNELS_GEMM_BF16_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_GEMM_BF16_ROWS_INL_H_
#undef WICK_KERNELS_GEMM_BF16_ROWS_INL_H_
#else
#define WICK_KERNELS_GEMM_BF16_ROWS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/highway.h"
#include "wick/kernels/gemm_bf16.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

constexpr Index kRowsDepth = 32;  // rows of B in a block

/// 32 columns of a block of B, and its pairs of each row of A.
struct RowsPlace {
  const bf16* b;
  Index b_row, depth;  // depth: rows that are there
  __mmask32 columns;
  const std::uint32_t* a;  // [row][kRowsDepth / 2]
  f32* sum;
  Index sum_row;
};

template <class Unit, std::size_t... kR>
HWY_INLINE void RowsAdd(const std::uint32_t* a, const __m512i* b, __m512* sums,
                        std::index_sequence<kR...>) {
  (Unit::Add(_mm512_set1_epi32(static_cast<int>(a[kR * (kRowsDepth / 2)])), b,
             sums + kR * Unit::kSums),
   ...);
}

template <class Unit, std::size_t... kR>
HWY_INLINE void RowsStart(const RowsPlace& g, __m512* sums, std::index_sequence<kR...>) {
  (Unit::Start(g.sum + static_cast<Index>(kR) * g.sum_row, sums + kR * Unit::kSums), ...);
}

template <class Unit, std::size_t... kR>
HWY_INLINE void RowsStop(const RowsPlace& g, const __m512* sums, std::index_sequence<kR...>) {
  (Unit::Stop(sums + kR * Unit::kSums, g.sum + static_cast<Index>(kR) * g.sum_row), ...);
}

template <class Unit, std::size_t kM>
HWY_NOINLINE void RowsTileOf(const RowsPlace& g) {
  constexpr std::make_index_sequence<kM> rows{};
  constexpr Index kAhead = 512;  // elements
  __m512 sums[kM * Unit::kSums];
  RowsStart<Unit>(g, sums, rows);
  const bf16* b = g.b;
  for (Index q = 0; q < kRowsDepth / 2; ++q, b += 2 * g.b_row) {
    __m512i even = _mm512_setzero_si512(), odd = even, columns[4];
    if (2 * q < g.depth) {
      even = _mm512_maskz_loadu_epi16(g.columns, b);
      __builtin_prefetch(b + kAhead, 0, 2);
    }
    if (2 * q + 1 < g.depth) {
      odd = _mm512_maskz_loadu_epi16(g.columns, b + g.b_row);
      __builtin_prefetch(b + g.b_row + kAhead, 0, 2);
    }
    if (Unit::kChunk != 0 && 2 * q >= g.depth) break;
    Unit::Read(even, odd, columns);
    RowsAdd<Unit>(g.a + q, columns, sums, rows);
  }
  RowsStop<Unit>(g, sums, rows);
}

/// Columns back to their places.
template <class Unit>
HWY_INLINE void RowsSort(f32* sum, Index n) {
  constexpr auto kPlaces = [] {
    std::array<int, 32> places{};
    for (int c = 0; c < 32; ++c) places[static_cast<std::size_t>(c)] = Unit::Place(c);
    return places;
  }();
  const __m512i low = _mm512_loadu_si512(kPlaces.data());
  const __m512i high = _mm512_loadu_si512(kPlaces.data() + 16);
  for (Index j = 0; j < n; j += 32, sum += 32) {
    const __m512 x = _mm512_loadu_ps(sum), y = _mm512_loadu_ps(sum + 16);
    _mm512_storeu_ps(sum, _mm512_permutex2var_ps(x, low, y));
    _mm512_storeu_ps(sum + 16, _mm512_permutex2var_ps(x, high, y));
  }
}

template <class Unit>
HWY_NOINLINE void RowsBlocks(const Bf16Rows& g) {
  static constexpr void (*kTiles[])(const RowsPlace&) = {RowsTileOf<Unit, 1>, RowsTileOf<Unit, 2>,
                                                         RowsTileOf<Unit, 3>, RowsTileOf<Unit, 4>};
  HWY_ALIGN std::uint32_t pairs[Bf16Rows::kMost * kRowsDepth / 2];
  RowsPlace place{};
  place.b_row = g.b_row;
  place.sum_row = g.sum_row;
  f32* const to = Unit::kChunk == 0 ? g.sum : g.chunk;
  std::fill_n(to, g.m * g.sum_row, 0.0F);
  for (Index p = 0; p < g.k; p += kRowsDepth) {
    place.depth = std::min(kRowsDepth, g.k - p);
    std::fill_n(pairs, Bf16Rows::kMost * kRowsDepth / 2, 0U);
    for (Index r = 0; r < g.m; ++r)
      for (Index q = 0; q < place.depth; ++q)
        pairs[(r * kRowsDepth + q) / 2] |= std::uint32_t{g.a[r * g.a_row + (p + q) * g.a_col].bits}
                                           << (q % 2 * 16);
    for (Index j = 0; j < g.n; j += Bf16Rows::kWidth) {
      place.b = g.b + p * g.b_row + j;
      const Index left = g.n - j;
      place.columns = left >= 32 ? ~__mmask32{0} : (__mmask32{1} << left) - 1;
      for (Index r = 0; r < g.m; r += 4) {
        place.a = pairs + r * kRowsDepth / 2;
        place.sum = to + r * g.sum_row + j;
        kTiles[std::min(g.m - r, Index{4}) - 1](place);
      }
    }
    if constexpr (Unit::kChunk != 0) {
      const bool last = p + kRowsDepth >= g.k;
      if (!last && (p + kRowsDepth) % Unit::kChunk != 0) continue;
      for (Index i = 0; i < g.m * g.sum_row; ++i) {
        g.sum[i] = p < Unit::kChunk ? to[i] : g.sum[i] + to[i];
        to[i] = 0;
      }
    }
  }
  for (Index r = 0; r < g.m; ++r) RowsSort<Unit>(g.sum + r * g.sum_row, g.n);
}

/// Bf16RowsFn.
template <class Unit>
void RowsRun(const Bf16Rows& g) {
  if constexpr (Unit::kFlush) {
    // Rounding to nearest, subnormals read and written as zero, nothing trapped.
    const unsigned before = _mm_getcsr();
    _mm_setcsr(0x9FC0);
    RowsBlocks<Unit>(g);
    _mm_setcsr(before);
  } else {
    RowsBlocks<Unit>(g);
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
