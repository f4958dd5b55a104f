// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "wick/core/dtype.h"

namespace wick {

// Conversions between single elements: what the cast op means, and the reference for its kernels.

namespace detail {

/// Truncates, saturates at the ends of Int, NaN becomes 0.
template <Int To, class From>
constexpr To saturate(From x) {
  // Both ends as floats: low is a power of two or 0, high + 1 is a power of two; both exact.
  constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
  constexpr From past = static_cast<From>(To{1} << (std::numeric_limits<To>::digits - 1)) * From{2};
  if (x >= past) return std::numeric_limits<To>::max();
  if (x > low) return static_cast<To>(x);
  return x <= low ? std::numeric_limits<To>::min() : To{0};  // 0 for NaN
}

/// A 64-bit integer as an f64 that rounds once, and the right way, to any small float: bits that
/// an f64 cannot hold are gathered into its last bit (round to odd).
inline double to_f64_odd(i64 x) {
  const bool negative = x < 0;
  std::uint64_t m = negative ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
  if (m >> 53 != 0) m = (m & ~std::uint64_t{0x7FF}) | ((m & 0x7FF) != 0 ? 0x800 : 0);
  const auto d = static_cast<double>(m);
  return negative ? -d : d;
}

template <SmallFloat To>
constexpr To round_to(float x) {
  if constexpr (std::same_as<To, f16>) return to_f16(x);
  if constexpr (std::same_as<To, bf16>) return to_bf16(x);
  if constexpr (std::same_as<To, f8e4m3>) return to_f8e4m3(x);
}

}  // namespace detail

/// x as a To. Float to float rounds to nearest, ties to even, once, whatever the two formats are;
/// float to integer truncates and saturates, NaN becomes 0; integer to integer wraps; an integer to
/// a float rounds to nearest.
template <Element To, Element From>
inline To convert(From x) {
  if constexpr (std::same_as<To, From>) {
    return x;
  } else if constexpr (Int<To>) {
    if constexpr (Int<From>) {
      return static_cast<To>(x);
    } else if constexpr (SmallFloat<From>) {
      return detail::saturate<To>(to_f32(x));
    } else {
      return detail::saturate<To>(x);
    }
  } else if constexpr (SmallFloat<From>) {
    return convert<To>(to_f32(x));
  } else if constexpr (SmallFloat<To>) {
    if constexpr (std::same_as<From, f32>) {
      return detail::round_to<To>(x);
    } else if constexpr (std::same_as<From, i64>) {
      return detail::round_to<To>(small::to_f32_odd(detail::to_f64_odd(x)));
    } else {
      return detail::round_to<To>(small::to_f32_odd(static_cast<f64>(x)));
    }
  } else {
    return static_cast<To>(x);
  }
}

/// Elements of the packed formats, by number: `bits` wide, low bits first.
template <Raw T>
struct RawFormat;
template <>
struct RawFormat<f6e2m3> {
  static constexpr SmallFormat kFormat = small::kF6E2M3;
};
template <>
struct RawFormat<f6e3m2> {
  static constexpr SmallFormat kFormat = small::kF6E3M2;
};
template <>
struct RawFormat<f4> {
  static constexpr SmallFormat kFormat = small::kF4E2M1;
};

/// Element i of packed data as f32; exact. (2^-127 of f8e8m0 is a subnormal.)
template <Raw T>
float raw_load(const T* data, Index i) {
  if constexpr (std::same_as<T, f8e8m0>) {
    const u8 e = data[i].byte;
    return e == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0F, int{e} - 127);
  } else {
    constexpr int kBits = bits(dtype_of<T>);
    const Index at = i * kBits;
    std::uint32_t word = data[at / 8].byte;
    if (at % 8 + kBits > 8) word |= static_cast<std::uint32_t>(data[at / 8 + 1].byte) << 8;
    return small::decode(RawFormat<T>::kFormat, (word >> (at % 8)) & ((1U << kBits) - 1));
  }
}

/// Stores x as element i: nearest, ties to even, saturating at the largest value. f8e8m0 takes the
/// nearest power of two of |x| (ties up), NaN for NaN, and 2^-127 for 0.
template <Raw T>
void raw_store(T* data, Index i, float x) {
  if constexpr (std::same_as<T, f8e8m0>) {
    const float a = std::fabs(x);
    if (std::isnan(a)) {
      data[i].byte = 255;
    } else if (std::isinf(a)) {
      data[i].byte = 254;
    } else if (a <= 0.0F) {
      data[i].byte = 0;
    } else {
      int e = 0;
      const float m = std::frexp(a, &e);  // a = m * 2^e, m in [0.5, 1)
      const int code = e - 1 + (m >= 0.75F ? 1 : 0) + 127;
      data[i].byte = static_cast<u8>(code < 0 ? 0 : code > 254 ? 254 : code);
    }
  } else {
    constexpr int kBits = bits(dtype_of<T>);
    constexpr std::uint32_t kMask = (1U << kBits) - 1;
    const Index at = i * kBits;
    const std::uint32_t code = small::encode(RawFormat<T>::kFormat, x);
    const auto put = [&](Index byte, std::uint32_t value, std::uint32_t mask) {
      data[byte].byte = static_cast<u8>((data[byte].byte & ~mask) | (value & mask));
    };
    put(at / 8, code << (at % 8), kMask << (at % 8) & 0xFF);
    if (at % 8 + kBits > 8) put(at / 8 + 1, code >> (8 - at % 8), kMask >> (8 - at % 8));
  }
}

}  // namespace wick
