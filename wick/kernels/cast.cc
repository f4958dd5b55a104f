// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/cast.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "wick/core/convert.h"
#include "wick/kernels/copy.h"
#include "wick/kernels/run.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/cast.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set

#include "hwy/highway.h"
#include "wick/kernels/map-inl.h"

// Of the hundred pairs, those between small floats and others go by way of f32, in which small
// floats are exact. What is rounded to a small float arrives there rounded to odd, so that rounding
// twice is rounding once. Only pairs among the seven other types have code of their own.

#ifndef WICK_KERNELS_CAST_ONCE_
#define WICK_KERNELS_CAST_ONCE_
namespace wick::kernels {

/// The steps of a cast: one, or two with f32 between them.
struct CastSteps {
  PieceFn<2> first = nullptr;
  PieceFn<2> second = nullptr;
};

}  // namespace wick::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

// Element by element; without branches in `convert` the compiler makes vector code of it.
template <class To, class From>
HWY_NOINLINE void Plain(const Piece<2>& piece, const void*) {
  To* HWY_RESTRICT y = static_cast<To*>(piece.p[0]);
  const From* HWY_RESTRICT x = static_cast<const From*>(piece.p[1]);
  if (piece.step[1] == 0) {
    std::fill_n(y, piece.n, convert<To>(x[0]));
  } else {
    for (std::size_t i = 0; i < piece.n; ++i) y[i] = convert<To>(x[i]);
  }
}

// What is to be rounded to a small float later: exact in f32, or rounded to odd.
template <class From>
HWY_NOINLINE void ToOddF32(const Piece<2>& piece, const void*) {
  f32* HWY_RESTRICT y = static_cast<f32*>(piece.p[0]);
  const From* HWY_RESTRICT x = static_cast<const From*>(piece.p[1]);
  for (std::size_t i = 0; i < piece.n; ++i) {
    const From v = x[i * piece.step[1]];
    if constexpr (sizeof(From) <= 2) {
      y[i] = static_cast<f32>(v);
    } else if constexpr (std::same_as<From, i64>) {
      y[i] = small::to_f32_odd(detail::to_f64_odd(v));
    } else {
      y[i] = small::to_f32_odd(static_cast<f64>(v));
    }
  }
}

template <SmallFloat T>
HWY_NOINLINE void WidenPiece(const Piece<2>& piece, const void* context) {
  using L = Lanes<T>;
  const typename L::D d;
  const std::size_t lanes = hn::Lanes(d);
  f32* y = static_cast<f32*>(piece.p[0]);
  const T* x = static_cast<const T*>(piece.p[1]);
  std::size_t i = 0;
  for (; i + lanes <= piece.n; i += lanes) hn::StoreU(L::Load(d, x + i * piece.step[1]), d, y + i);
  if (i < piece.n)
    Tail<2, f32, T>(piece, i, lanes, [context](const Piece<2>& p) { WidenPiece<T>(p, context); });
}

template <SmallFloat T>
HWY_NOINLINE void RoundPiece(const Piece<2>& piece, const void* context) {
  using L = Lanes<T>;
  const typename L::D d;
  const std::size_t lanes = hn::Lanes(d);
  T* y = static_cast<T*>(piece.p[0]);
  const f32* x = static_cast<const f32*>(piece.p[1]);
  std::size_t i = 0;
  for (; i + lanes <= piece.n; i += lanes) L::Store(d, hn::LoadU(d, x + i * piece.step[1]), y + i);
  if (i < piece.n)
    Tail<2, T, f32>(piece, i, lanes, [context](const Piece<2>& p) { RoundPiece<T>(p, context); });
}

// Truncates and saturates to the ends of i32; NaN becomes 0.
template <class V>
HWY_INLINE auto ToI32(hn::ScalableTag<f32> d, V v) {
  const SignedOf<hn::ScalableTag<f32>> di;
  return hn::ConvertTo(di, hn::IfThenElse(hn::IsNaN(v), hn::Zero(d), v));
}

template <OneOf<u8, u32, i16, i32> To, class V>
HWY_INLINE void StoreInt(hn::ScalableTag<f32> d, V v, To* y) {
  const hn::Rebind<To, hn::ScalableTag<f32>> to;
  if constexpr (std::same_as<To, i32>) {
    hn::StoreU(ToI32(d, v), to, y);
  } else if constexpr (std::same_as<To, u32>) {
    // The upper half of the range is shifted down for the conversion; both shifts are exact.
    const auto half = hn::Set(d, 0x1p31F);
    const auto upper = hn::Ge(v, half);
    const auto shifted = hn::IfThenElse(upper, hn::Sub(v, half), hn::Max(v, hn::Zero(d)));
    const auto whole =
        hn::BitCast(to, ToI32(d, hn::IfThenElse(hn::IsNaN(v), hn::Zero(d), shifted)));
    const auto flip = hn::IfThenElseZero(hn::RebindMask(to, upper), hn::Set(to, 0x80000000U));
    hn::StoreU(hn::Xor(whole, flip), to, y);
  } else {
    // DemoteTo saturates only what fits 16 bits.
    using L = std::numeric_limits<To>;
    const V low = hn::Set(d, f32{L::min()}), high = hn::Set(d, f32{L::max()});
    const V number = hn::IfThenElse(hn::IsNaN(v), hn::Zero(d), v);
    hn::StoreU(hn::DemoteTo(to, ToI32(d, hn::Min(hn::Max(number, low), high))), to, y);
  }
}

template <class To>
HWY_NOINLINE void F32ToInt(const Piece<2>& piece, const void* context) {
  const hn::ScalableTag<f32> d;
  const std::size_t lanes = hn::Lanes(d);
  To* y = static_cast<To*>(piece.p[0]);
  const f32* x = static_cast<const f32*>(piece.p[1]);
  std::size_t i = 0;
  for (; i + lanes <= piece.n; i += lanes) StoreInt(d, hn::LoadU(d, x + i * piece.step[1]), y + i);
  if (i < piece.n)
    Tail<2, To, f32>(piece, i, lanes, [context](const Piece<2>& p) { F32ToInt<To>(p, context); });
}

template <class To, class From>
PieceFn<2> Direct() {
  if constexpr (std::same_as<From, f32> && OneOf<To, u8, u32, i16, i32>) {
    return &F32ToInt<To>;
  } else {
    return &Plain<To, From>;
  }
}

template <class From>
CastSteps StepsFrom(DType to) {
  // A cast to the same type never gets here.
  if constexpr (SmallFloat<From>) {
    CastSteps rest = StepsFrom<f32>(to);
    if (to == DType::f32) return {&WidenPiece<From>, nullptr};
    return {&WidenPiece<From>, rest.first};
  } else {
    switch (to) {
      case DType::u8: return {Direct<u8, From>()};
      case DType::u32: return {Direct<u32, From>()};
      case DType::i16: return {Direct<i16, From>()};
      case DType::i32: return {Direct<i32, From>()};
      case DType::i64: return {Direct<i64, From>()};
      case DType::f32: return {Direct<f32, From>()};
      case DType::f64: return {Direct<f64, From>()};
      default: break;
    }
    const PieceFn<2> round = to == DType::bf16  ? &RoundPiece<bf16>
                             : to == DType::f16 ? &RoundPiece<f16>
                                                : &RoundPiece<f8e4m3>;
    if constexpr (std::same_as<From, f32>) {
      return {round};
    } else {
      return {&ToOddF32<From>, round};
    }
  }
}

CastSteps Steps(DType to, DType from) {
  switch (from) {
#define WICK_FROM(T) \
  case DType::T: return StepsFrom<T>(to);
    WICK_FOR_ELEMENTS(WICK_FROM)
#undef WICK_FROM
    default: return {};
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(Steps);

namespace {

struct Chain {
  CastSteps steps;
  std::size_t to_bytes, from_bytes;
};

// Both steps, by blocks that stay in the L1 cache.
void chain(const Piece<2>& piece, const void* context) {
  const Chain& c = *static_cast<const Chain*>(context);
  constexpr std::size_t kSize = 512;
  alignas(64) f32 buffer[kSize];
  for (std::size_t i = 0; i < piece.n; i += kSize) {
    const std::size_t n = std::min(kSize, piece.n - i);
    auto* y = static_cast<unsigned char*>(piece.p[0]) + i * c.to_bytes;
    auto* x = static_cast<unsigned char*>(piece.p[1]) + i * piece.step[1] * c.from_bytes;
    c.steps.first({{buffer, x}, {1, piece.step[1]}, n}, nullptr);
    c.steps.second({{y, buffer}, {1, 1}, n}, nullptr);
  }
}

template <DType kTo, DType kFrom>
void cast_loop(void* y, const void* x, const Loop2<2>& loop) {
  constexpr int kToBytes = bits(kTo) / 8, kFromBytes = bits(kFrom) / 8;
  const CastSteps steps = HWY_DYNAMIC_DISPATCH(Steps)(kTo, kFrom);
  if (steps.second == nullptr)
    return run<2>(loop, {y, x}, {kToBytes, kFromBytes}, steps.first, nullptr);
  const Chain c{steps, kToBytes, kFromBytes};
  run<2>(loop, {y, x}, {kToBytes, kFromBytes}, &chain, &c);
}

template <class To, class From>
CastFn pick() {
  if constexpr (std::same_as<To, From>) return copy(static_cast<int>(sizeof(To)));
  return &cast_loop<dtype_of<To>, dtype_of<From>>;
}

template <class To>
CastFn cast_to(DType from) {
  switch (from) {
#define WICK_FROM(T) \
  case DType::T: return pick<To, T>();
    WICK_FOR_ELEMENTS(WICK_FROM)
#undef WICK_FROM
    default: return nullptr;
  }
}

}  // namespace

CastFn cast(DType to, DType from) {
  switch (to) {
#define WICK_TO(T) \
  case DType::T: return cast_to<T>(from);
    WICK_FOR_ELEMENTS(WICK_TO)
#undef WICK_TO
    default: return nullptr;
  }
}

}  // namespace wick::kernels
#endif
