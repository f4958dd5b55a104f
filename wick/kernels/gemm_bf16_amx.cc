// SPDX-License-Identifier: Apache-2.0
// bf16 by the tile unit (AMX): tdpbf16ps multiplies 16 rows of 16 pairs with 16 pairs of 16
// columns.
#include <algorithm>
#include <array>
#include <cstring>

#include "wick/kernels/gemm_bf16.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_bf16_amx.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#if HWY_TARGET == HWY_AVX3

// As in gemm_bf16_dot.cc: AVX3 under another name, with what the compiler must know.
namespace hwy::N_AVX3_AMX {
using namespace hwy::N_AVX3;  // NOLINT
}
#undef HWY_NAMESPACE
#define HWY_NAMESPACE N_AVX3_AMX
#undef HWY_TARGET_STR
#define HWY_TARGET_STR HWY_TARGET_STR_AVX3 ",amx-tile,amx-bf16"

#endif

#include "wick/kernels/gemm_bf16_rows-inl.h"
#include "wick/kernels/gemm_pack-inl.h"
#include "wick/kernels/gemm_pairs-inl.h"

#if HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr Index kSide = 16;          // rows of a tile, and 32-bit places in each
constexpr Index kRows = 2 * kSide;   // of a strip of A
constexpr Index kWidth = 2 * kSide;  // columns of a panel of B
constexpr Index kPlace = 4;          // bytes
constexpr Index kChunk = 2048;       // of k: how far a strip is multiplied before C is stored

/// What ldtilecfg reads. Tiles 0 to 3 are C (two by two), 4 and 5 A, 6 and 7 B.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
};

/// For strips of 1 to kRows rows: no row beyond them is read or written.
constexpr std::array<TileShapes, kRows> kShapes = [] {
  std::array<TileShapes, kRows> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto height = static_cast<std::uint8_t>(i + 1);
    const auto upper = std::min(height, std::uint8_t{kSide});
    const auto lower = static_cast<std::uint8_t>(height - upper);
    const std::uint8_t rows[8] = {upper, upper, lower, lower, upper, lower, kSide, kSide};
    for (std::size_t t = 0; t < 8; ++t) {
      // Tiles of no rows are given one: they are not used.
      all[i].rows[t] = std::max(rows[t], std::uint8_t{1});
      all[i].bytes[t] = kSide * kPlace;
    }
  }
  return all;
}();

// The compiler does not know that tile loads read memory.
HWY_INLINE void Fence() { asm volatile("" : : : "memory"); }

/// C's tiles += A·B over `steps` steps of k. Rows of A are a_row bytes apart; `ahead`: they come
/// from far away.
template <bool kTall, bool kWide>
HWY_INLINE void Multiply(const char* a, Index a_row, const char* b, Index steps, bool ahead) {
  constexpr Index kAhead = 512;             // bytes
  constexpr Index kStep = kWidth * kPlace;  // bytes of a step of B
  for (Index p = 0; p < steps; p += kSide, a += kSide * kPlace, b += kSide * kStep) {
    if (ahead) {
      for (Index r = 0; r < (kTall ? kRows : kSide); ++r)
        __builtin_prefetch(a + r * a_row + kAhead, 0, 2);
    }
    _tile_loadd(6, b, kStep);
    _tile_loadd(4, a, a_row);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kWide) {
      _tile_loadd(7, b + kSide * kPlace, kStep);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kTall) {
      _tile_loadd(5, a + kSide * a_row, a_row);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (kWide) _tile_dpbf16ps(3, 5, 7);
    }
  }
}

/// C's tiles from sums whose rows are `row` floats apart.
template <bool kTall, bool kWide>
HWY_INLINE void Load(const f32* from, Index row) {
  const Index bytes = row * kPlace;
  _tile_loadd(0, from, bytes);
  if constexpr (kWide) _tile_loadd(1, from + kSide, bytes);
  if constexpr (kTall) _tile_loadd(2, from + kSide * row, bytes);
  if constexpr (kTall && kWide) _tile_loadd(3, from + kSide * row + kSide, bytes);
}

template <bool kTall, bool kWide>
HWY_INLINE void Store(f32* to, Index row) {
  const Index bytes = row * kPlace;
  _tile_stored(0, to, bytes);
  if constexpr (kWide) _tile_stored(1, to + kSide, bytes);
  if constexpr (kTall) _tile_stored(2, to + kSide * row, bytes);
  if constexpr (kTall && kWide) _tile_stored(3, to + kSide * row + kSide, bytes);
}

/// What one tile of C needs.
struct Place {
  const char *a, *b;
  Index a_row;  // bytes
  Index i, j, height;
  bool ahead;
};

template <bool kTall, bool kWide>
void Tile(const GemmBlock<f32>& g, const Place& at) {
  const Index n = std::min(kWidth, g.n - at.j);
  f32* sum = g.sum == nullptr ? nullptr : g.sum + at.i * g.sum_row + at.j;
  const bool whole = n == (kWide ? kWidth : kSide);
  HWY_ALIGN f32 tile[kRows * kWidth];
  if (!g.add) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else if (whole) {
    Load<kTall, kWide>(sum, g.sum_row);
  } else {
    for (Index r = 0; r < at.height; ++r) {
      std::copy_n(sum + r * g.sum_row, n, tile + r * kWidth);
      std::fill_n(tile + r * kWidth + n, kWidth - n, 0.0F);
    }
    Fence();
    Load<kTall, kWide>(tile, kWidth);
  }
  Multiply<kTall, kWide>(at.a, at.a_row, at.b, g.k, at.ahead);
  if (whole && g.finish == nullptr) return Store<kTall, kWide>(sum, g.sum_row);
  Store<kTall, kWide>(tile, kWidth);
  if (g.finish != nullptr) {
    g.finish->apply(*g.finish, tile, kWidth, at.i, at.j, at.height, n);
  } else {
    for (Index r = 0; r < at.height; ++r) std::copy_n(tile + r * kWidth, n, sum + r * g.sum_row);
  }
}

void Block(const GemmBlock<f32>& g) {
  using Fn = void (*)(const GemmBlock<f32>&, const Place&);
  static constexpr Fn kTiles[] = {Tile<false, false>, Tile<false, true>, Tile<true, false>,
                                  Tile<true, true>};
  const GemmStrips strips(g.m, g.strip, kSide);
  Place at{};
  at.a_row =
      g.a_form == GemmForm::panels ? g.k * kPlace : g.a_row * static_cast<Index>(sizeof(bf16));
  at.a = reinterpret_cast<const char*>(g.a);
  at.ahead = g.a_form == GemmForm::strides && g.n <= kWidth;
  Fence();
  for (Index s = 0; s < strips.count; ++s) {
    const Index height = strips.height(s);
    // Shapes are set anew only where they change; tiles hold nothing then.
    if (height != at.height) _tile_loadconfig(&kShapes[static_cast<std::size_t>(height - 1)]);
    at.height = height;
    at.b = reinterpret_cast<const char*>(g.b);
    for (at.j = 0; at.j < g.n; at.j += kWidth, at.b += g.b_panel * kPlace)
      kTiles[(height > kSide ? 2 : 0) + (g.n - at.j > kSide ? 1 : 0)](g, at);
    at.i += height;
    at.a += height * at.a_row;
  }
  // A thread whose tiles are empty is cheaper to switch.
  _tile_release();
}

/// A panel of B: pairs, with rows of zeros at the end.
void PackB(const bf16* src, Index lane, Index step, Index lanes, Index width, Index k, f32* out) {
  GemmPackPairs(src, lane, step, lanes, width, k, out);
  const Index pairs = ceil_div(k, Index{2});
  std::fill_n(out + pairs * width, (round_up(pairs, kSide) - pairs) * width, 0.0F);
}

/// A strip of A: row after row, each with zeros at the end.
void PackA(const bf16* src, Index lane, Index step, Index lanes, Index, Index k, f32* out) {
  const Index steps = round_up(ceil_div(k, Index{2}), kSide);
  if (step == 1) {
    for (Index i = 0; i < lanes; ++i) {
      auto* to = reinterpret_cast<bf16*>(out + i * steps);
      std::copy_n(src + i * lane, k, to);
      std::fill_n(to + k, 2 * steps - k, bf16{});
    }
    return;
  }
  // Pairs side by side as in a panel of B, then squares change places.
  const hn::ScalableTag<std::uint32_t> d;
  HWY_ALIGN f32 panel[kSide * kRows];
  HWY_ALIGN std::uint32_t square[kSide * kSide];
  for (Index q = 0; q < steps; q += kSide) {
    const Index some = std::min(2 * kSide, k - 2 * q);
    PackB(src + 2 * q * step, lane, step, lanes, kRows, some, panel);
    for (Index i = 0; i < lanes; i += kSide) {
      TransposeSquare(d, reinterpret_cast<const std::uint32_t*>(panel) + i, kRows, kSide, kSide,
                      square);
      for (Index r = 0; r < std::min(kSide, lanes - i); ++r)
        std::memcpy(out + (i + r) * steps + q, square + r * kSide, kSide * kPlace);
    }
  }
}

constexpr Index kDeep = 2;  // blocks of 2 * kSide rows of B between loading and storing sums

/// kDeep blocks of rows of B for kWidth columns, as the tile unit wants them; what is not there is
/// 0.
HWY_INLINE void Interleave(const bf16* b, Index b_row, Index depth, __mmask32 columns,
                           std::uint32_t* panel) {
  constexpr Index kAhead = 512;  // elements
  alignas(64) static constexpr auto kOrder = [] {
    std::array<std::uint16_t, 64> order{};
    for (std::size_t i = 0; i < 32; ++i) {
      order[2 * i] = static_cast<std::uint16_t>(i);
      order[2 * i + 1] = static_cast<std::uint16_t>(32 + i);
    }
    return order;
  }();
  const __m512i lower = _mm512_load_si512(kOrder.data());
  const __m512i upper = _mm512_load_si512(kOrder.data() + 32);
  for (Index q = 0; q < kDeep * kSide; ++q, b += 2 * b_row, panel += kWidth) {
    __m512i even = _mm512_setzero_si512(), odd = even;
    if (2 * q < depth) {
      even = _mm512_maskz_loadu_epi16(columns, b);
      __builtin_prefetch(b + kAhead, 0, 2);
    }
    if (2 * q + 1 < depth) {
      odd = _mm512_maskz_loadu_epi16(columns, b + b_row);
      __builtin_prefetch(b + b_row + kAhead, 0, 2);
    }
    _mm512_store_si512(panel, _mm512_permutex2var_epi16(even, lower, odd));
    _mm512_store_si512(panel + kSide, _mm512_permutex2var_epi16(even, upper, odd));
  }
}

/// Bf16RowsFn by the tile unit itself: pays from a few rows on.
void RowsTiles(const Bf16Rows& g) {
  constexpr Index kRowsOfB = kDeep * 2 * kSide;
  HWY_ALIGN std::uint32_t pairs[kDeep * kSide * kSide];  // [block][row][pair]
  HWY_ALIGN std::uint32_t panel[kDeep * kSide * kWidth];
  _tile_loadconfig(&kShapes[static_cast<std::size_t>(g.m - 1)]);
  std::fill_n(g.sum, g.m * g.sum_row, 0.0F);
  for (Index p = 0; p < g.k; p += kRowsOfB) {
    const Index depth = std::min(kRowsOfB, g.k - p);
    const bool deep = depth > 2 * kSide;
    std::fill_n(pairs, kDeep * kSide * kSide, 0U);
    for (Index r = 0; r < g.m; ++r)
      for (Index q = 0; q < depth; ++q)
        pairs[(q / 2 / kSide * kSide + r) * kSide + q / 2 % kSide] |=
            std::uint32_t{g.a[r * g.a_row + (p + q) * g.a_col].bits} << (q % 2 * 16);
    for (Index j = 0; j < g.n; j += kWidth) {
      const Index left = g.n - j;
      const __mmask32 columns = left >= kWidth ? ~__mmask32{0} : (__mmask32{1} << left) - 1;
      Interleave(g.b + p * g.b_row + j, g.b_row, depth, columns, panel);
      Fence();
      Load<false, true>(g.sum + j, g.sum_row);
      for (Index block = 0; block < (deep ? kDeep : 1); ++block) {
        const std::uint32_t* b = panel + block * kSide * kWidth;
        _tile_loadd(4, pairs + block * kSide * kSide, kSide * kPlace);
        _tile_loadd(6, b, kWidth * kPlace);
        _tile_loadd(7, b + kSide, kWidth * kPlace);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
      }
      Store<false, true>(g.sum + j, g.sum_row);
    }
  }
  _tile_release();
}

/// What the tile unit does, by multiply-adds: 16 pairs, even and odd products apart.
struct RowsTile {
  static constexpr Index kChunk = 0;
  static constexpr bool kFlush = true;
  static constexpr std::size_t kSums = 4;
  static HWY_INLINE void Read(__m512i even, __m512i odd, __m512i* b) {
    const __m512i high = _mm512_set1_epi32(static_cast<int>(0xFFFF0000));
    b[0] = _mm512_slli_epi32(even, 16);
    b[1] = _mm512_and_si512(even, high);
    b[2] = _mm512_slli_epi32(odd, 16);
    b[3] = _mm512_and_si512(odd, high);
  }
  static HWY_INLINE void Add(__m512i a, const __m512i* b, __m512* sums) {
    const __m512 even = _mm512_castsi512_ps(_mm512_slli_epi32(a, 16));
    const __m512 odd =
        _mm512_castsi512_ps(_mm512_and_si512(a, _mm512_set1_epi32(static_cast<int>(0xFFFF0000))));
    sums[0] = _mm512_fmadd_ps(even, _mm512_castsi512_ps(b[0]), sums[0]);
    sums[1] = _mm512_fmadd_ps(even, _mm512_castsi512_ps(b[1]), sums[1]);
    sums[2] = _mm512_fmadd_ps(odd, _mm512_castsi512_ps(b[2]), sums[2]);
    sums[3] = _mm512_fmadd_ps(odd, _mm512_castsi512_ps(b[3]), sums[3]);
  }
  static HWY_INLINE void Start(const f32*, __m512* sums) {
    sums[0] = sums[1] = sums[2] = sums[3] = _mm512_setzero_ps();
  }
  static HWY_INLINE void Stop(const __m512* sums, f32* sum) {
    _mm512_storeu_ps(sum, _mm512_add_ps(_mm512_loadu_ps(sum), _mm512_add_ps(sums[0], sums[2])));
    _mm512_storeu_ps(sum + 16,
                     _mm512_add_ps(_mm512_loadu_ps(sum + 16), _mm512_add_ps(sums[1], sums[3])));
  }
  static constexpr int Place(int c) { return c / 2 + (c % 2 == 0 ? 0 : 16); }
};

void Rows(const Bf16Rows& g) {
  constexpr Index kFew = 2;
  (g.m > kFew ? &RowsTiles : &RowsRun<RowsTile>)(g);
}

Gemm<bf16> Table() {
  Gemm<bf16> table{};
  table.mr = kRows;
  table.nr = kWidth;
  table.chunk = kChunk;
  table.depth = 2;
  table.step_unit = kSide;
  table.strip_unit = kSide;
  table.a_in_place = true;
  table.block = &Block;
  GemmFill(table);
  table.pack = &PackB;
  table.pack_a = &PackA;
  table.pack_rows = nullptr;
  return table;
}

}  // namespace
}  // namespace HWY_NAMESPACE

Gemm<bf16> gemm_bf16_amx() { return HWY_NAMESPACE::Table(); }
Bf16RowsFn bf16_rows_amx() { return &HWY_NAMESPACE::Rows; }

}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE && (HWY_TARGETS & HWY_AVX3) == 0
namespace wick::kernels {
Gemm<bf16> gemm_bf16_amx() { return {}; }
Bf16RowsFn bf16_rows_amx() { return nullptr; }
}  // namespace wick::kernels
#endif
