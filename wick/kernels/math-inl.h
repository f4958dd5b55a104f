// SPDX-License-Identifier: Apache-2.0
// Elementary functions on vectors of f32 and f64. f32: where no short way in f32 is as good, the
// work is done in f64 (to about 35 bits) and rounded once; gelu_erf, which models spend time on,
// gives up two digits for speed instead. Included once per instruction set.

#if defined(WICK_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_MATH_INL_H_
#undef WICK_KERNELS_MATH_INL_H_
#else
#define WICK_KERNELS_MATH_INL_H_
#endif

#include <type_traits>

#include "wick/kernels/math64-inl.h"
#include "wick/kernels/pow64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

template <class D>
inline constexpr bool kIsF64 = std::is_same_v<hn::TFromD<D>, double>;

/// f64 rounded to f32. EMU128's DemoteTo makes infinities finite.
template <class D, class V>
HWY_INLINE hn::Vec<D> RoundToF32(D dh, V x) {
#if HWY_TARGET == HWY_EMU128
  const hn::Rebind<double, D> dd;
  HWY_ALIGN double from[HWY_MAX_BYTES / 8];
  HWY_ALIGN float to[HWY_MAX_BYTES / 8];
  hn::Store(x, dd, from);
  for (std::size_t i = 0; i < hn::Lanes(dd); ++i) to[i] = static_cast<float>(from[i]);
  return hn::Load(dh, to);
#else
  return hn::DemoteTo(dh, x);
#endif
}

/// f(dd, x...) on vectors of f64, for operands and a result of f32.
template <class D, class F, class V, class... Vs>
HWY_INLINE V InF64(D, F f, V x, Vs... more) {
  const D d;
  const hn::Half<D> dh;
  const hn::Repartition<double, D> dd;
  const auto low =
      f(dd, hn::PromoteTo(dd, hn::LowerHalf(dh, x)), hn::PromoteTo(dd, hn::LowerHalf(dh, more))...);
  const auto high =
      f(dd, hn::PromoteTo(dd, hn::UpperHalf(dh, x)), hn::PromoteTo(dd, hn::UpperHalf(dh, more))...);
  return hn::Combine(d, RoundToF32(dh, high), RoundToF32(dh, low));
}

/// e^x. f32: after Cody and Waite, error below 1 ULP.
template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  if constexpr (kIsF64<D>) {
    return Exp64<false>(d, x);
  } else {
    const V magic = hn::Set(d, 0x1.8p23F);
    const V c = Clip(d, x, -104.0F, 89.0F);  // beyond, the result is 0 or infinite
    const V k = hn::Sub(hn::MulAdd(c, hn::Set(d, 0x1.715476p+0F), magic), magic);
    V r = hn::NegMulAdd(k, hn::Set(d, 0x1.62e4p-1F), c);  // exact: 15 bits times 8
    r = hn::NegMulAdd(k, hn::Set(d, 0x1.7f7d1cp-20F), r);
    const V p = hn::MulAdd(hn::Mul(r, r), Poly(d, r, coefficients::kExp32), r);
    return KeepNaN(d, x, Scale(d, hn::Add(hn::Set(d, 1.0F), p), k));
  }
}

template <class D, class V>
HWY_INLINE V Expm1(D d, V x) {
  if constexpr (kIsF64<D>) {
    return Expm1_64<false>(d, x);
  } else {
    return InF64(d, [](auto dd, auto v) HWY_ATTR { return Expm1_64<true>(dd, v); }, x);
  }
}
template <class D, class V>
HWY_INLINE V Log(D d, V x) {
  if constexpr (kIsF64<D>) {
    return Log64<false>(d, x);
  } else {
    return InF64(d, [](auto dd, auto v) HWY_ATTR { return Log64<true>(dd, v); }, x);
  }
}
template <class D, class V>
HWY_INLINE V Log1p(D d, V x) {
  if constexpr (kIsF64<D>) {
    return Log1p64<false>(d, x);
  } else {
    return InF64(d, [](auto dd, auto v) HWY_ATTR { return Log1p64<true>(dd, v); }, x);
  }
}
template <class D, class V>
HWY_INLINE V Tan(D d, V x) {
  if constexpr (kIsF64<D>) {
    return Tan64<false>(d, x);
  } else {
    return InF64(d, [](auto dd, auto v) HWY_ATTR { return Tan64<true>(dd, v); }, x);
  }
}
template <class D, class V>
HWY_INLINE V Softplus(D d, V x) {
  if constexpr (kIsF64<D>) {
    return Softplus64<false>(d, x);
  } else {
    return InF64(d, [](auto dd, auto v) HWY_ATTR { return Softplus64<true>(dd, v); }, x);
  }
}
template <class D, class V>
HWY_INLINE V Tanh(D d, V x) {
  if constexpr (kIsF64<D>) {
    return Tanh64<false>(d, x);
  } else {
    return InF64(d, [](auto dd, auto v) HWY_ATTR { return Tanh64<true>(dd, v); }, x);
  }
}
template <class D, class V>
HWY_INLINE V Erf(D d, V x) {
  if constexpr (kIsF64<D>) {
    return Erf64<false>(d, x);
  } else {
    return InF64(d, [](auto dd, auto v) HWY_ATTR { return Erf64<true>(dd, v); }, x);
  }
}
template <class D, class V>
HWY_INLINE V Sigmoid(D d, V x) {
  if constexpr (kIsF64<D>) {
    return Sigmoid64<false>(d, x);
  } else {
    return InF64(d, [](auto dd, auto v) HWY_ATTR { return Sigmoid64<true>(dd, v); }, x);
  }
}
template <class D, class V>
HWY_INLINE V Silu(D d, V x) {
  if constexpr (kIsF64<D>) {
    return Silu64<false>(d, x);
  } else {
    return InF64(d, [](auto dd, auto v) HWY_ATTR { return Silu64<true>(dd, v); }, x);
  }
}
template <class D, class V>
HWY_INLINE V Gelu(D d, V x) {
  if constexpr (kIsF64<D>) {
    return Gelu64<false>(d, x);
  } else {
    return InF64(d, [](auto dd, auto v) HWY_ATTR { return Gelu64<true>(dd, v); }, x);
  }
}
#if HWY_NATIVE_FMA
/// x Phi(x) = max(x, 0) - z Q(z) for z = |x| and the upper tail Q(z) = e^(-z^2 / 2) R(z), which has
/// no cancellation on either side. z R(z) is z / (z + 3.5) times a polynomial in that quotient;
/// z^2 is needed to twice the precision because its error is magnified by the exponential. The
/// power of two is kept 2^64 too large until the last operation, so that nothing is lost below the
/// normal range.
template <class D, class V>
HWY_INLINE V GeluErf32(D d, V x) {
  const UnsignedOf<D> du;
  const V z = hn::Min(hn::Abs(x), hn::Set(d, 15.0F));  // the tail is 0 there
  const V square = hn::Mul(z, z);
  const V square_low = hn::MulSub(z, z, square);
  // e^(-square / 2) = 2^k e^(-s / 2), s = square + 2 k log(2).
  const V magic = hn::Set(d, 0x1.8p23F + 64);
  const V shifted = hn::NegMulAdd(square, hn::Set(d, 0x1.715476p-1F), magic);
  const V k = hn::Sub(shifted, magic);
  const V high = hn::MulAdd(k, hn::Set(d, 0x1.62e4p+0F), square);  // exact: 15 bits times 8
  const V s = hn::Add(high, hn::MulAdd(k, hn::Set(d, 0x1.7f7d1cp-19F), square_low));
  const V slope = hn::MulAdd(s, Poly(d, s, coefficients::kExpHalf32), hn::Set(d, -0.5F));
  const V mantissa = hn::MulAdd(s, slope, hn::Set(d, 1.0F));
  const V power = hn::BitCast(
      d, hn::Add(hn::BitCast(du, mantissa), hn::ShiftLeft<23>(hn::BitCast(du, shifted))));
  const V w = hn::Div(z, hn::Add(z, hn::Set(d, 3.5F)));
  const V ratio = Poly(d, hn::Sub(w, hn::Set(d, 0.34375F)), coefficients::kGeluErf32);
  // Beyond 14.5 nothing is left; results that underflow would be slow.
  const V tail =
      hn::IfThenElseZero(hn::Lt(z, hn::Set(d, 14.5F)), hn::Mul(hn::Mul(w, ratio), power));
  const V y = hn::NegMulAdd(tail, hn::Set(d, 0x1p-64F), hn::Max(x, hn::Zero(d)));
  return KeepNaN(d, x, hn::CopySign(y, x));
}
#endif

template <class D, class V>
HWY_INLINE V GeluErf(D d, V x) {
  if constexpr (kIsF64<D>) {
    return GeluErf64<false>(d, x);
  } else {
#if HWY_NATIVE_FMA
    return GeluErf32(d, x);
#else
    return InF64(d, [](auto dd, auto v) HWY_ATTR { return GeluErf64<true>(dd, v); }, x);
#endif
  }
}

/// sin(x + quarters pi / 2), quarters 0 or 1.
template <class D, class V>
HWY_INLINE V SinCos(D d, V x, int quarters) {
  if constexpr (kIsF64<D>) {
    return SinCos64<false>(d, x, quarters);
  } else {
    return InF64(
        d, [quarters](auto dd, auto v) HWY_ATTR { return SinCos64<true>(dd, v, quarters); }, x);
  }
}

/// x^y.
template <class D, class V>
HWY_INLINE V Pow(D d, V x, V y) {
  if constexpr (kIsF64<D>) {
    return Pow64<false>(d, x, y);
  } else {
    return InF64(d, [](auto dd, auto v, auto e) HWY_ATTR { return Pow64<true>(dd, v, e); }, x, y);
  }
}

/// The nearest whole number, ties to even, with the sign of x.
template <class D, class V>
HWY_INLINE V RoundEven(D d, V x) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
  // Adding 2^mantissa leaves no room for a fraction.
  using T = hn::TFromD<D>;
  const V limit = hn::Set(d, static_cast<T>(std::uint64_t{1} << FloatFacts<T>::kMantissa));
  const V a = hn::Abs(x);
  const V rounded = hn::CopySign(hn::Sub(hn::Add(a, limit), limit), x);
  return hn::IfThenElse(hn::Lt(a, limit), rounded, x);
#else
  (void)d;
  return hn::Round(x);
#endif
}

template <class D, class V>
HWY_INLINE V RoundDown(D d, V x) {
  const V r = RoundEven(d, x);
  const V one = hn::IfThenElseZero(hn::Gt(r, x), hn::Set(d, 1.0F));
  return hn::CopySign(hn::Sub(r, one), x);
}

/// The nearest whole number, ties away from 0. Adding a half first would be wrong just below one.
template <class D, class V>
HWY_INLINE V RoundHalfAway(D d, V x) {
  const V a = hn::Abs(x);
  const V whole = RoundDown(d, a);
  const auto up = hn::Ge(hn::Sub(a, whole), hn::Set(d, 0.5F));
  return hn::CopySign(hn::Add(whole, hn::IfThenElseZero(up, hn::Set(d, 1.0F))), x);
}

template <class D, class V>
HWY_INLINE V RoundUp(D d, V x) {
  const V r = RoundEven(d, x);
  const V one = hn::IfThenElseZero(hn::Lt(r, x), hn::Set(d, 1.0F));
  return hn::CopySign(hn::Add(r, one), x);
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
