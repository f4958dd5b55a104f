// SPDX-License-Identifier: Apache-2.0
// Packing for the matrix product, and the conversions of its elements.

#if defined(WICK_KERNELS_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_GEMM_PACK_INL_H_
#undef WICK_KERNELS_GEMM_PACK_INL_H_
#else
#define WICK_KERNELS_GEMM_PACK_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstring>

#include "hwy/highway.h"
#include "wick/core/convert.h"
#include "wick/kernels/gemm.h"
#include "wick/kernels/gemm_transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// An element as what it is added in.
template <class Acc, class T>
HWY_INLINE Acc GemmWiden(T x) {
  if constexpr (std::same_as<T, f8e4m3>) {
    static constexpr std::array<float, 256> kTable = [] {
      std::array<float, 256> t{};
      for (std::size_t i = 0; i < t.size(); ++i) t[i] = to_f32(f8e4m3{static_cast<u8>(i)});
      return t;
    }();
    return kTable[x.bits];
  } else if constexpr (Float<T>) {
    return convert<Acc>(x);
  } else {
    return static_cast<Acc>(x);  // modulo 2^32 or 2^64
  }
}

// Without native f16 conversions Highway's round down and know no infinity: ours are used there.
template <class T>
inline constexpr bool kGemmVectorHalf =
    std::same_as<T, bf16> || (std::same_as<T, f16> && HWY_TARGET != HWY_EMU128);

/// A whole vector of f16 or bf16.
template <class D, class T>
HWY_INLINE hn::Vec<D> GemmWidenLoad(D d, const T* from) {
  using Lane = std::conditional_t<std::same_as<T, f16>, hwy::float16_t, hwy::bfloat16_t>;
  const hn::Rebind<Lane, D> half;
  return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const Lane*>(from)));
}

/// to[i] = from[i] for n elements next to each other.
template <class Acc, class T>
HWY_INLINE void GemmWidenRun(const T* HWY_RESTRICT from, Index n, Acc* HWY_RESTRICT to) {
  Index i = 0;
  if constexpr (kGemmVectorHalf<T>) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    for (; i + lanes <= n; i += lanes) hn::StoreU(GemmWidenLoad(d, from + i), d, to + i);
  }
  for (; i < n; ++i) to[i] = GemmWiden<Acc>(from[i]);
}

/// Lanes next to each other in memory: rows are copied.
template <class Acc>
HWY_INLINE void GemmPackRows(const Acc* HWY_RESTRICT src, Index step, Index lanes, Index width,
                             Index k, Acc* HWY_RESTRICT out) {
  const hn::ScalableTag<Acc> d;
  const auto n = static_cast<Index>(hn::Lanes(d));
  const Index whole = lanes / n * n;
  const auto rest = hn::FirstN(d, static_cast<std::size_t>(lanes - whole));
  for (Index p = 0; p < k; ++p, src += step, out += width) {
    Index i = 0;
    for (; i < whole; i += n) hn::StoreU(hn::LoadU(d, src + i), d, out + i);
    if constexpr (HWY_TARGET <= HWY_AVX2) {  // masked loads that touch no byte beside
      if (i < lanes) {
        hn::StoreU(hn::MaskedLoad(rest, d, src + i), d, out + i);
        i += n;
      }
    } else {
      for (; i < lanes; ++i) out[i] = src[i];
    }
    for (; i < width; ++i) out[i] = 0;
  }
}

template <class Acc>
HWY_INLINE void GemmPackSame(const Acc* HWY_RESTRICT src, Index lane, Index step, Index lanes,
                             Index width, Index k, Acc* HWY_RESTRICT out) {
  if (lane == 1) return GemmPackRows(src, step, lanes, width, k, out);
  const hn::ScalableTag<Acc> d;
  const auto side = static_cast<Index>(hn::Lanes(d));
  Index p = 0;
  if (step == 1) {
    const Index last = (width - 1) / side * side;
    for (; p + side <= k; p += side) {
      // The last square first: what it writes past its rows is the start of the next ones.
      for (Index i = last; i >= 0; i -= side) {
        Acc* to = out + p * width + i;
        if (i < lanes) {
          TransposeSquare(d, src + p + i * lane, lane, std::min(side, lanes - i), width, to);
        } else {
          for (Index q = 0; q < side; ++q) std::fill_n(to + q * width, side, Acc{0});
        }
      }
    }
  }
  for (; p < k; ++p) {
    const Acc* from = src + p * step;
    Acc* to = out + p * width;
    for (Index i = 0; i < lanes; ++i) to[i] = from[i * lane];
    for (Index i = lanes; i < width; ++i) to[i] = 0;
  }
}

/// Lanes of f16 or bf16 of which each has its elements next to each other: squares of pairs change
/// places, then each half of a pair is widened. Does whole squares and returns how far along k.
template <class T>
HWY_INLINE Index GemmWidenColumns(const T* HWY_RESTRICT src, Index lane, Index lanes, Index width,
                                  Index k, f32* HWY_RESTRICT out) {
  const hn::ScalableTag<f32> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<std::uint16_t, decltype(d)> half;
  constexpr auto kSide = static_cast<Index>(hn::MaxLanes(d));
  HWY_ALIGN std::uint32_t square[kSide * kSide];
  const auto widen = [&](auto bits, f32* to) HWY_ATTR {
    if constexpr (std::same_as<T, bf16>) {
      hn::StoreU(hn::BitCast(d, hn::ShiftLeft<16>(bits)), d, to);
    } else {
      const hn::Rebind<hwy::float16_t, decltype(d)> df16;
      const auto low = hn::DemoteTo(half, hn::BitCast(hn::RebindToSigned<decltype(d)>(), bits));
      hn::StoreU(hn::PromoteTo(d, hn::BitCast(df16, low)), d, to);
    }
  };
  const Index last = (width - 1) / kSide * kSide;
  Index p = 0;
  for (; p + 2 * kSide <= k; p += 2 * kSide)
    // The last square first: what it writes past its rows is the start of the next ones.
    for (Index i = last; i >= 0; i -= kSide) {
      f32* to = out + p * width + i;
      if (i >= lanes) {
        for (Index q = 0; q < 2 * kSide; ++q) std::fill_n(to + q * width, kSide, 0.0F);
        continue;
      }
      TransposeSquare(du, src + p + i * lane, lane, std::min(kSide, lanes - i), kSide, square);
      for (Index q = 0; q < kSide; ++q) {
        const auto pair = hn::Load(du, square + q * kSide);
        widen(hn::And(pair, hn::Set(du, 0xFFFF)), to + 2 * q * width);
        widen(hn::ShiftRight<16>(pair), to + (2 * q + 1) * width);
      }
    }
  return p;
}

/// Gemm<T>::pack.
template <class T>
void GemmPack(const T* src, Index lane, Index step, Index lanes, Index width, Index k,
              GemmAcc<T>* out) {
  using Acc = GemmAcc<T>;
  if constexpr (sizeof(T) == sizeof(Acc)) {  // the same bits
    GemmPackSame(reinterpret_cast<const Acc*>(src), lane, step, lanes, width, k, out);
  } else if (lane == 1) {
    for (Index p = 0; p < k; ++p, src += step, out += width) {
      GemmWidenRun(src, lanes, out);
      for (Index i = lanes; i < width; ++i) out[i] = 0;
    }
  } else {
    if constexpr (kGemmVectorHalf<T>) {
      if (step == 1) {
        const Index done = GemmWidenColumns(src, lane, lanes, width, k, out);
        src += done;
        out += done * width;
        k -= done;
      }
    }
    constexpr Index kSteps = 64, kLanes = 4;
    HWY_ALIGN Acc wide[kLanes * kSteps];
    for (Index p = 0; p < k; p += kSteps) {
      const Index steps = std::min(kSteps, k - p);
      for (Index i = (lanes - 1) / kLanes * kLanes; i >= 0; i -= kLanes) {
        const Index some = std::min(kLanes, lanes - i);
        for (Index l = 0; l < some; ++l) {
          const T* from = src + (i + l) * lane + p * step;
          if (step == 1) {
            GemmWidenRun(from, steps, wide + l * kSteps);
          } else {
            for (Index s = 0; s < steps; ++s) wide[l * kSteps + s] = GemmWiden<Acc>(from[s * step]);
          }
        }
        Acc* to = out + p * width + i;
        for (Index s = 0; s < steps; ++s)
          for (Index l = 0; l < some; ++l) to[s * width + l] = wide[l * kSteps + s];
      }
      for (Index s = 0; s < steps; ++s)
        for (Index i = lanes; i < width; ++i) out[(p + s) * width + i] = 0;
    }
  }
}

/// Gemm<T>::pack_rows.
template <class T>
void GemmPackWhole(const T* src, Index row, Index rows, Index k, GemmAcc<T>* out) {
  using Acc = GemmAcc<T>;
  for (Index i = 0; i < rows; ++i, src += row, out += kGemmRow<Acc>) {
    if constexpr (sizeof(T) == sizeof(Acc)) {
      std::memcpy(out, src, static_cast<std::size_t>(k) * sizeof(Acc));
    } else {
      GemmWidenRun(src, k, out);
    }
  }
}

/// A whole vector rounded to f16 or bf16.
template <class D, class V, class Out>
HWY_INLINE void GemmNarrowStore(D, V v, Out* to) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<std::uint16_t, D> half;
  auto* bits = reinterpret_cast<std::uint16_t*>(to);
  if constexpr (std::same_as<Out, f16>) {
    const hn::Rebind<hwy::float16_t, D> df16;
    hn::StoreU(hn::BitCast(half, hn::DemoteTo(df16, v)), half, bits);
  } else {
    // To nearest, ties to even: add just under one half, or one half for odd results.
    const auto u = hn::BitCast(di, v);
    const auto odd = hn::And(hn::ShiftRight<16>(u), hn::Set(di, 1));
    const auto rounded = hn::Add(u, hn::Add(odd, hn::Set(di, 0x7FFF)));
    const auto quiet = hn::Or(u, hn::Set(di, 0x400000));
    const auto nan = hn::RebindMask(di, hn::IsNaN(v));
    const auto high =
        hn::And(hn::ShiftRight<16>(hn::IfThenElse(nan, quiet, rounded)), hn::Set(di, 0xFFFF));
    hn::StoreU(hn::DemoteTo(half, high), half, bits);
  }
}

/// to[i] = from[i] rounded to Out, n elements next to each other.
template <class Out, class Acc>
HWY_INLINE void GemmNarrowRun(const Acc* HWY_RESTRICT from, Index n, Out* HWY_RESTRICT to) {
  Index i = 0;
  if constexpr (kGemmVectorHalf<Out>) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    for (; i + lanes <= n; i += lanes) GemmNarrowStore(d, hn::LoadU(d, from + i), to + i);
  }
  for (; i < n; ++i) {
    if constexpr (Int<Out> || std::is_unsigned_v<Out>) {
      to[i] = static_cast<Out>(from[i]);  // the low bits
    } else {
      to[i] = convert<Out>(from[i]);
    }
  }
}

/// What depends on T of the table.
template <class T>
void GemmFill(Gemm<T>& table) {
  table.pack = &GemmPack<T>;
  table.pack_rows = &GemmPackWhole<T>;
  table.pack_a = &GemmPack<T>;
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
