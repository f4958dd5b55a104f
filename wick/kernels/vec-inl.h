// SPDX-License-Identifier: Apache-2.0
// Loads and stores that hide how an element type is kept: every float type arrives as vectors of
// f32 (f64 for f64), integers as they are. Included once per instruction set, after highway.h.

#if defined(WICK_KERNELS_VEC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_VEC_INL_H_
#undef WICK_KERNELS_VEC_INL_H_
#else
#define WICK_KERNELS_VEC_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "wick/core/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using UnsignedOf = hn::RebindToUnsigned<D>;
template <class D>
using SignedOf = hn::RebindToSigned<D>;

/// The bits of a vector of floats, and back.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<UnsignedOf<D>> Bits(D, V v) {
  return hn::BitCast(UnsignedOf<D>(), v);
}

// bf16 is the upper half of f32. Rounding is ours: Highway 1.0.3's DemoteTo truncates.
struct BF16Code {
  using Stored = std::uint16_t;

  template <class D, class VU>
  HWY_INLINE static hn::Vec<D> Decode(D d, VU code) {  // code: u32 lanes
    return hn::BitCast(d, hn::ShiftLeft<16>(code));
  }
  template <class D, class V>
  HWY_INLINE static hn::Vec<UnsignedOf<D>> Encode(D, V v) {
    const UnsignedOf<D> du;
    const auto bits = hn::BitCast(du, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(du, 0x7FFF)), odd));
    const auto quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(du, 0x40));
    return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), quiet, rounded);
  }
};

// Formats with fewer exponent bits than f32, by integer arithmetic, so that neither a rounding mode
// of the format conversion instructions nor flushing of subnormals matters. kMax: largest finite
// code.
template <class StoredT, int kExponent, int kMantissa, bool kInfinity>
struct NarrowCode {
  using Stored = StoredT;
  static constexpr int kShift = 23 - kMantissa;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr int kBits = kExponent + kMantissa;
  static constexpr std::uint32_t kAll = (1U << kBits) - 1;
  static constexpr std::uint32_t kTop = kAll & ~((1U << kMantissa) - 1);  // exponent of ones
  static constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - kBias) << 23;

  template <class D, class VU>
  HWY_INLINE static hn::Vec<D> Decode(D d, VU code) {
    const UnsignedOf<D> du;
    const SignedOf<D> di;
    const auto magnitude = hn::And(code, hn::Set(du, kAll));
    const auto sign = hn::ShiftLeft<31 - kBits>(hn::AndNot(hn::Set(du, kAll), code));
    const auto shifted = hn::ShiftLeft<kShift>(magnitude);
    auto bits = hn::Add(shifted, hn::Set(du, kRebias));
    // Subnormals are whole multiples of the smallest one.
    const auto unit =
        hn::Set(d, hn::GetLane(hn::BitCast(
                       d, hn::Set(du, static_cast<std::uint32_t>(128 - kBias - kMantissa) << 23))));
    const auto small = hn::Mul(hn::ConvertTo(d, hn::BitCast(di, magnitude)), unit);
    const auto is_small = hn::Lt(hn::BitCast(di, magnitude), hn::Set(di, 1 << kMantissa));
    bits = hn::IfThenElse(hn::RebindMask(du, is_small), hn::BitCast(du, small), bits);
    if constexpr (kInfinity) {
      const auto special = hn::Ge(hn::BitCast(di, magnitude), hn::Set(di, kTop));
      const auto nan = hn::Gt(hn::BitCast(di, magnitude), hn::Set(di, kTop));
      auto wide = hn::Or(shifted, hn::Set(du, 0x7F800000U));
      wide = hn::Or(wide, hn::IfThenElseZero(hn::RebindMask(du, nan), hn::Set(du, 0x00400000U)));
      bits = hn::IfThenElse(hn::RebindMask(du, special), wide, bits);
    } else {
      const auto nan = hn::Eq(magnitude, hn::Set(du, kAll));
      bits = hn::IfThenElse(nan, hn::Set(du, 0x7FC00000U), bits);
    }
    return hn::BitCast(d, hn::Or(bits, sign));
  }

  template <class D, class V>
  HWY_INLINE static hn::Vec<UnsignedOf<D>> Encode(D d, V v) {
    const UnsignedOf<D> du;
    const SignedOf<D> di;
    const auto bits = hn::BitCast(du, v);
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFU));
    const auto sign = hn::ShiftLeft<kBits>(hn::ShiftRight<31>(bits));
    const auto odd = hn::And(hn::ShiftRight<kShift>(magnitude), hn::Set(du, 1));
    const auto half = hn::Set(du, (1U << (kShift - 1)) - 1U);
    const auto rebased = hn::Sub(magnitude, hn::Set(du, kRebias));
    auto code = hn::ShiftRight<kShift>(hn::Add(hn::Add(rebased, half), odd));
    // Below the normal range: adding a number whose last bit is the smallest subnormal rounds.
    const auto magic_bits = hn::Set(du, static_cast<std::uint32_t>(151 - kBias - kMantissa) << 23);
    const auto magic = hn::BitCast(d, magic_bits);
    const auto small =
        hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, magnitude), magic)), magic_bits);
    const auto is_small = hn::Lt(hn::BitCast(di, magnitude),
                                 hn::Set(di, static_cast<std::int32_t>(kRebias + (1U << 23))));
    code = hn::IfThenElse(hn::RebindMask(du, is_small), small, code);
    const auto limit = hn::Set(du, kInfinity ? kTop : kAll - 1);
    // As signed numbers: all are below 2^31.
    code = hn::BitCast(du, hn::Min(hn::BitCast(di, code), hn::BitCast(di, limit)));
    auto nan = hn::Set(du, kAll);
    if constexpr (kInfinity) {
      nan = hn::And(hn::ShiftRight<kShift>(magnitude), hn::Set(du, (1U << kMantissa) - 1));
      nan = hn::Or(nan, hn::Set(du, kTop | (1U << (kMantissa - 1))));
    }
    code = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), nan, code);
    return hn::Or(code, sign);
  }
};

/// How elements of type T are loaded as vectors to compute with, and stored. One element of T
/// belongs to each lane. f32, f64 and the integers are used as they are.
template <class T>
struct Lanes {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  HWY_INLINE static V Load(D d, const T* p) { return hn::LoadU(d, p); }
  HWY_INLINE static void Store(D d, V v, T* p) { hn::StoreU(v, d, p); }
};

template <class T, class Code>
struct SmallLanes {
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;
  using DU = UnsignedOf<D>;
  using DS = hn::Rebind<typename Code::Stored, D>;
  using Stored = typename Code::Stored;
  static_assert(sizeof(T) == sizeof(Stored));

  HWY_INLINE static V Load(D d, const T* p) {
    const auto narrow = hn::LoadU(DS(), reinterpret_cast<const Stored*>(p));
    return Code::Decode(d, hn::PromoteTo(DU(), narrow));
  }
  HWY_INLINE static void Store(D d, V v, T* p) {
    const auto code = hn::BitCast(SignedOf<D>(), Code::Encode(d, v));
    hn::StoreU(hn::DemoteTo(DS(), code), DS(), reinterpret_cast<Stored*>(p));
  }
};

template <>
struct Lanes<bf16> : SmallLanes<bf16, BF16Code> {};
template <>
struct Lanes<f8e4m3> : SmallLanes<f8e4m3, NarrowCode<std::uint8_t, 4, 3, false>> {};
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR || HWY_ARCH_WASM
template <>
struct Lanes<f16> : SmallLanes<f16, NarrowCode<std::uint16_t, 5, 10, true>> {};
#else
/// The conversion instructions do what to_f16 and to_f32 do, NaNs included.
template <>
struct Lanes<f16> {
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;
  using DH = hn::Rebind<hwy::float16_t, D>;
  using DU = hn::Rebind<std::uint16_t, D>;
  HWY_INLINE static V Load(D d, const f16* p) {
    const auto bits = hn::LoadU(DU(), reinterpret_cast<const std::uint16_t*>(p));
    return hn::PromoteTo(d, hn::BitCast(DH(), bits));
  }
  HWY_INLINE static void Store(D, V v, f16* p) {
    const auto bits = hn::BitCast(DU(), hn::DemoteTo(DH(), v));
    hn::StoreU(bits, DU(), reinterpret_cast<std::uint16_t*>(p));
  }
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
