// SPDX-License-Identifier: Apache-2.0
// Powers of vectors of f64; see math64-inl.h. Included once per instruction set.

#if defined(WICK_KERNELS_POW64_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_POW64_INL_H_
#undef WICK_KERNELS_POW64_INL_H_
#else
#define WICK_KERNELS_POW64_INL_H_
#endif

#include <limits>

#include "wick/kernels/math64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

/// Whether x has no fraction; true for infinities, false for NaN.
template <class D, class V>
HWY_INLINE hn::Mask<D> IsWhole(D d, V x) {
  const V a = hn::Abs(x);
  const V limit = hn::Set(d, 0x1p52);
  const V rounded = hn::Sub(hn::Add(a, limit), limit);
  return hn::Or(hn::Ge(a, limit), hn::Eq(rounded, a));
}

/// |x|^y by way of e^(y log |x|); the logarithm, and its product with y, to twice the precision.
template <bool kShort, class D, class V>
HWY_INLINE V PowMagnitude(D d, V a, V y) {
  if constexpr (kShort) {
    return Exp64<true>(d, hn::Mul(y, Log64<false>(d, a)));
  } else {
    V k;
    const V f = LogParts(d, a, k);
    // s = f / (2 + f) as high + low.
    const V den = hn::Add(hn::Set(d, 2.0), f);
    const V den_low = hn::Sub(f, hn::Sub(den, hn::Set(d, 2.0)));
    const V s = hn::Div(f, den);
    const V product = hn::Mul(s, den);
    V rest = hn::Sub(hn::Sub(f, product), ProductLow(d, s, den, product));
    rest = hn::NegMulAdd(s, den_low, rest);
    const V s_low = hn::Div(rest, den);
    // s^2, and the series 2/3 + s^2 q.
    const V w = hn::Mul(s, s);
    const V w_low = hn::MulAdd(hn::Add(s, s), s_low, ProductLow(d, s, s, w));
    const V q = hn::Mul(w, Poly(d, w, coefficients::kPow));
    const V third = hn::Set(d, 0x1.5555555555555p-1);
    const V r = hn::Add(third, q);
    const V r_low = hn::Add(hn::Sub(q, hn::Sub(r, third)), hn::Set(d, 0x1.5555555555555p-55));
    // s^3 times that.
    const V cube = hn::Mul(s, w);
    V cube_low = hn::MulAdd(s, w_low, ProductLow(d, s, w, cube));
    cube_low = hn::MulAdd(s_low, w, cube_low);
    const V tail = hn::Mul(cube, r);
    V tail_low = hn::MulAdd(cube, r_low, ProductLow(d, cube, r, tail));
    tail_low = hn::MulAdd(cube_low, r, tail_low);
    // k ln 2 + 2s + tail, in order of size. The first product is exact.
    const V base = hn::Mul(k, hn::Set(d, 0x1.62e42fee00000p-1));
    const V twice = hn::Add(s, s);
    const V a1 = hn::Add(base, twice);
    const V part = hn::Sub(a1, base);
    const V e1 = hn::Add(hn::Sub(base, hn::Sub(a1, part)), hn::Sub(twice, part));
    const V ln2 = hn::Set(d, 0x1.a39ef35793c76p-33);
    const V base2 = hn::Mul(k, ln2);
    V low = hn::Add(hn::Add(s_low, s_low), tail_low);
    low = hn::Add(low, ProductLow(d, k, ln2, base2));
    low = hn::MulAdd(k, hn::Set(d, 0x1.cc01f97b57a08p-87), low);
    const V part2 = hn::Add(tail, base2);
    const V part3 = hn::Sub(part2, tail);
    low = hn::Add(low, hn::Add(hn::Sub(tail, hn::Sub(part2, part3)), hn::Sub(base2, part3)));
    const V a2 = hn::Add(a1, part2);
    const V part4 = hn::Sub(a2, a1);
    low = hn::Add(low, hn::Add(hn::Sub(a1, hn::Sub(a2, part4)), hn::Sub(part2, part4)));
    low = hn::Add(low, e1);
    const V logarithm = hn::Add(a2, low);
    const V log_low = hn::Sub(low, hn::Sub(logarithm, a2));
    // Times y. Out of range only the sign of the product matters.
    const V limited = hn::Min(hn::Max(y, hn::Set(d, -0x1p100)), hn::Set(d, 0x1p100));
    const V t = hn::Mul(limited, logarithm);
    const V t_low = hn::MulAdd(limited, log_low, ProductLow(d, limited, logarithm, t));
    const auto inside = hn::Lt(hn::Abs(t), hn::Set(d, 800.0));
    const V clipped = Clip(d, t, -800.0, 800.0);
    auto parts = SplitExp<false>(d, clipped);
    Shift(parts, hn::IfThenElse(inside, t_low, hn::Zero(d)));
    const V e = Mantissa<false>(d, parts);
    V result = Scale(d, e, parts.k);
    const V inf = hn::Set(d, std::numeric_limits<double>::infinity());
    // Zero and infinity have no logarithm.
    const auto rises = hn::Gt(y, hn::Zero(d));
    result =
        hn::IfThenElse(hn::Eq(a, hn::Zero(d)), hn::IfThenElse(rises, hn::Zero(d), inf), result);
    return hn::IfThenElse(hn::Eq(a, inf), hn::IfThenElse(rises, inf, hn::Zero(d)), result);
  }
}

/// x^y as C's pow defines it.
template <bool kShort, class D, class V>
HWY_INLINE V Pow64(D d, V x, V y) {
  const V one = hn::Set(d, 1.0), zero = hn::Zero(d);
  const V a = hn::Abs(x);
  V result = PowMagnitude<kShort>(d, a, y);
  result = hn::IfThenElse(hn::Eq(a, one), one, result);
  // Negative bases: an odd exponent keeps the sign, a fraction makes it NaN. From 2^53 on all
  // exponents are even.
  const auto whole = IsWhole(d, y);
  const auto odd = hn::And(whole, hn::Not(IsWhole(d, hn::Mul(y, hn::Set(d, 0.5)))));
  const V sign = hn::And(x, hn::SignBit(d));
  result = hn::IfThenElse(odd, hn::Or(result, sign), result);
  const V inf = hn::Set(d, std::numeric_limits<double>::infinity());
  const auto bad = hn::And(hn::Not(whole), hn::And(hn::Lt(x, zero), hn::Lt(a, inf)));
  result = hn::IfThenElse(bad, hn::Set(d, std::numeric_limits<double>::quiet_NaN()), result);
  result = KeepNaN(d, x, KeepNaN(d, y, result));
  return hn::IfThenElse(hn::Or(hn::Eq(x, one), hn::Eq(y, zero)), one, result);
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
