// SPDX-License-Identifier: Apache-2.0
#include "wick/base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace wick {
namespace {

using small::decode;
using small::encode;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Named {
  const char* name;
  SmallFormat format;
};
constexpr Named kFormats[] = {{"f16", small::kF16},       {"bf16", small::kBF16},
                              {"f8e4m3", small::kF8E4M3}, {"f6e2m3", small::kF6E2M3},
                              {"f6e3m2", small::kF6E3M2}, {"f4e2m1", small::kF4E2M1}};

std::uint32_t codes(SmallFormat f) { return 2U << (f.exponent_bits + f.mantissa_bits); }

/// A code's value from the definition of the format: sign, power of two, fraction.
double meaning(SmallFormat f, std::uint32_t code) {
  const std::uint32_t mantissa = code & ((1U << f.mantissa_bits) - 1);
  const auto exponent = static_cast<int>(code >> f.mantissa_bits & ((1U << f.exponent_bits) - 1));
  const double sign = code >> (f.exponent_bits + f.mantissa_bits) != 0 ? -1 : 1;
  if (exponent == (1 << f.exponent_bits) - 1) {
    if (f.has_infinity) return mantissa == 0 ? sign * kInf : double{kNaN};
    if (f.has_nan && mantissa == (1U << f.mantissa_bits) - 1) return double{kNaN};
  }
  const double fraction = std::ldexp(mantissa, -f.mantissa_bits);
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - f.bias)
                       : sign * std::ldexp(1 + fraction, exponent - f.bias);
}

TEST(Half, EveryCodeDecodesByDefinition) {
  for (const auto& [name, f] : kFormats)
    for (std::uint32_t code = 0; code < codes(f); ++code) {
      const double want = meaning(f, code);
      const float got = decode(f, code);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got)) << name << " " << code;
      } else {
        ASSERT_EQ(want, double{got}) << name << " " << code;
        ASSERT_EQ(std::signbit(want), std::signbit(got)) << name << " " << code;
      }
    }
}

// C120.
TEST(Half, EveryCodeComesBack) {
  for (const auto& [name, f] : kFormats)
    for (std::uint32_t code = 0; code < codes(f); ++code) {
      const float value = decode(f, code);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(decode(f, encode(f, value)))) << name << " " << code;
      } else {
        ASSERT_EQ(encode(f, value), code) << name;
      }
    }
}

/// Nearest code by search over all magnitudes, ties to the even code; exact in f64.
std::uint32_t nearest(SmallFormat f, double value) {
  const std::uint32_t sign = std::signbit(value) ? codes(f) / 2 : 0;
  const double a = std::fabs(value);
  const std::uint32_t largest = small::max_code(f);
  std::uint32_t low = 0, high = largest;  // the greatest code not above a
  while (low < high) {
    const std::uint32_t mid = (low + high + 1) / 2;
    if (meaning(f, mid) <= a) {
      low = mid;
    } else {
      high = mid - 1;
    }
  }
  const double below = meaning(f, low);
  double above = 0;
  if (low < largest) {
    above = meaning(f, low + 1);
  } else {
    // Where the next number would be, had the format a larger exponent.
    above = below + (below - meaning(f, largest - 1));
    if (!f.has_infinity) return sign | largest;
  }
  const double down = a - below, up = above - a;  // exact: few bits are involved
  return sign | (down < up || (down == up && low % 2 == 0) ? low : low + 1);
}

TEST(Half, RoundsToNearestEven) {
  std::mt19937_64 random(1);
  for (const auto& [name, f] : kFormats) {
    // Midpoints between all neighbours, and one step of f32 to either side.
    const std::uint32_t step = codes(f) > 1000 ? 3 : 1;
    for (std::uint32_t code = 0; code < small::max_code(f); code += step) {
      const double middle = (meaning(f, code) + meaning(f, code + 1)) / 2;
      const auto m = static_cast<float>(middle);
      ASSERT_EQ(double{m}, middle) << name << " " << code;
      for (const float x : {m, std::nextafter(m, kInf), std::nextafter(m, -kInf)})
        for (const float s : {x, -x})
          ASSERT_EQ(encode(f, s), nearest(f, double{s})) << name << " " << code << " " << s;
    }
    for (int i = 0; i < 20000; ++i) {
      const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      if (!std::isfinite(x)) continue;
      ASSERT_EQ(encode(f, x), nearest(f, double{x})) << name << " " << x;
    }
  }
}

TEST(Half, Overflow) {
  for (const auto& [name, f] : kFormats) {
    const std::uint32_t largest = small::max_code(f);
    const std::uint32_t over = f.has_infinity ? largest + 1 : largest;
    const std::uint32_t sign = codes(f) / 2;
    EXPECT_EQ(encode(f, kInf), over) << name;
    EXPECT_EQ(encode(f, -kInf), sign | over) << name;
    EXPECT_EQ(encode(f, std::numeric_limits<float>::max()), over) << name;
    EXPECT_EQ(encode(f, -std::numeric_limits<float>::max()), sign | over) << name;
    EXPECT_EQ(encode(f, std::numeric_limits<float>::denorm_min()), 0U) << name;
    EXPECT_EQ(encode(f, -0.0F), sign) << name;
  }
}

// C114.
TEST(Half, BFloat16Cases) {
  const auto from = [](std::uint32_t bits) { return to_bf16(std::bit_cast<float>(bits)).bits; };
  EXPECT_EQ(from(0x3E89CCD5), 0x3E8A);
  EXPECT_EQ(to_f32(bf16{0x3E8A}), 0.26953125F);
  EXPECT_EQ(to_f32(to_bf16(3.14F)), 3.140625F);
  EXPECT_FLOAT_EQ(to_f32(to_bf16(1e-8F)), 1.0011718e-8F);
  EXPECT_EQ(from(0x3F808000), 0x3F80);
  EXPECT_EQ(from(0x3F818000), 0x3F82);
  EXPECT_EQ(to_f32(to_bf16(std::numeric_limits<float>::max())), kInf);
  EXPECT_EQ(from(0x00008000), 0x0000);  // halfway to the smallest subnormal: even
  EXPECT_EQ(from(0x00008001), 0x0001);
  EXPECT_EQ(from(0x7F800001), 0x7FC0);  // a NaN whose payload would be cut off
  EXPECT_EQ(from(0xFF800001), 0xFFC0);
}

// C116.
TEST(Half, Float16Cases) {
  EXPECT_EQ(to_f32(to_f16(65519.996F)), 65504.0F);
  EXPECT_EQ(to_f32(to_f16(65520.0F)), kInf);
  EXPECT_EQ(to_f16(std::ldexp(1.0F, -25)).bits, 0);
  EXPECT_EQ(to_f16(std::ldexp(1.0000001F, -25)).bits, 1);
  EXPECT_EQ(to_f32(to_f16(std::ldexp(3.0F, -24))), std::ldexp(3.0F, -24));
  EXPECT_EQ(to_f16(-0.0F).bits, 0x8000);
  EXPECT_EQ(to_f16(-1e-30F).bits, 0x8000);
  for (const std::uint32_t bits : {0x7FC00000U, 0x7F800001U, 0xFF801000U, 0x7FFFFFFFU}) {
    const f16 h = to_f16(std::bit_cast<float>(bits));
    EXPECT_EQ(h.bits & 0x7E00, 0x7E00) << bits;  // quiet
    EXPECT_EQ(h.bits >> 15, static_cast<int>(bits >> 31));
  }
}

// C118.
TEST(Half, Float8Cases) {
  const auto through = [](float x) { return to_f32(to_f8e4m3(x)); };
  EXPECT_EQ(to_f32(f8e4m3{0x7E}), 448.0F);
  EXPECT_TRUE(std::isnan(to_f32(f8e4m3{0x7F})));
  EXPECT_TRUE(std::isnan(to_f32(f8e4m3{0xFF})));
  EXPECT_EQ(to_f32(f8e4m3{0x01}), std::ldexp(1.0F, -9));
  EXPECT_EQ(to_f8e4m3(std::ldexp(1.0F, -10)).bits, 0);
  EXPECT_EQ(to_f8e4m3(std::ldexp(1.5F, -10)).bits, 1);
  EXPECT_EQ(through(17), 16);
  EXPECT_EQ(through(19), 20);
  EXPECT_EQ(through(1.0625F), 1);
  EXPECT_EQ(through(1.1875F), 1.25F);
  for (const float big : {449.0F, 463.9F, 464.0F, 465.0F, 480.0F, 1e9F, kInf}) {
    EXPECT_EQ(through(big), 448.0F) << big;
    EXPECT_EQ(through(-big), -448.0F) << big;
  }
  EXPECT_EQ(to_f8e4m3(kNaN).bits & 0x7F, 0x7F);
}

// The element formats of OCP MX 1.0: their ends, and saturation.
TEST(Half, MxFormats) {
  const float f4[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  for (std::uint32_t code = 0; code < 8; ++code) EXPECT_EQ(decode(small::kF4E2M1, code), f4[code]);
  EXPECT_EQ(decode(small::kF6E2M3, 0x1F), 7.5F);
  EXPECT_EQ(decode(small::kF6E2M3, 0x01), 0.125F);
  EXPECT_EQ(decode(small::kF6E2M3, 0x08), 1.0F);
  EXPECT_EQ(decode(small::kF6E3M2, 0x1F), 28.0F);
  EXPECT_EQ(decode(small::kF6E3M2, 0x01), 0.0625F);
  EXPECT_EQ(decode(small::kF6E3M2, 0x04), 0.25F);
  EXPECT_EQ(encode(small::kF4E2M1, 5.0F), 6U);   // tie between 4 and 6: even
  EXPECT_EQ(encode(small::kF4E2M1, 2.5F), 4U);   // tie between 2 and 3: even
  EXPECT_EQ(encode(small::kF4E2M1, 0.25F), 0U);  // tie between 0 and 0.5: even
  EXPECT_EQ(encode(small::kF4E2M1, 0.75F), 2U);  // tie between 0.5 and 1: even
  EXPECT_EQ(encode(small::kF4E2M1, -100.0F), 15U);
  EXPECT_EQ(encode(small::kF6E3M2, 29.0F), 0x1FU);
  EXPECT_EQ(encode(small::kF6E2M3, kInf), 0x1FU);
}

TEST(Half, RoundToOddThenNearestIsOneRounding) {
  std::mt19937_64 random(2);
  const Named three[] = {kFormats[0], kFormats[1], kFormats[2]};
  for (const auto& [name, f] : three) {
    const auto check = [&, label = name, format = f](double x) {
      ASSERT_EQ(encode(format, small::to_f32_odd(x)), nearest(format, x)) << label << " " << x;
    };
    const std::uint32_t step = codes(f) > 1000 ? 7 : 1;
    for (std::uint32_t code = 0; code < small::max_code(f); code += step) {
      const double middle = (meaning(f, code) + meaning(f, code + 1)) / 2;
      // So close to the middle that f32 cannot tell: two roundings would go wrong.
      for (const double x : {middle, std::nextafter(middle, 1e300), std::nextafter(middle, -1e300),
                             middle * (1 + 1e-12), middle * (1 - 1e-12)}) {
        check(x);
        check(-x);
      }
    }
    for (int i = 0; i < 20000; ++i) {
      const auto x =
          static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
      if (std::isfinite(x)) check(x * 1.0000000001);
    }
    for (const double x : {1e300, 1e-300, 4e-46, 1e-45, 3.4028235677973366e38, 5e-324}) {
      check(x);
      check(-x);
    }
  }
  EXPECT_EQ(small::to_f32_odd(1e-300), std::numeric_limits<float>::denorm_min());
  EXPECT_TRUE(std::signbit(small::to_f32_odd(-0.0)));
  EXPECT_EQ(small::to_f32_odd(double{kInf}), kInf);
  EXPECT_TRUE(std::isnan(small::to_f32_odd(double{kNaN})));
}

}  // namespace
}  // namespace wick
