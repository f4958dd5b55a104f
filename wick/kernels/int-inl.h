// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic that wraps, for every width. Included once per instruction set.

#if defined(WICK_KERNELS_INT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_INT_INL_H_
#undef WICK_KERNELS_INT_INL_H_
#else
#define WICK_KERNELS_INT_INL_H_
#endif

#include "wick/kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

/// a + b and a - b, as unsigned numbers: those wrap by definition.
template <class D, class V>
HWY_INLINE V AddInt(D d, V a, V b) {
  const UnsignedOf<D> du;
  return hn::BitCast(d, hn::Add(hn::BitCast(du, a), hn::BitCast(du, b)));
}
template <class D, class V>
HWY_INLINE V SubInt(D d, V a, V b) {
  const UnsignedOf<D> du;
  return hn::BitCast(d, hn::Sub(hn::BitCast(du, a), hn::BitCast(du, b)));
}

/// The low half of a product of u16. EMU128 multiplies such lanes as int, which may overflow.
template <class D, class V>
HWY_INLINE V Mul16(D d, V a, V b) {
#if HWY_TARGET == HWY_EMU128
  const hn::Repartition<std::uint32_t, D> dw;
  const auto low = hn::Set(dw, 0xFFFF);
  const auto wa = hn::BitCast(dw, a), wb = hn::BitCast(dw, b);
  const auto even = hn::And(hn::Mul(hn::And(wa, low), hn::And(wb, low)), low);
  const auto odd = hn::Mul(hn::ShiftRight<16>(wa), hn::ShiftRight<16>(wb));
  return hn::BitCast(d, hn::Or(even, hn::ShiftLeft<16>(odd)));
#else
  (void)d;
  return hn::Mul(a, b);
#endif
}

/// The low half of a * b.
template <class D, class V>
HWY_INLINE V MulInt(D d, V a, V b) {
  const UnsignedOf<D> du;
  const auto ua = hn::BitCast(du, a), ub = hn::BitCast(du, b);
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    // No product of bytes exists: even and odd ones as halves of 16-bit lanes.
    const hn::Repartition<std::uint16_t, D> dw;
    const auto wa = hn::BitCast(dw, a), wb = hn::BitCast(dw, b);
    const auto even = hn::And(Mul16(dw, wa, wb), hn::Set(dw, 0xFF));
    const auto odd = hn::ShiftLeft<8>(Mul16(dw, hn::ShiftRight<8>(wa), hn::ShiftRight<8>(wb)));
    return hn::BitCast(d, hn::Or(even, odd));
  } else if constexpr (sizeof(hn::TFromD<D>) == 2) {
    return hn::BitCast(d, Mul16(du, ua, ub));
  } else if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::BitCast(d, hn::Mul(ua, ub));
  } else {
    // By 32-bit halves; the product of the high ones is beyond 64 bits.
    const hn::Repartition<std::uint32_t, D> dh;
    const auto ha = hn::BitCast(dh, a), hb = hn::BitCast(dh, b);
    const auto low = hn::MulEven(ha, hb);
    const auto cross = hn::Add(hn::MulEven(hn::BitCast(dh, hn::ShiftRight<32>(ua)), hb),
                               hn::MulEven(ha, hn::BitCast(dh, hn::ShiftRight<32>(ub))));
    return hn::BitCast(d, hn::Add(low, hn::ShiftLeft<32>(cross)));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
