// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace wick {

// The small float formats: IEEE 754 binary16, bfloat16, and the OCP 8-bit, 6-bit and 4-bit formats
// (OFP8 1.0; Microscaling Formats MX 1.0). One template reads and writes them all; it is the
// reference that the vector kernels are tested against.

/// What makes one small float format.
struct SmallFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;  ///< the top exponent holds inf and NaN, as in IEEE 754
  bool has_nan;       ///< without infinity: only the all-ones code is NaN
};

namespace small {

inline constexpr SmallFormat kF16{5, 10, 15, true, true};
inline constexpr SmallFormat kBF16{8, 7, 127, true, true};
inline constexpr SmallFormat kF8E4M3{4, 3, 7, false, true};
inline constexpr SmallFormat kF6E2M3{2, 3, 1, false, false};
inline constexpr SmallFormat kF6E3M2{3, 2, 3, false, false};
inline constexpr SmallFormat kF4E2M1{2, 1, 1, false, false};

/// The largest finite code, without its sign.
constexpr std::uint32_t max_code(SmallFormat f) {
  const std::uint32_t all = (1U << (f.exponent_bits + f.mantissa_bits)) - 1;
  if (f.has_infinity) return all - (1U << f.mantissa_bits);
  return f.has_nan ? all - 1 : all;
}

/// Code to f32; exact.
constexpr float decode(SmallFormat f, std::uint32_t code) {
  const std::uint32_t mantissa_mask = (1U << f.mantissa_bits) - 1;
  const std::uint32_t exponent_mask = (1U << f.exponent_bits) - 1;
  const std::uint32_t sign = (code >> (f.exponent_bits + f.mantissa_bits)) & 1U;
  const std::uint32_t exponent = (code >> f.mantissa_bits) & exponent_mask;
  const std::uint32_t mantissa = code & mantissa_mask;
  const std::uint32_t shift = 23U - static_cast<std::uint32_t>(f.mantissa_bits);
  std::uint32_t bits = 0;
  const bool top = exponent == exponent_mask;
  if (f.has_infinity && top) {
    // A NaN keeps its payload and becomes quiet.
    bits = 0x7F800000U | (mantissa << shift) | (mantissa != 0 ? 0x00400000U : 0U);
  } else if (!f.has_infinity && f.has_nan && top && mantissa == mantissa_mask) {
    bits = 0x7FC00000U;
  } else if (exponent != 0) {
    bits = ((exponent + 127U - static_cast<std::uint32_t>(f.bias)) << 23) | (mantissa << shift);
  } else if (mantissa != 0) {
    if (f.exponent_bits == 8) {
      bits = mantissa << shift;  // bf16 subnormals are f32 subnormals
    } else {
      const auto top_bit = static_cast<std::uint32_t>(std::bit_width(mantissa)) - 1U;
      const std::uint32_t e = top_bit + 128U - static_cast<std::uint32_t>(f.bias + f.mantissa_bits);
      bits = (e << 23) | ((mantissa << (23U - top_bit)) & 0x007FFFFFU);
    }
  }
  return std::bit_cast<float>(bits | (sign << 31));
}

/// f32 to code: nearest, ties to even. Beyond the largest finite value: infinity where the format
/// has one, else the largest finite value. NaN stays NaN where the format has one, else becomes
/// the largest finite value (MX leaves it open).
constexpr std::uint32_t encode(SmallFormat f, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 31) << (f.exponent_bits + f.mantissa_bits);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t all = (1U << (f.exponent_bits + f.mantissa_bits)) - 1;
  const std::uint32_t shift = 23U - static_cast<std::uint32_t>(f.mantissa_bits);
  const std::uint32_t largest = max_code(f);
  if (magnitude > 0x7F800000U) {
    if (!f.has_nan) return sign | largest;
    if (!f.has_infinity) return sign | all;
    const std::uint32_t quiet = 1U << (f.mantissa_bits - 1);
    return sign | (all - ((1U << f.mantissa_bits) - 1)) | quiet |
           ((magnitude & 0x7FFFFFU) >> shift);
  }
  if (magnitude == 0x7F800000U) return sign | (f.has_infinity ? largest + 1 : largest);
  std::uint32_t code = 0;
  const int exponent = static_cast<int>(magnitude >> 23) - 127 + f.bias;
  if (exponent >= 1 || f.exponent_bits == 8) {
    // Rebias, then round at the lowest kept bit; a carry runs into the exponent, as it should.
    const std::uint32_t rebased = magnitude - (static_cast<std::uint32_t>(127 - f.bias) << 23);
    const std::uint32_t odd = (rebased >> shift) & 1U;
    code = (rebased + ((1U << (shift - 1)) - 1U) + odd) >> shift;
  } else if (exponent > -f.mantissa_bits - 1) {
    const std::uint32_t mantissa = (magnitude & 0x7FFFFFU) | 0x800000U;
    const std::uint32_t drop = shift + static_cast<std::uint32_t>(1 - exponent);
    const std::uint32_t odd = (mantissa >> drop) & 1U;
    code = (mantissa + ((1U << (drop - 1)) - 1U) + odd) >> drop;
  }
  if (code > largest) code = f.has_infinity ? largest + 1 : largest;
  return sign | code;
}

/// f64 to f32 with round-to-odd: a second rounding to a format with at least two bits less then
/// gives the same as one rounding from f64 (Boldo & Melquiond, "When double rounding is odd").
inline float to_f32_odd(double value) {
  const auto near = static_cast<float>(value);
  if (!(std::fabs(value) <= std::fabs(near)) && !(std::fabs(value) > std::fabs(near))) return near;
  const double back = near;
  if (back == value) return near;
  auto bits = std::bit_cast<std::uint32_t>(near);
  if (std::fabs(back) > std::fabs(value)) --bits;  // truncate towards zero, then make it odd
  return std::bit_cast<float>(bits | 1U);
}

}  // namespace small

/// IEEE 754 binary16, held as its bits.
struct f16 {
  std::uint16_t bits;
  friend constexpr bool operator==(f16, f16) = default;  ///< of the bits, not of the values
};

/// bfloat16: the upper half of an f32, held as its bits.
struct bf16 {
  std::uint16_t bits;
  friend constexpr bool operator==(bf16, bf16) = default;  ///< of the bits, not of the values
};

/// OCP 8-bit float E4M3: 448 is the largest value, there is no infinity, 0x7F and 0xFF are NaN.
struct f8e4m3 {
  std::uint8_t bits;
  friend constexpr bool operator==(f8e4m3, f8e4m3) = default;  ///< of the bits, not of the values
};

/// Exact widening.
constexpr float to_f32(f16 x) { return small::decode(small::kF16, x.bits); }
constexpr float to_f32(bf16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}
constexpr float to_f32(f8e4m3 x) { return small::decode(small::kF8E4M3, x.bits); }
constexpr float to_f32(float x) { return x; }

/// Nearest, ties to even; NaN stays NaN; f8e4m3 saturates to ±448.
constexpr f16 to_f16(float x) {
  return {static_cast<std::uint16_t>(small::encode(small::kF16, x))};
}
constexpr bf16 to_bf16(float x) {
  return {static_cast<std::uint16_t>(small::encode(small::kBF16, x))};
}
constexpr f8e4m3 to_f8e4m3(float x) {
  return {static_cast<std::uint8_t>(small::encode(small::kF8E4M3, x))};
}

}  // namespace wick
