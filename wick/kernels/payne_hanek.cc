// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/payne_hanek.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace wick::kernels {
namespace {

using U64 = std::uint64_t;

// The first 1280 bits of 2/pi after the binary point.
constexpr std::array<U64, 20> kTwoOverPi{
    0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484,
    0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB, 0xF0CFBC209AF4361D};

// Bits [from, from + 64) of 2/pi, counted from the binary point; zero before it.
U64 bits_at(int from) {
  if (from <= -64) return 0;
  if (from < 0) return kTwoOverPi[0] >> -from;
  const auto word = static_cast<std::size_t>(from / 64);
  const int shift = from % 64;
  if (shift == 0) return kTwoOverPi[word];
  return (kTwoOverPi[word] << shift) | (kTwoOverPi[word + 1] >> (64 - shift));
}

struct Product {
  U64 high, low;
};

// a * b in full, by halves: not every compiler has 128-bit integers.
constexpr Product multiply(U64 a, U64 b) {
  constexpr U64 kLow = 0xFFFFFFFF;
  const U64 ll = (a & kLow) * (b & kLow), lh = (a & kLow) * (b >> 32);
  const U64 hl = (a >> 32) * (b & kLow), hh = (a >> 32) * (b >> 32);
  const U64 middle = (ll >> 32) + (lh & kLow) + (hl & kLow);
  return {hh + (lh >> 32) + (hl >> 32) + (middle >> 32), (middle << 32) | (ll & kLow)};
}

}  // namespace

Reduced reduce_pi_2(double x) {
  const auto bits = std::bit_cast<U64>(x);
  const int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1075;  // |x| = m * 2^exponent
  const U64 m = (bits & ((U64{1} << 52) - 1)) | (U64{1} << 52);
  // x * 2/pi modulo 4: of 2/pi only bits from number `exponent - 2` on matter, since all before
  // them count multiples of 4. 256 bits leave 190 after the quadrant once m's 53 are gone.
  const int from = exponent - 2;
  std::array<U64, 4> p{};  // m * window, modulo 2^256, highest word first
  U64 carry = 0;
  for (int i = 3; i >= 0; --i) {
    const Product t = multiply(m, bits_at(from + 64 * i));
    const U64 low = t.low + carry;
    p[static_cast<std::size_t>(i)] = low;
    carry = t.high + (low < carry ? 1 : 0);
  }
  // p = (x * 2/pi mod 4) * 2^254.
  int quadrant = static_cast<int>(p[0] >> 62);
  // The fraction, to the left; beyond one half the next multiple is nearer.
  std::array<U64, 4> f{};
  for (std::size_t i = 0; i < 4; ++i) f[i] = (p[i] << 2) | (i < 3 ? p[i + 1] >> 62 : 0);
  const bool negative = (f[0] >> 63) != 0;
  if (negative) {
    quadrant = (quadrant + 1) & 3;
    U64 borrow = 1;
    for (std::size_t i = 4; i-- > 0;) {
      f[i] = ~f[i] + borrow;
      borrow = borrow != 0 && f[i] == 0 ? 1 : 0;
    }
  }
  // The leading 128 bits as two doubles.
  int scale = 0;
  while (f[0] == 0 && scale < 192) {
    f = {f[1], f[2], f[3], 0};
    scale += 64;
  }
  const int zeros = std::countl_zero(f[0]);
  if (zeros > 0 && zeros < 64) {
    f[0] = (f[0] << zeros) | (f[1] >> (64 - zeros));
    f[1] = (f[1] << zeros) | (f[2] >> (64 - zeros));
  }
  scale += zeros;
  const double sign = negative != (x < 0) ? -1.0 : 1.0;
  const double a = std::ldexp(static_cast<double>(f[0] >> 11), -53);
  const double b = std::ldexp(static_cast<double>(((f[0] << 53) | (f[1] >> 11)) >> 11), -106);
  // Times pi/2, in twice the precision.
  constexpr double kHigh = 0x1.921fb54442d18p+0, kLow = 0x1.1a62633145c07p-54;
  const double high = a * kHigh;
  const double low = std::fma(a, kHigh, -high) + (a * kLow + b * kHigh);
  const double sum = high + low;
  if (x < 0) quadrant = -quadrant & 3;
  return {sign * std::ldexp(sum, -scale), sign * std::ldexp(low - (sum - high), -scale), quadrant};
}

}  // namespace wick::kernels
