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
/// Rows of a packed panel of B that are asked for ahead of the one that is multiplied.
inline constexpr Index kRowsAhead = 8;

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

template <class D, class V, class T, std::size_t... kV>
HWY_INLINE void GemmKeep(D d, const V* b, T* HWY_RESTRICT p, std::index_sequence<kV...>) {
  (hn::StoreU(b[kV], d, p + kV * hn::Lanes(d)), ...);
}

/// Asks for a panel's row of B.
template <class D, class T, std::size_t... kV>
HWY_INLINE void GemmAskRow(D d, const T* p, std::index_sequence<kV...>) {
  (__builtin_prefetch(p + kV * hn::Lanes(d)), ...);
}

/// The same pointer, of which the compiler knows nothing.
template <class T>
HWY_INLINE T* GemmHide(T* p) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  asm("" : "+r"(p));  // NOLINT(hicpp-no-assembler): no instruction
#endif
  return p;
}

/// A strip of A as a tile reads it: two steps of k, then on to the next two. Rows that lie anywhere
/// are reached from a pointer for each four of them, which is hidden from the compiler's sight: GCC
/// makes one pointer and a dozen distances of them, for which there are no registers.
template <GemmForm kForm, std::size_t kRows, class T>
class GemmStripOfA {
 public:
  /// `step`: from p to p + 1 in the form of panels.
  HWY_INLINE GemmStripOfA(const T* a, Index /*row*/, Index step) : a_(a), step_(step) {}
  template <std::size_t kRow>
  HWY_INLINE T First() const {
    return a_[kForm == GemmForm::rows ? Index{kRow} * kGemmRow<T> : Index{kRow}];
  }
  template <std::size_t kRow>
  HWY_INLINE T Second() const {
    return kForm == GemmForm::rows ? a_[Index{kRow} * kGemmRow<T> + 1] : (a_ + step_)[Index{kRow}];
  }
  HWY_INLINE void Next() { a_ += 2 * (kForm == GemmForm::rows ? 1 : step_); }

 private:
  const T* a_;
  Index step_;
};

template <std::size_t kRows, class T>
class GemmStripOfA<GemmForm::strides, kRows, T> {
 public:
  HWY_INLINE GemmStripOfA(const T* a, Index row, Index /*step*/) : row_(row), row3_(3 * row) {
    Start(a, std::make_index_sequence<kFours>());
  }
  template <std::size_t kRow>
  HWY_INLINE T First() const {
    return *Row<kRow>();
  }
  template <std::size_t kRow>
  HWY_INLINE T Second() const {
    return Row<kRow>()[1];
  }
  HWY_INLINE void Next() { Next(std::make_index_sequence<kFours>()); }

 private:
  static constexpr std::size_t kFours = (kRows + 3) / 4;
  template <std::size_t kRow>
  HWY_INLINE const T* Row() const {
    constexpr auto kIn = static_cast<Index>(kRow % 4);
    return fours_[kRow / 4] + (kIn == 3 ? row3_ : kIn * row_);
  }
  template <std::size_t... kF>
  HWY_INLINE void Start(const T* a, std::index_sequence<kF...>) {
    ((fours_[kF] = a + static_cast<Index>(4 * kF) * row_), ...);
  }
  template <std::size_t... kF>
  HWY_INLINE void Next(std::index_sequence<kF...>) {
    ((fours_[kF] = GemmHide(fours_[kF] + 2)), ...);
  }
  const T* fours_[kFours];
  Index row_, row3_;
};

/// c += a[rows] * b[vectors] for the first or the second of two steps of k.
template <class Add, std::size_t kVecs, bool kSecond, class D, class V, class A, std::size_t... kR>
HWY_INLINE void GemmStep(D d, const A& a, const V* b, V* c, std::index_sequence<kR...>) {
  if constexpr (kSecond) {
    (GemmRow<Add>(hn::Set(d, a.template Second<kR>()), b, c + kR * kVecs,
                  std::make_index_sequence<kVecs>()),
     ...);
  } else {
    (GemmRow<Add>(hn::Set(d, a.template First<kR>()), b, c + kR * kVecs,
                  std::make_index_sequence<kVecs>()),
     ...);
  }
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
  if constexpr (HWY_TARGET <= HWY_AVX2) {  // masks in hardware
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    for (Index j = 0; j < n; j += lanes) {
      const auto mask = hn::FirstN(d, static_cast<std::size_t>(n - j));
      for (std::size_t r = 0; r < kRows; ++r) {
        const auto at = static_cast<Index>(r);
        auto v = hn::Load(d, tile + at * tile_row + j);
        if (add) v = hn::Add(hn::MaskedLoad(mask, d, to + at * row + j), v);
        hn::BlendedStore(v, mask, d, to + at * row + j);
      }
    }
  } else {
    for (std::size_t r = 0; r < kRows; ++r, tile += tile_row, to += row)
      for (Index j = 0; j < n; ++j) to[j] = add ? to[j] + tile[j] : tile[j];
  }
}

/// tile = sums + tile.
template <std::size_t kRows, class T>
HWY_NOINLINE void GemmAddSums(const T* HWY_RESTRICT sum, Index row, Index n, T* HWY_RESTRICT tile,
                              Index tile_row) {
  for (std::size_t r = 0; r < kRows; ++r, sum += row, tile += tile_row)
    for (Index j = 0; j < n; ++j) tile[j] = sum[j] + tile[j];
}

/// The rows of sums that a tile will add or write to, as memory to be asked for. (Asking for the
/// rows that `finish` writes did not pay.)
struct GemmSumRows {
  std::uintptr_t first;
  Index row, last;  ///< bytes from row to row, and to the last byte of one

  template <class T>
  HWY_INLINE GemmSumRows(const GemmBlock<T>& g, Index i, Index j, Index n, const T* idle)
      : first(reinterpret_cast<std::uintptr_t>(idle)), row(0), last(0) {
    constexpr Index kSize = sizeof(T);
    if (g.sum != nullptr && (g.add || g.finish == nullptr)) {
      first = reinterpret_cast<std::uintptr_t>(g.sum + i * g.sum_row + j);
      row = g.sum_row * kSize;
      last = n * kSize - 1;
    }
  }

  /// Two lines of 64 bytes and the last, since a row may begin inside a line.
  HWY_INLINE void Ask(Index r) const {
    const std::uintptr_t at = first + static_cast<std::uintptr_t>(r * row);
    __builtin_prefetch(reinterpret_cast<const void*>(at), 1, 3);
    __builtin_prefetch(reinterpret_cast<const void*>(at + 64), 1, 3);
    __builtin_prefetch(reinterpret_cast<const void*>(at + static_cast<std::uintptr_t>(last)), 1, 3);
  }
};

/// What tiles ask for while they multiply, beside their own rows of sums.
struct GemmAsks {
  Index b_ahead;      ///< that much further in B
  std::uintptr_t at;  ///< a line there, with every two steps of k `step` bytes further
  Index step;
};

/// Deals what a block has to ask for out to its tiles.
class GemmDealer {
 public:
  GemmDealer(const GemmAhead& ahead, Index tiles, Index k, const void* idle) : left_(ahead) {
    asks_.at = reinterpret_cast<std::uintptr_t>(idle);
    if (left_.pieces == 0) return;
    share_ = std::min(ceil_div(left_.pieces * left_.bytes, tiles), left_.bytes);
    at_once_ = std::max(left_.pieces / tiles - 1, Index{0});
    asks_.at = reinterpret_cast<std::uintptr_t>(left_.data);
    asks_.step = std::min(ceil_div(share_, std::max(k / 2, Index{1})), Index{64});
  }

  /// The part of the next tile.
  GemmAsks Next(Index b_ahead) {
    GemmAsks asks = asks_;
    asks.b_ahead = b_ahead;
    if (left_.pieces > 0) Advance(asks);
    return asks;
  }

 private:
  HWY_NOINLINE void Advance(GemmAsks& asks) {
    // Where a tile has several pieces it asks for all but the last at once.
    for (Index i = 0; i < at_once_ && left_.pieces > 1; ++i) {
      for (Index line = 0; line < left_.bytes; line += 64)
        __builtin_prefetch(
            reinterpret_cast<const void*>(asks_.at + static_cast<std::uintptr_t>(line)), 0, 2);
      NextPiece();
    }
    asks.at = asks_.at;
    offset_ += share_;
    asks_.at += static_cast<std::uintptr_t>(share_);
    if (offset_ >= left_.bytes) NextPiece();
    if (left_.pieces == 0) asks_.step = 0;
  }

  void NextPiece() {
    --left_.pieces;
    piece_ += left_.step;
    asks_.at = reinterpret_cast<std::uintptr_t>(left_.data) + static_cast<std::uintptr_t>(piece_);
    offset_ = 0;
  }

  GemmAhead left_;
  GemmAsks asks_{};
  Index share_ = 0, at_once_ = 0, offset_ = 0, piece_ = 0;
};

/// What a tile does with its panel of B beside reading it.
enum class GemmB : std::uint8_t {
  read,  ///< nothing: it is in L1 or L2, or comes by itself
  ask,   ///< asks for rows further on
  keep   ///< copies it, and asks for the next panel
};

/// One tile: kRows x (kVecs vectors) of C at row i, column j.
template <class Add, class T, std::size_t kRows, std::size_t kVecs, GemmForm kForm, GemmB kB>
HWY_NOINLINE void GemmTile(const GemmBlock<T>& g, const T* HWY_RESTRICT strip,
                           const T* HWY_RESTRICT b, const GemmAsks& asks, Index i, Index j) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr bool kKeep = kB == GemmB::keep;
  constexpr std::make_index_sequence<kVecs> vecs{};
  constexpr std::make_index_sequence<kRows> rows{};
  V c[kRows * kVecs];
  GemmZero(d, c, std::make_index_sequence<kRows * kVecs>());
  const Index ldb = g.b_row;
  GemmStripOfA<kForm, kRows, T> a(strip, g.a_row,
                                  g.a_form == GemmForm::strides ? g.a_col : Index{kRows});
  // Sums of one chunk that goes straight to `finish` have no place.
  T* to = g.sum == nullptr ? nullptr : g.sum + i * g.sum_row + j;
  const auto width = static_cast<Index>(kVecs * hn::Lanes(d));
  const Index n = std::min(width, g.n - j);
  T* keep = kKeep ? g.keep + j * g.k : nullptr;
  // The rows of B go on with the next panel.
  const Index next = kKeep && j + 2 * width <= g.n ? width : 0;
  // What is not yet in L1 of the sums comes while the tile multiplies, that of a tall tile row by
  // row: many lines at once would hold up those of B. The row is a fraction with kBits bits after
  // the point.
  constexpr bool kSpread = kRows > 8;
  constexpr Index kBits = 16;
  const GemmSumRows sum_rows(g, i, j, n, b);
  const Index rate = (Index{kRows} << kBits) / std::max(g.k / 2, Index{1});
  std::uintptr_t line = asks.at;
  Index p = g.k, at = 0;
  if constexpr (!kSpread) {
    for (Index r = 0; r < Index{kRows}; ++r) sum_rows.Ask(r);
  }
  for (; p >= 2; p -= 2) {
    if constexpr (kB != GemmB::read) {
      __builtin_prefetch(reinterpret_cast<const void*>(line), 0, 2);
      line += static_cast<std::uintptr_t>(asks.step);
    }
    if constexpr (kSpread) {
      sum_rows.Ask(at >> kBits);
      at += rate;
    }
    V v[kVecs];
    GemmLoad(d, b, v, vecs);
    if constexpr (kKeep) {
      GemmKeep(d, v, keep, vecs);
      GemmAskRow(d, b + next, vecs);
      GemmAskRow(d, b + ldb + next, vecs);
    }
    if constexpr (kB == GemmB::ask) {
      GemmAskRow(d, b + asks.b_ahead, vecs);
      GemmAskRow(d, b + asks.b_ahead + ldb, vecs);
    }
    GemmStep<Add, kVecs, false>(d, a, v, c, rows);
    GemmLoad(d, b + ldb, v, vecs);
    if constexpr (kKeep) {
      GemmKeep(d, v, keep + width, vecs);
      keep += 2 * width;
    }
    GemmStep<Add, kVecs, true>(d, a, v, c, rows);
    a.Next();
    b += 2 * ldb;
  }
  if (p > 0) {
    V v[kVecs];
    GemmLoad(d, b, v, vecs);
    if constexpr (kKeep) GemmKeep(d, v, keep, vecs);
    GemmStep<Add, kVecs, false>(d, a, v, c, rows);
  }
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
using GemmTileFn = void (*)(const GemmBlock<T>&, const T*, const T*, const GemmAsks&, Index, Index);

/// Tile functions by rows - 1.
template <class Add, class T, std::size_t kVecs, GemmForm kForm, GemmB kB, std::size_t... kR>
constexpr std::array<GemmTileFn<T>, sizeof...(kR)> GemmTiles(std::index_sequence<kR...>) {
  return {{&GemmTile<Add, T, kR + 1, kVecs, kForm, kB>...}};
}

template <class Add, class T, GemmForm kForm>
HWY_INLINE void GemmBlockLoop(const GemmBlock<T>& g) {
  constexpr std::make_index_sequence<kGemmRows<T>> rows{};
  // Only A in place is met by B in place that needs no asking, or that is to be copied.
  constexpr bool kInPlace = kForm == GemmForm::strides;
  static constexpr auto kFull = GemmTiles<Add, T, kGemmVecs, kForm, GemmB::ask>(rows);
  static constexpr auto kHalf = GemmTiles<Add, T, 1, kForm, GemmB::ask>(rows);
  static constexpr auto kRead =
      GemmTiles<Add, T, kGemmVecs, kForm, kInPlace ? GemmB::read : GemmB::ask>(rows);
  static constexpr auto kKeep =
      GemmTiles<Add, T, kGemmVecs, kForm, kInPlace ? GemmB::keep : GemmB::ask>(rows);
  const Index nr = GemmColumns<T>();
  const Index row = g.a_form == GemmForm::panels ? g.k
                    : g.a_form == GemmForm::rows ? kGemmRow<T>
                                                 : g.a_row;
  const GemmStrips strips(g.m, g.strip);
  GemmDealer dealer(g.ahead, std::max(strips.count * ceil_div(g.n, nr), Index{1}), g.k, g.b);
  // A strip of A (about 20 KiB) stays in L1 while the panels of B stream past it from L2.
  Index i = 0;
  for (Index s = 0; s < strips.count; ++s) {
    const Index height = strips.height(s);
    const T* a = g.a + i * row;
    const Index b_ahead = g.b_row != nr ? 0 : s == 0 && g.cold ? g.b_panel : kRowsAhead * nr;
    const T* b = g.b;
    for (Index j = 0; j < g.n; j += nr, b += g.b_panel) {
      const auto& tiles = g.n - j <= nr / 2   ? kHalf
                          : g.keep != nullptr ? kKeep
                          : g.b_row != nr     ? kRead
                                              : kFull;
      tiles[static_cast<std::size_t>(height - 1)](g, a, b, dealer.Next(b_ahead), i, j);
    }
    i += height;
  }
}

template <class T, class Add = GemmMulAdd>
void GemmBlockRun(const GemmBlock<T>& g) {
  switch (g.a_form) {
    case GemmForm::strides:
      if (g.a_col == 1) return GemmBlockLoop<Add, T, GemmForm::strides>(g);
      [[fallthrough]];  // rows next to each other, as in panels
    case GemmForm::panels: return GemmBlockLoop<Add, T, GemmForm::panels>(g);
    case GemmForm::rows: return GemmBlockLoop<Add, T, GemmForm::rows>(g);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
