// SPDX-License-Identifier: Apache-2.0
// Small products without packing: the tile is as high and as wide as the product where registers
// allow, and the loop over the products of a batch is inside.

#if defined(WICK_KERNELS_GEMM_TINY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_GEMM_TINY_INL_H_
#undef WICK_KERNELS_GEMM_TINY_INL_H_
#else
#define WICK_KERNELS_GEMM_TINY_INL_H_
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/highway.h"
#include "wick/kernels/gemm_pack-inl.h"
#include "wick/kernels/gemm_tiny.h"
#include "wick/kernels/gemm_tiny_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The functions that see no element types but what products are added in.
void TinyMultiplyF32(const TinyCall<f32>& g);
void TinyMultiplyF64(const TinyCall<f64>& g);
void TinyMultiplyU32(const TinyCall<std::uint32_t>& g);
void TinyMultiplyU64(const TinyCall<std::uint64_t>& g);

template <class Acc>
HWY_INLINE void TinyMultiply(const TinyCall<Acc>& g) {
  if constexpr (std::same_as<Acc, f32>) {
    TinyMultiplyF32(g);
  } else if constexpr (std::same_as<Acc, f64>) {
    TinyMultiplyF64(g);
  } else if constexpr (sizeof(Acc) == 4) {
    TinyMultiplyU32(g);
  } else {
    TinyMultiplyU64(g);
  }
}

/// out[i * inner + j] = src[i * row + j * col].
template <class Acc, class T>
HWY_INLINE void TinyWiden(const T* HWY_RESTRICT src, Index outer, Index inner, Index row, Index col,
                          Acc* HWY_RESTRICT out) {
  if (col == 1 && row == inner) inner *= outer, outer = 1;
  for (Index i = 0; i < outer; ++i, src += row, out += inner) {
    if (col == 1) {
      GemmWidenRun(src, inner, out);
    } else {
      for (Index j = 0; j < inner; ++j) out[j] = GemmWiden<Acc>(src[j * col]);
    }
  }
}

/// out[p * n + i] = src[i * lane + p] for i < n, p < k; anything in the 16 rows and 16 elements
/// behind. No byte of src that is not an element is read.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void TinyTranspose(D d, const T* HWY_RESTRICT src, Index lane, Index n, Index k,
                              T* HWY_RESTRICT out) {
  constexpr auto kSide = static_cast<Index>(hn::MaxLanes(d));
  HWY_ALIGN T rest[hn::MaxLanes(d) * hn::MaxLanes(d)];
  const Index last = (n - 1) / kSide * kSide;
  for (Index p = 0; p < k; p += kSide) {
    const bool whole = p + kSide <= k;
    // The last square first: what it writes past its rows is the start of the next ones.
    for (Index i = last; i >= 0; i -= kSide) {
      const T* from = src + i * lane + p;
      const Index rows = std::min(kSide, n - i);
      Index step = lane;
      if (!whole) {
        for (Index r = 0; r < rows; ++r)
          hn::Store(TinyLoadEdge(d, from + r * lane, k - p), d, rest + r * kSide);
        from = rest;
        step = kSide;
      }
      TransposeSquare(d, from, step, rows, n, out + p * n + i);
    }
  }
}

template <class Acc>
HWY_INLINE void TinyTransposeAny(const Acc* src, Index lane, Index n, Index k, Acc* out) {
  const hn::ScalableTag<Acc> d;
  const hn::CappedTag<Acc, 16 / sizeof(Acc)> block;
  if (std::min(n, k) <= static_cast<Index>(hn::Lanes(block))) {
    TinyTranspose(block, src, lane, n, k, out);
  } else {
    TinyTranspose(d, src, lane, n, k, out);
  }
}

/// Rows of sums, dense, to where they belong.
template <class Out, class Acc>
HWY_INLINE void TinyFinish(const Acc* HWY_RESTRICT sum, Index m, Index n, Acc alpha, Acc beta,
                           Out* HWY_RESTRICT out, Index row, Index col) {
  if constexpr (sizeof(Out) == sizeof(Acc)) {
    if (col == 1) {
      const hn::ScalableTag<Acc> d;
      const auto lanes = static_cast<Index>(hn::Lanes(d));
      const auto va = hn::Set(d, alpha), vb = hn::Set(d, beta);
      const bool scale = alpha != Acc{1}, add = beta != Acc{0};
      for (Index i = 0; i < m; ++i, sum += n, out += row) {
        auto* to = reinterpret_cast<Acc*>(out);
        for (Index j = 0; j < n; j += lanes) {
          auto v = hn::LoadU(d, sum + j);
          const bool whole = j + lanes <= n;
          if (scale) v = hn::Mul(va, v);
          if (add) {
            const auto c = whole ? hn::LoadU(d, to + j) : TinyLoadEdge(d, to + j, n - j);
            if constexpr (hwy::IsFloat<Acc>()) {
              v = hn::MulAdd(vb, c, v);
            } else {
              v = hn::Add(v, hn::Mul(vb, c));
            }
          }
          if (whole) {
            hn::StoreU(v, d, to + j);
          } else {
            TinyStoreEdge(d, v, n - j, to + j);
          }
        }
      }
      return;
    }
  }
  const hn::CappedTag<Acc, 1> one;
  [[maybe_unused]] const auto vb = hn::Set(one, beta);
  HWY_ALIGN Acc some[64];
  for (Index i = 0; i < m; ++i, sum += n, out += row) {
    for (Index j = 0; j < n; j += 64) {
      const Index piece = std::min(n - j, Index{64});
      for (Index q = 0; q < piece; ++q) {
        Acc v = sum[j + q];
        if (alpha != Acc{1}) v = alpha * v;
        if (beta != Acc{0}) {
          const Acc c = GemmWiden<Acc>(out[(j + q) * col]);
          if constexpr (hwy::IsFloat<Acc>()) {
            v = hn::GetLane(hn::MulAdd(vb, hn::Set(one, c), hn::Set(one, v)));
          } else {
            v += beta * c;
          }
        }
        some[q] = v;
      }
      if (col == 1) {
        GemmNarrowRun(some, piece, out + j);
      } else {
        for (Index q = 0; q < piece; ++q) GemmNarrowRun(some + q, 1, out + (j + q) * col);
      }
    }
  }
}

/// Products whose operands need copies, as many at a time as the stage holds.
template <class T, class Out, class Acc = GemmAcc<T>>
HWY_NOINLINE void TinyStaged(const GemmTiny<T, Out>& g, bool stage_c) {
  constexpr bool kSame = sizeof(T) == sizeof(Acc);
  constexpr Index kSlack = 16, kAll = kTinyStage / Index{sizeof(Acc)};
  HWY_ALIGN Acc stage[std::size_t{kAll}];
  const Index a_size = g.m * g.k, b_size = g.k * g.n, c_size = g.m * g.n;
  const bool stage_a = !kSame, stage_b = !kSame || g.b.col != 1;
  const bool turn_b = g.b.col != 1;
  // Fixed parts: the slack, and one product of B before it is turned round.
  Index fixed = 3 * kSlack, each = 0;
  if (stage_a) each += a_size;
  if (stage_b) each += b_size, fixed += kSlack * g.n;
  if (stage_b && !kSame && turn_b) fixed += b_size + kSlack;
  if (stage_c) each += c_size;
  // Half of L1 at most, but for a single product.
  const Index group = std::clamp(
      (std::min(kAll, Index{20480} / Index{sizeof(Acc)}) - fixed) / std::max(each, Index{1}),
      Index{1}, g.count);
  Acc* a = stage;
  Acc* b = a + (stage_a ? group * a_size + kSlack : 0);
  Acc* c = b + (stage_b ? group * b_size + kSlack * g.n + kSlack : 0);
  Acc* wide = c + (stage_c ? group * c_size + kSlack : 0);

  TinyCall<Acc> call{};
  call.m = g.m;
  call.n = g.n;
  call.k = g.k;
  call.alpha = Acc{1};
  const bool a_rows = g.a.col == 1 || g.a.row != 1;  // else its columns are copied
  call.a.row = g.a.row;
  call.a.col = g.a.col;
  call.a.step = g.a.step;
  if (stage_a) {
    call.a.row = a_rows ? g.k : 1;
    call.a.col = a_rows ? 1 : g.m;
    call.a.step = g.a.step == 0 ? 0 : a_size;
  }
  call.b.row = stage_b ? g.n : g.b.row;
  call.b.col = 1;
  call.b.step = !stage_b ? g.b.step : g.b.step == 0 ? 0 : b_size;
  call.c.row = stage_c ? g.n : g.c.row;
  call.c.col = 1;
  call.c.step = stage_c ? c_size : g.c.step;
  const bool c_dense =
      g.c.col == 1 && (g.c.row == g.n || g.m == 1) && (g.c.step == c_size || g.count == 1);

  for (Index first = 0; first < g.count; first += group) {
    call.count = std::min(group, g.count - first);
    const T* from_a = g.a.data + first * g.a.step;
    const T* from_b = g.b.data + first * g.b.step;
    call.a.data = stage_a ? a : reinterpret_cast<const Acc*>(from_a);
    if (stage_a && (g.a.step != 0 || first == 0)) {
      const Index outer = a_rows ? g.m : g.k, inner = a_rows ? g.k : g.m;
      const Index row = a_rows ? g.a.row : g.a.col, col = a_rows ? g.a.col : g.a.row;
      const Index some = g.a.step == 0 ? 1 : call.count;
      if (col == 1 && row == inner && g.a.step == a_size) {
        TinyWiden(from_a, some * outer, inner, row, col, a);
      } else {
        for (Index i = 0; i < some; ++i)
          TinyWiden(from_a + i * g.a.step, outer, inner, row, col, a + i * a_size);
      }
    }
    call.b.data = stage_b ? b : reinterpret_cast<const Acc*>(from_b);
    if (stage_b && (g.b.step != 0 || first == 0)) {
      const Index some = g.b.step == 0 ? 1 : call.count;
      for (Index i = 0; i < some; ++i, from_b += g.b.step) {
        Acc* to = b + i * b_size;
        if (g.b.row == 1 && turn_b) {
          if constexpr (kSame) {
            TinyTransposeAny(reinterpret_cast<const Acc*>(from_b), g.b.col, g.n, g.k, to);
          } else {
            TinyWiden(from_b, g.n, g.k, g.b.col, Index{1}, wide);
            TinyTransposeAny(static_cast<const Acc*>(wide), g.k, g.n, g.k, to);
          }
        } else {
          TinyWiden(from_b, g.k, g.n, g.b.row, g.b.col, to);
        }
      }
    }
    Out* to = g.c.data + first * g.c.step;
    call.c.data = stage_c ? c : reinterpret_cast<Acc*>(to);
    TinyMultiply(call);
    if (!stage_c) continue;
    if (c_dense) {
      TinyFinish(static_cast<const Acc*>(c), Index{1}, call.count * c_size, g.alpha, g.beta, to,
                 Index{0}, Index{1});
    } else {
      for (Index i = 0; i < call.count; ++i, to += g.c.step)
        TinyFinish(static_cast<const Acc*>(c + i * c_size), g.m, g.n, g.alpha, g.beta, to, g.c.row,
                   g.c.col);
    }
  }
}

/// The function of the table.
template <class T, class Out>
void TinyRun(const GemmTiny<T, Out>& g) {
  using Acc = GemmAcc<T>;
  if (!tiny_in_place(g)) {
    TinyStaged(g,
               sizeof(Out) != sizeof(Acc) || g.alpha != Acc{1} || g.beta != Acc{0} || g.c.col != 1);
  } else if constexpr (std::same_as<T, Acc>) {
    TinyMultiply(g);
  } else if constexpr (sizeof(T) == sizeof(Acc)) {  // the same bits
    const auto operand = [](const auto& x) {
      return TinyOperand<const Acc>{reinterpret_cast<const Acc*>(x.data), x.row, x.col, x.step};
    };
    TinyMultiply(TinyCall<Acc>{
        g.m, g.n, g.k, operand(g.a), operand(g.b),
        TinyOperand<Acc>{reinterpret_cast<Acc*>(g.c.data), g.c.row, g.c.col, g.c.step}, g.count,
        Acc{1}, Acc{0}});
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
