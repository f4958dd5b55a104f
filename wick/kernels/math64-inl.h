// SPDX-License-Identifier: Apache-2.0
// Elementary functions on vectors of f64. kShort: good to about 33 bits, for results that are
// rounded to f32; else as kernels/unary.h promises. Every argument is handled: signed zeros,
// subnormals, overflow, infinities, NaN. Multiplications and additions are fused only where MulAdd
// is written, so all sets with FMA give the same bits. Included once per instruction set.
//
// Sources: argument reduction after Cody and Waite, "Software Manual for the Elementary Functions"
// (1980) and Payne and Hanek (1983); double-length arithmetic after Dekker, "A floating-point
// technique for extending the available precision" (1971); polynomials after Muller, "Elementary
// Functions" (2006), made by tools/minimax.py.

#if defined(WICK_KERNELS_MATH64_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_MATH64_INL_H_
#undef WICK_KERNELS_MATH64_INL_H_
#else
#define WICK_KERNELS_MATH64_INL_H_
#endif

#include <cstddef>
#include <limits>
#include <utility>

#include "wick/kernels/coefficients.h"
#include "wick/kernels/payne_hanek.h"
#include "wick/kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

/// c[0] + c[1] x + ...
template <class D, class V, class C, std::size_t N>
HWY_INLINE V Poly(D d, V x, const C (&c)[N]) {
  V p = hn::Set(d, c[N - 1]);
  [&]<std::size_t... I>(std::index_sequence<I...>) HWY_ATTR {
    ((p = hn::MulAdd(p, x, hn::Set(d, c[N - 2 - I]))), ...);
  }(std::make_index_sequence<N - 1>());
  return p;
}

template <class T>
struct FloatFacts;
template <>
struct FloatFacts<double> {
  static constexpr int kMantissa = 52;
  static constexpr double kMagic = 0x1.8p52;  // adding it rounds to a whole number
};
template <>
struct FloatFacts<float> {
  static constexpr int kMantissa = 23;
  static constexpr float kMagic = 0x1.8p23F;
};

/// 2^k for whole k within the normal exponents.
template <class D, class V>
HWY_INLINE V PowerOfTwo(D d, V k) {
  using F = FloatFacts<hn::TFromD<D>>;
  using U = hn::TFromD<UnsignedOf<D>>;
  const UnsignedOf<D> du;
  const auto low_bits = hn::BitCast(du, hn::Add(k, hn::Set(d, F::kMagic)));
  const auto one =
      hn::Set(du, static_cast<U>(static_cast<U>(sizeof(U) == 8 ? 1023 : 127) << F::kMantissa));
  return hn::BitCast(d, hn::Add(hn::ShiftLeft<F::kMantissa>(low_bits), one));
}

/// v * 2^k with one rounding where the result is subnormal; k may be twice what is normal.
template <class D, class V>
HWY_INLINE V Scale(D d, V v, V k) {
  const auto magic = hn::Set(d, FloatFacts<hn::TFromD<D>>::kMagic);
  const V first = hn::Sub(hn::MulAdd(k, hn::Set(d, 0.5F), magic), magic);
  return hn::Mul(hn::Mul(v, PowerOfTwo(d, first)), PowerOfTwo(d, hn::Sub(k, first)));
}

/// min(max(x, low), high); a NaN gives any of the three.
template <class D, class V>
HWY_INLINE V Clip(D d, V x, hn::TFromD<D> low, hn::TFromD<D> high) {
  return hn::Min(hn::Max(x, hn::Set(d, low)), hn::Set(d, high));
}

template <class D, class V>
HWY_INLINE V KeepNaN(D, V x, V y) {
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// The product a * b as high + low, exactly.
template <class D, class V>
HWY_INLINE V ProductLow([[maybe_unused]] D d, V a, V b, V high) {
#if HWY_NATIVE_FMA
  return hn::MulSub(a, b, high);
#else
  const V split = hn::Set(d, 0x1p27 + 1);
  const V ca = hn::Mul(a, split), cb = hn::Mul(b, split);
  const V ah = hn::Sub(ca, hn::Sub(ca, a)), al = hn::Sub(a, ah);
  const V bh = hn::Sub(cb, hn::Sub(cb, b)), bl = hn::Sub(b, bh);
  V low = hn::Sub(hn::Mul(ah, bh), high);
  low = hn::Add(low, hn::Mul(ah, bl));
  low = hn::Add(low, hn::Mul(al, bh));
  return hn::Add(low, hn::Mul(al, bl));
#endif
}

/// e^x = 2^k (1 + head + tail), head + tail unevaluated.
template <class V>
struct ExpSplit {
  V k, head, tail;
};

template <bool kShort, class D, class V>
HWY_INLINE ExpSplit<V> SplitExp(D d, V x) {
  const V magic = hn::Set(d, 0x1.8p52);
  const V k = hn::Sub(hn::MulAdd(x, hn::Set(d, 0x1.71547652b82fep+0), magic), magic);
  const V r0 = hn::NegMulAdd(k, hn::Set(d, 0x1.62e42fee00000p-1), x);  // exact: 32 bits times 11
  const V r = hn::NegMulAdd(k, hn::Set(d, 0x1.a39ef35793c76p-33), r0);
  if constexpr (kShort) {
    return {k, r, hn::Mul(hn::Mul(r, r), Poly(d, r, coefficients::kExpShort))};
  } else {
    const V lost = hn::NegMulAdd(k, hn::Set(d, 0x1.a39ef35793c76p-33), hn::Sub(r0, r));
    return {k, r, hn::MulAdd(hn::Mul(r, r), Poly(d, r, coefficients::kExp), lost)};
  }
}

/// Turns e^x into e^(x + low) for tiny low.
template <class V>
HWY_INLINE void Shift(ExpSplit<V>& e, V low) {
  e.tail = hn::Add(e.tail, hn::MulAdd(low, hn::Add(e.head, e.tail), low));
}

/// 1 + head + tail.
template <bool kShort, class D, class V>
HWY_INLINE V Mantissa(D d, const ExpSplit<V>& e) {
  const V one = hn::Set(d, 1.0);
  const V sum = hn::Add(one, e.head);
  if constexpr (kShort) {
    return hn::Add(sum, e.tail);
  } else {
    const V lost = hn::Add(hn::Sub(one, sum), e.head);
    return hn::Add(sum, hn::Add(lost, e.tail));
  }
}

constexpr double kExpLow = -746.0, kExpHigh = 710.0;  // beyond, e^x is 0 or infinite

template <bool kShort, class D, class V>
HWY_INLINE V Exp64(D d, V x) {
  const auto e = SplitExp<kShort>(d, Clip(d, x, kExpLow, kExpHigh));
  return KeepNaN(d, x, Scale(d, Mantissa<kShort>(d, e), e.k));
}

template <bool kShort, class D, class V>
HWY_INLINE V Expm1_64(D d, V x) {
  const auto e = SplitExp<kShort>(d, Clip(d, x, -50.0, kExpHigh));
  const V power = PowerOfTwo(d, hn::Min(e.k, hn::Set(d, 60.0)));
  // (2^k - 1) + 2^k head, both exact, and what their sum loses.
  const V first = hn::Sub(power, hn::Set(d, 1.0));
  const V second = hn::Mul(power, e.head);
  const V sum = hn::Add(first, second);
  const V lost = hn::Sub(second, hn::Sub(sum, first));
  const V small = hn::Add(sum, hn::MulAdd(power, e.tail, lost));
  const V big = Scale(d, Mantissa<kShort>(d, e), e.k);
  const V y = hn::IfThenElse(hn::Gt(e.k, hn::Set(d, 56.0)), big, small);
  // Tiny arguments, and -0, are their own result.
  return KeepNaN(d, x, hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-54)), x, y));
}

/// x = 2^k m with m in [sqrt(1/2), sqrt(2)); x positive and finite. Gives k and m - 1.
template <class D, class V>
HWY_INLINE V LogParts(D d, V x, V& k) {
  const UnsignedOf<D> du;
  const auto tiny = hn::Lt(x, hn::Set(d, 0x1p-1022));
  const V normal = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p54)), x);
  constexpr std::uint64_t kRoot = 0x3FE6A09E667F3BCD, kOne = 0x3FF0000000000000;
  const auto t = hn::Add(hn::BitCast(du, normal), hn::Set(du, kOne - kRoot));
  // The exponent becomes a number by way of the bits of 2^52.
  const auto e = hn::Or(hn::ShiftRight<52>(t), hn::Set(du, 0x4330000000000000));
  const V bias = hn::IfThenElse(tiny, hn::Set(d, 0x1p52 + 1077), hn::Set(d, 0x1p52 + 1023));
  k = hn::Sub(hn::BitCast(d, e), bias);
  const auto m = hn::Add(hn::And(t, hn::Set(du, 0x000FFFFFFFFFFFFF)), hn::Set(du, kRoot));
  return hn::Sub(hn::BitCast(d, m), hn::Set(d, 1.0));
}

/// The values of a logarithm that are not numbers: x is 0, negative, infinite or NaN.
template <class D, class V>
HWY_INLINE V LogEdges(D d, V x, V y) {
  using T = hn::TFromD<D>;
  const V inf = hn::Set(d, std::numeric_limits<T>::infinity());
  y = hn::IfThenElse(hn::Eq(x, inf), inf, y);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(inf), y);
  y = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<T>::quiet_NaN()), y);
  return KeepNaN(d, x, y);
}

// With s = f / (2 + f): log(1 + f) = 2 atanh(s) = 2s + s R = f - s (f - R), and f is exact. `rest`
// is added to the logarithm: tiny beside it, or it is all that there is.
template <bool kShort, class D, class V>
HWY_INLINE V LogPlus64(D d, V x, V rest) {
  V k;
  const V f = LogParts(d, x, k);
  const V s = hn::Div(f, hn::Add(hn::Set(d, 2.0), f));
  const V w = hn::Mul(s, s);
  V r;
  if constexpr (kShort) {
    r = hn::Mul(w, Poly(d, w, coefficients::kLogShort));
  } else {
    r = hn::Mul(w, Poly(d, w, coefficients::kLog));
  }
  const V low = hn::NegMulAdd(k, hn::Set(d, 0x1.a39ef35793c76p-33), hn::Mul(s, hn::Sub(f, r)));
  return hn::MulAdd(k, hn::Set(d, 0x1.62e42fee00000p-1), hn::Sub(f, hn::Sub(low, rest)));
}
template <bool kShort, class D, class V>
HWY_INLINE V Log64(D d, V x) {
  return LogEdges(d, x, LogPlus64<kShort>(d, x, hn::Zero(d)));
}

/// log(1 + x): the logarithm of the rounded sum, and what the rounding lost over the sum.
template <bool kShort, class D, class V>
HWY_INLINE V Log1p64(D d, V x) {
  const V one = hn::Set(d, 1.0);
  const V sum = hn::Add(one, x);
  const V lost =
      hn::Sub(hn::Min(x, hn::Set(d, 0x1p53)), hn::Sub(hn::Min(sum, hn::Set(d, 0x1p53)), one));
  const V y = LogEdges(d, sum, LogPlus64<kShort>(d, sum, hn::Div(lost, sum)));
  // What is tiny, and -0, is its own result.
  return KeepNaN(d, x, hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-54)), x, y));
}

// Lanes too large for the short reduction, one by one.
template <class D, class V>
HWY_NOINLINE void ReduceLarge(D d, V x, V& r, V& low, V& k) {
  HWY_ALIGN double lanes[4][HWY_MAX_BYTES / 8];
  hn::Store(x, d, lanes[0]);
  hn::Store(r, d, lanes[1]);
  hn::Store(low, d, lanes[2]);
  hn::Store(k, d, lanes[3]);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    const double value = lanes[0][i];
    const double magnitude = value < 0 ? -value : value;
    if (magnitude <= 0x1p20) continue;
    Reduced reduced{std::numeric_limits<double>::quiet_NaN(), 0, 0};  // infinite or NaN
    if (magnitude <= std::numeric_limits<double>::max()) reduced = reduce_pi_2(value);
    lanes[1][i] = reduced.high;
    lanes[2][i] = reduced.low;
    lanes[3][i] = reduced.quadrant;
  }
  r = hn::Load(d, lanes[1]);
  low = hn::Load(d, lanes[2]);
  k = hn::Load(d, lanes[3]);
}

/// x = k pi/2 + r, |r| <= pi/4 or hardly more: sine and cosine of r, and k modulo 4 in the low bits
/// of `quadrant`.
template <class D, class V = hn::Vec<D>>
struct Angle {
  V sine, cosine;
  hn::Vec<UnsignedOf<D>> quadrant;
};
template <bool kShort, class D, class V>
HWY_INLINE Angle<D> AngleOf(D d, V x) {
  const UnsignedOf<D> du;
  const V magic = hn::Set(d, 0x1.8p52);
  V k = hn::Sub(hn::MulAdd(x, hn::Set(d, 0x1.45f306dc9c883p-1), magic), magic);
  // pi/2 in parts of 33, 33 and 53 bits: up to 2^20 the first two products are exact.
  const V r0 = hn::NegMulAdd(k, hn::Set(d, 0x1.921fb54400000p+0), x);
  const V w1 = hn::Mul(k, hn::Set(d, 0x1.0b4611a600000p-34));
  const V r1 = hn::Sub(r0, w1);
  const V lost = hn::Sub(hn::Sub(r0, r1), w1);
  const V w2 = hn::NegMulAdd(k, hn::Set(d, 0x1.3198a2e037073p-69), lost);
  V r = hn::Add(r1, w2);
  V low = hn::Add(hn::Sub(r1, r), w2);
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, 0x1p20)))))
    ReduceLarge(d, x, r, low, k);
  const V w = hn::Mul(r, r);
  const V one = hn::Set(d, 1.0), half = hn::Set(d, 0.5);
  V sine, cosine;
  if constexpr (kShort) {
    sine = hn::MulAdd(hn::Mul(r, w), Poly(d, w, coefficients::kSinShort), r);
    cosine =
        hn::MulAdd(hn::Mul(w, w), Poly(d, w, coefficients::kCosShort), hn::NegMulAdd(half, w, one));
  } else {
    // sin(r + low) = sin r + low cos r, cos(r + low) = cos r - low r to first order.
    const V cut = hn::Mul(half, w);
    const V tail =
        hn::MulAdd(hn::Mul(r, w), Poly(d, w, coefficients::kSin), hn::NegMulAdd(low, cut, low));
    sine = hn::Add(r, tail);
    const V head = hn::Sub(one, cut);
    const V rest = hn::Sub(hn::Sub(one, head), cut);
    cosine = hn::MulAdd(hn::Mul(w, w), Poly(d, w, coefficients::kCos), hn::NegMulAdd(r, low, rest));
    cosine = hn::Add(head, cosine);
  }
  return {sine, cosine, hn::BitCast(du, hn::Add(k, magic))};
}

/// sin(x + quarters * pi / 2) for quarters 0 (sine) or 1 (cosine).
template <bool kShort, class D, class V>
HWY_INLINE V SinCos64(D d, V x, int quarters) {
  const UnsignedOf<D> du;
  const Angle<D> a = AngleOf<kShort>(d, x);
  const auto quadrant = hn::Add(a.quadrant, hn::Set(du, static_cast<std::uint64_t>(quarters)));
  const auto odd = hn::Ne(hn::And(quadrant, hn::Set(du, 1)), hn::Zero(du));
  const auto sign = hn::ShiftLeft<62>(hn::And(quadrant, hn::Set(du, 2)));
  const V y = hn::IfThenElse(hn::RebindMask(d, odd), a.cosine, a.sine);
  const V signed_y = hn::Xor(y, hn::BitCast(d, sign));
  // -0 has sine -0, and what is tiny its own.
  if (quarters == 0) return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-27)), x, signed_y);
  return signed_y;
}

/// tan(x) = sine / cosine, or -cosine / sine an odd number of quarters on.
template <bool kShort, class D, class V>
HWY_INLINE V Tan64(D d, V x) {
  const UnsignedOf<D> du;
  const Angle<D> a = AngleOf<kShort>(d, x);
  const auto odd = hn::RebindMask(d, hn::Ne(hn::And(a.quadrant, hn::Set(du, 1)), hn::Zero(du)));
  const V y = hn::Div(hn::IfThenElse(odd, hn::Neg(a.cosine), a.sine),
                      hn::IfThenElse(odd, a.sine, a.cosine));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-27)), x, y);
}

/// a / (1 + e) for e in [0, 1], as if the sum were exact.
template <bool kShort, class D, class V>
HWY_INLINE V DivOnePlus(D d, V a, V e) {
  const V one = hn::Set(d, 1.0);
  const V sum = hn::Add(one, e);
  const V q = hn::Div(a, sum);
  if constexpr (kShort) return q;
  // The quotient less what the sum lost; 1 / (1 + e) is near 1 - e / 2.
  const V lost = hn::Sub(e, hn::Sub(sum, one));
  const V y = hn::NegMulAdd(hn::Mul(q, lost), hn::NegMulAdd(hn::Set(d, 0.5), e, one), q);
  return hn::CopySign(y, a);  // -0
}

template <bool kShort, class D, class V>
HWY_INLINE V Tanh64(D d, V x) {
  const V t = Expm1_64<kShort>(d, hn::Mul(hn::Set(d, -2.0), hn::Abs(x)));
  const V two = hn::Set(d, 2.0);
  const V sum = hn::Add(two, t);
  V y = hn::Div(t, sum);
  if constexpr (!kShort) {
    // Less what the sum lost; 1 / (2 + t) is near (1 - t) / 2 for t in [-1, 0].
    const V lost = hn::Sub(t, hn::Sub(sum, two));
    const V half = hn::Set(d, 0.5);
    y = hn::NegMulAdd(hn::Mul(y, lost), hn::NegMulAdd(half, t, half), y);
  }
  return hn::CopySign(hn::Abs(y), x);
}

/// e^(z^2) erfc(z) for z >= 0, after Shepherd and Laframboise, "Chebyshev approximation of
/// (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity" (1981); the coefficients are ours.
template <bool kShort, class D, class V>
HWY_INLINE V Erfcx64(D d, V z, V one_plus_2z) {
  const V k = hn::Set(d, 3.75);
  const V t = hn::Div(hn::Sub(z, k), hn::Add(z, k));
  V p;
  if constexpr (kShort) {
    p = Poly(d, t, coefficients::kErfcxShort);
  } else {
    p = Poly(d, t, coefficients::kErfcx);
  }
  return hn::Div(p, one_plus_2z);
}

template <bool kShort, class D, class V>
HWY_INLINE V Erf64(D d, V x) {
  const V a = hn::Abs(x);
  const V one = hn::Set(d, 1.0);
  const V w = hn::Mul(x, x);
  V near;
  if constexpr (kShort) {
    near = Poly(d, w, coefficients::kErfShort);
  } else {
    near = Poly(d, w, coefficients::kErf);
  }
  const V z = hn::Min(a, hn::Set(d, 7.0));  // erf is 1 there, to the last bit
  const auto parts = SplitExp<kShort>(d, hn::Neg(hn::Mul(z, z)));
  const V e = hn::Mul(Mantissa<kShort>(d, parts), PowerOfTwo(d, parts.k));
  const V far = hn::CopySign(
      hn::NegMulAdd(e, Erfcx64<kShort>(d, z, hn::MulAdd(hn::Set(d, 2.0), z, one)), one), x);
  return KeepNaN(d, x, hn::IfThenElse(hn::Lt(a, one), hn::Mul(x, near), far));
}

/// x / (1 + e^-t) where t = high + low has the sign of x: the common shape of silu and gelu. The
/// exponential's power of two is applied last, so that nothing is lost below the normal range.
template <bool kShort, class D, class V>
HWY_INLINE V Gate64(D d, V x, V high, [[maybe_unused]] V low) {
  const V t = hn::Max(hn::Neg(hn::Abs(high)), hn::Set(d, -800.0));
  auto parts = SplitExp<kShort>(d, t);
  const V k = parts.k;
  if constexpr (!kShort) Shift(parts, hn::Neg(hn::Xor(low, hn::And(high, hn::SignBit(d)))));
  const V e = Mantissa<kShort>(d, parts);
  const auto below = hn::Lt(x, hn::Zero(d));
  const V limited = hn::IfThenElse(below, hn::Max(x, hn::Set(d, -1000.0)), x);
  const V whole = DivOnePlus<kShort>(d, limited, Scale(d, e, k));
  const V y = hn::IfThenElse(below, Scale(d, hn::Mul(whole, e), k), whole);
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, 1000.0)), x, y);
}

template <bool kShort, class D, class V>
HWY_INLINE V Silu64(D d, V x) {
  return KeepNaN(d, x, Gate64<kShort>(d, x, x, hn::Zero(d)));
}

template <bool kShort, class D, class V>
HWY_INLINE V Sigmoid64(D d, V x) {
  const V one = hn::Set(d, 1.0);
  const V e = Exp64<kShort>(d, hn::Neg(hn::Abs(x)));
  return DivOnePlus<kShort>(d, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), e);
}

/// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|).
template <bool kShort, class D, class V>
HWY_INLINE V Softplus64(D d, V x) {
  const V rest = Log1p64<kShort>(d, Exp64<kShort>(d, hn::Neg(hn::Abs(x))));
  return KeepNaN(d, x, hn::Add(hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), x), rest));
}

template <bool kShort, class D, class V>
HWY_INLINE V Gelu64(D d, V x) {
  // 1 + tanh(u) = 2 / (1 + e^-2u); 2u = x (c1 + c3 x^2) is needed to twice the precision, because
  // its error is magnified by its size.
  const V c1 = hn::Set(d, 0x1.9884533d43651p+0), c3 = hn::Set(d, 0x1.2444f2a4d8b4bp-4);
  const V c = Clip(d, x, -60.0, 60.0);
  const V square = hn::Mul(c, c);
  if constexpr (kShort) {
    const V u = hn::Mul(c, hn::MulAdd(c3, square, c1));
    return KeepNaN(d, x, Gate64<true>(d, x, u, u));
  } else {
    const V v = hn::Mul(c3, square);
    const V square_low = ProductLow(d, c, c, square);
    V low = ProductLow(d, c3, square, v);
    low = hn::MulAdd(c3, square_low, low);
    low = hn::MulAdd(hn::Set(d, -0x1.6c843a29d1c70p-61), square, low);
    low = hn::Add(low, hn::Set(d, -0x1.cbc0d30ebfd15p-54));
    const V sum = hn::Add(c1, v);
    const V part = hn::Sub(sum, c1);
    const V lost = hn::Add(hn::Sub(c1, hn::Sub(sum, part)), hn::Sub(v, part));
    low = hn::Add(low, lost);
    const V u = hn::Mul(c, sum);
    return KeepNaN(d, x, Gate64<false>(d, x, u, hn::MulAdd(c, low, ProductLow(d, c, sum, u))));
  }
}

template <bool kShort, class D, class V>
HWY_INLINE V GeluErf64(D d, V x) {
  // x/2 erfc(-x / sqrt(2)); for positive x by way of erfc(-z) = 2 - erfc(z).
  const V one = hn::Set(d, 1.0), half = hn::Set(d, 0.5);
  const V c = Clip(d, x, -60.0, 60.0);
  const V square = hn::Mul(c, c);
  auto parts = SplitExp<kShort>(d, hn::Max(hn::Mul(square, hn::Neg(half)), hn::Set(d, -800.0)));
  const V k = parts.k;
  if constexpr (!kShort) Shift(parts, hn::Mul(hn::Neg(half), ProductLow(d, c, c, square)));
  const V e = Mantissa<kShort>(d, parts);
  const V z = hn::Mul(hn::Abs(c), hn::Set(d, 0x1.6a09e667f3bcdp-1));
  const V den = hn::MulAdd(hn::Abs(c), hn::Set(d, 0x1.6a09e667f3bcdp+0), one);
  const V tail = hn::Mul(half, hn::Mul(e, Erfcx64<kShort>(d, z, den)));
  V above = hn::Mul(x, hn::Sub(one, Scale(d, tail, k)));
  V below = Scale(d, hn::Mul(c, tail), k);
  if constexpr (!kShort) {
    // Near zero the complement has few correct digits more than the result needs.
    const V w = hn::Mul(half, square);
    const V erf =
        hn::Mul(hn::Mul(c, hn::Set(d, 0x1.6a09e667f3bcdp-1)), Poly(d, w, coefficients::kErf));
    const V half_x = hn::Mul(half, c);
    const V near = hn::CopySign(hn::MulAdd(half_x, erf, half_x), x);
    const auto inside = hn::Lt(w, one);
    above = hn::IfThenElse(inside, near, above);
    below = hn::IfThenElse(hn::And(inside, hn::Gt(c, hn::Neg(one))), near, below);
  }
  return KeepNaN(d, x, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), below, above));
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
