// SPDX-License-Identifier: Apache-2.0
#include "wick/core/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace wick {
namespace {

// The reference: a value as a long double (which holds every i64 and every f64) and, for small
// floats, a search over all codes. It shares nothing with convert() but the decoding tables, which
// tests/base/half_test.cc checks by themselves.

template <Element T>
long double exact(T x) {
  if constexpr (SmallFloat<T>) {
    return static_cast<long double>(to_f32(x));
  } else {
    return static_cast<long double>(x);
  }
}

template <SmallFloat T>
constexpr SmallFormat kFormat = std::same_as<T, f16>    ? small::kF16
                                : std::same_as<T, bf16> ? small::kBF16
                                                        : small::kF8E4M3;

template <SmallFloat To>
To nearest(long double x) {
  using Code = decltype(To::bits);
  const std::uint32_t sign = std::signbit(x) ? 1U << (sizeof(To) * 8 - 1) : 0;
  const auto code = [&](std::uint32_t c) { return To{static_cast<Code>(sign | c)}; };
  const auto value = [](std::uint32_t c) { return exact(To{static_cast<Code>(c)}); };
  const std::uint32_t largest = small::max_code(kFormat<To>);
  const long double a = std::fabs(x);
  if (std::isinf(a)) return code(kFormat<To>.has_infinity ? largest + 1 : largest);
  std::uint32_t low = 0, high = largest;
  while (low < high) {
    const std::uint32_t mid = (low + high + 1) / 2;
    (value(mid) <= a ? low : high) = value(mid) <= a ? mid : mid - 1;
  }
  const long double below = value(low);
  if (low == largest && !kFormat<To>.has_infinity) return code(largest);
  const long double above = low == largest ? below + (below - value(largest - 1)) : value(low + 1);
  const bool up = a - below > above - a || (a - below == above - a && low % 2 == 1);
  return code(low + (up ? 1 : 0));
}

template <Element To, Element From>
To reference(From from) {
  const long double x = exact(from);
  if constexpr (Int<To>) {
    if constexpr (Int<From>) {
      // The low bits.
      const auto u = static_cast<std::uint64_t>(static_cast<i64>(from));
      To r;
      std::memcpy(&r, &u, sizeof r);  // little-endian
      return r;
    } else {
      if (std::isnan(x)) return 0;
      const long double t = std::trunc(x);
      if (t >= static_cast<long double>(std::numeric_limits<To>::max()))
        return std::numeric_limits<To>::max();
      if (t <= static_cast<long double>(std::numeric_limits<To>::min()))
        return std::numeric_limits<To>::min();
      return static_cast<To>(t);
    }
  } else if constexpr (SmallFloat<To>) {
    return nearest<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <Element T>
bool is_nan(T x) {
  return std::isnan(exact(x));
}

template <Element T>
std::vector<T> edges() {
  std::vector<T> all;
  std::mt19937_64 random(7);
  if constexpr (Int<T>) {
    using L = std::numeric_limits<T>;
    for (const T x : {L::min(), L::max(), T{0}, T{1}, T{2}, T{127}, T{100}}) {
      all.push_back(x);
      all.push_back(static_cast<T>(static_cast<std::uint64_t>(x) + 1));
      all.push_back(static_cast<T>(static_cast<std::uint64_t>(x) - 1));
    }
    // Around every power of two, where rounding changes its step.
    for (int bit = 2; bit < static_cast<int>(sizeof(T)) * 8; ++bit)
      for (int low = 0; low < bit; ++low)
        for (const int more : {-1, 0, 1}) {
          const auto x =
              static_cast<std::uint64_t>((std::uint64_t{1} << bit) + (std::uint64_t{1} << low));
          all.push_back(static_cast<T>(x + static_cast<std::uint64_t>(static_cast<i64>(more))));
          all.push_back(static_cast<T>(0 - x + static_cast<std::uint64_t>(static_cast<i64>(more))));
        }
    for (int i = 0; i < 3000; ++i) all.push_back(static_cast<T>(random()));
  } else if constexpr (SmallFloat<T>) {
    const std::uint32_t step = sizeof(T) == 1 ? 1 : 5;
    for (std::uint32_t code = 0; code < 1U << (8 * sizeof(T)); code += step)
      all.push_back(T{static_cast<decltype(T::bits)>(code)});
  } else {
    using L = std::numeric_limits<T>;
    const T inf = L::infinity();
    std::vector<T> seeds{0,        L::denorm_min(),
                         L::min(), L::max(),
                         inf,      L::quiet_NaN(),
                         T(0.5),   1,
                         T(1.5),   T(2.5),
                         T(255.9), 300,
                         448,      464,
                         465,      65504,
                         65520,    T(1e-8),
                         T(1e30)};
    // The ends of the integers, and the middles between bf16, f16 and f8 values.
    for (const int bit : {7, 8, 15, 16, 24, 31, 32, 53, 62, 63, 64, 127})
      seeds.push_back(std::ldexp(T{1}, bit));
    for (const int bits : {4, 8, 11, 24})
      for (int e = -30; e < 20; ++e) {
        seeds.push_back(std::ldexp(T{1} + std::ldexp(T{1}, -bits), e));
        seeds.push_back(std::ldexp(T{1} + std::ldexp(T{3}, -bits), e));
      }
    for (const T s : seeds)
      for (const T x : {s, std::nextafter(s, inf), std::nextafter(s, -inf)}) {
        all.push_back(x);
        all.push_back(-x);
      }
    using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    for (int i = 0; i < 3000; ++i) all.push_back(std::bit_cast<T>(static_cast<U>(random())));
    for (int i = 0; i < 3000; ++i)
      all.push_back(static_cast<T>(
          std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 80) - 90)));
  }
  return all;
}

template <Element To, Element From>
void check_pair() {
  int bad = 0;
  for (const From x : edges<From>()) {
    const To got = convert<To>(x);
    if constexpr (Float<From> && Float<To>) {
      if (is_nan(x)) {
        EXPECT_TRUE(is_nan(got));
        continue;
      }
    }
    const To want = reference<To>(x);
    if (std::memcmp(&got, &want, sizeof(To)) == 0) continue;
    ADD_FAILURE() << name(dtype_of<From>) << " " << exact(x) << " -> " << name(dtype_of<To>) << ": "
                  << exact(got) << ", wanted " << exact(want);
    if (++bad > 5) return;
  }
}

template <class T>
class ConvertFrom : public ::testing::Test {};
using Ten = ::testing::Types<u8, u32, i16, i32, i64, bf16, f16, f32, f64, f8e4m3>;
TYPED_TEST_SUITE(ConvertFrom, Ten);

TYPED_TEST(ConvertFrom, EveryDtype){
#define WICK_CHECK(T) check_pair<T, TypeParam>();
    WICK_FOR_ELEMENTS(WICK_CHECK)
#undef WICK_CHECK
}

// C111: saturates; C113: wraps.
TEST(Convert, KnownCases) {
  const f32 floats[] = {-2, 300, 255.9F, -0.5F, NAN, INFINITY, -INFINITY};
  const u8 bytes[] = {0, 255, 255, 0, 0, 255, 0};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(convert<u8>(floats[i]), bytes[i]) << i;
  EXPECT_EQ(convert<u8>(i64{300}), 44);
  EXPECT_EQ(convert<u8>(i32{-1}), 255);
  EXPECT_EQ(convert<u32>(i64{-1}), 0xFFFFFFFFU);
  EXPECT_EQ(convert<i64>(9.3e18), std::numeric_limits<i64>::max());
  EXPECT_EQ(convert<i64>(-9.3e18F), std::numeric_limits<i64>::min());
  EXPECT_EQ(convert<i32>(2147483648.0F), std::numeric_limits<i32>::max());
  EXPECT_EQ(convert<i32>(f16{0x7C00}), std::numeric_limits<i32>::max());
  EXPECT_EQ(to_f32(convert<f8e4m3>(1e300)), 448.0F);
  // Between two f32 on the wrong side of an f16 middle: two roundings would go up.
  EXPECT_EQ(to_f32(convert<f16>(1.0 + std::ldexp(1.0, -11) - std::ldexp(1.0, -50))), 1.0F);
  EXPECT_EQ(to_f32(convert<bf16>((i64{1} << 60) + (i64{1} << 52))), std::ldexp(1.0F, 60));
  EXPECT_EQ(to_f32(convert<bf16>((i64{1} << 60) + (i64{1} << 52) + 1)),
            std::ldexp(1.0F, 60) + std::ldexp(1.0F, 53));
}

template <Raw T>
void check_packed(int width) {
  // Every code at every place, with neighbours that must stay.
  const int codes = 1 << width;
  for (int fill = 0; fill < 2; ++fill)
    for (Index place = 0; place < 9; ++place)
      for (int code = 0; code < codes; ++code) {
        std::vector<T> data(9, T{static_cast<u8>(fill * 255)});
        std::vector<float> before;
        for (Index i = 0; i < 9; ++i) before.push_back(raw_load(data.data(), i));
        const float x = small::decode(RawFormat<T>::kFormat, static_cast<std::uint32_t>(code));
        raw_store(data.data(), place, x);
        for (Index i = 0; i < 9; ++i)
          ASSERT_EQ(raw_load(data.data(), i), i == place ? x : before[static_cast<std::size_t>(i)])
              << name(dtype_of<T>) << " code " << code << " at " << place << ", seen at " << i;
        // Low bits first: the code starts at bit place * width.
        std::uint64_t bits = 0;
        std::memcpy(&bits, data.data(), 8);
        if ((place + 1) * width <= 64)
          ASSERT_EQ(bits >> (place * width) & static_cast<std::uint64_t>(codes - 1),
                    static_cast<std::uint64_t>(code));
      }
}

TEST(Convert, PackedElements) {
  check_packed<f4>(4);
  check_packed<f6e2m3>(6);
  check_packed<f6e3m2>(6);
}

TEST(Convert, PackedStaysInItsBytes) {
  // The last element of a full buffer: no byte beyond is touched (AddressSanitizer looks on).
  std::vector<f6e2m3> three(3);
  for (Index i = 0; i < 4; ++i) raw_store(three.data(), i, 7.5F);
  for (const f6e2m3 b : three) EXPECT_EQ(b.byte & 0x5F, 0x5F & b.byte);
  EXPECT_EQ(raw_load(three.data(), 3), 7.5F);
  std::vector<f4> one(1);
  raw_store(one.data(), 1, -6.0F);
  EXPECT_EQ(one[0].byte, 0xF0);
}

TEST(Convert, ScalesArePowersOfTwo) {
  f8e8m0 s{};
  for (int code = 0; code < 255; ++code) {
    s.byte = static_cast<u8>(code);
    const float x = raw_load(&s, 0);
    EXPECT_EQ(std::log2(static_cast<double>(x)), code - 127);
    raw_store(&s, 0, x);
    EXPECT_EQ(s.byte, code);
  }
  const auto code_of = [&](float x) {
    raw_store(&s, 0, x);
    return int{s.byte};
  };
  EXPECT_EQ(code_of(NAN), 255);
  s.byte = 255;
  EXPECT_TRUE(std::isnan(raw_load(&s, 0)));
  EXPECT_EQ(code_of(0), 0);
  EXPECT_EQ(code_of(INFINITY), 254);
  EXPECT_EQ(code_of(std::numeric_limits<float>::max()), 254);
  EXPECT_EQ(code_of(1.4999F), 127);
  EXPECT_EQ(code_of(1.5F), 128);
  EXPECT_EQ(code_of(-2), 128);
  EXPECT_EQ(code_of(1e-45F), 0);
}

}  // namespace
}  // namespace wick
