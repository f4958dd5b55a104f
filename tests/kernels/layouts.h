// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "wick/core/convert.h"
#include "wick/core/nd_iter.h"

namespace wick::testing {

/// Values that break things, then random ones: bit patterns and numbers near 1.
template <Element T>
std::vector<T> samples(std::size_t count, std::uint32_t seed = 1) {
  std::vector<T> v;
  if constexpr (Int<T>) {
    using L = std::numeric_limits<T>;
    for (const T x :
         {T{0}, T{1}, static_cast<T>(-1), L::min(), L::max(), static_cast<T>(L::min() + 1), T{2},
          T{100}, static_cast<T>(-100), static_cast<T>(L::max() / 2)})
      v.push_back(x);
  } else {
    using L = std::numeric_limits<f32>;
    using W = std::numeric_limits<f64>;
    for (const f64 x : {0.0,
                        1.0,
                        f64{L::infinity()},
                        f64{L::quiet_NaN()},
                        f64{L::denorm_min()},
                        f64{L::min()},
                        f64{L::max()},
                        0.5,
                        2.5,
                        3.5,
                        88.72,
                        1e-3,
                        7.25,
                        300.0,
                        1e5,
                        0.49999997,
                        8388609.0,
                        2147483648.0,
                        4294967296.0,
                        9.3e18,
                        W::denorm_min(),
                        W::max(),
                        6e-8,
                        448.0,
                        65504.0}) {
      v.push_back(convert<T>(x));
      v.push_back(convert<T>(-x));
    }
  }
  std::mt19937_64 random(seed);
  while (v.size() < count) {
    if (random() % 2 == 0) {
      const std::uint64_t bits = random();
      T x;
      std::memcpy(&x, &bits, sizeof(T));
      v.push_back(x);
    } else {
      v.push_back(convert<T>(static_cast<f64>(static_cast<std::int64_t>(random())) * 0x1p-60));
    }
  }
  v.resize(count);
  return v;
}

template <class T>
bool is_nan(T x) {
  if constexpr (Float<T>) {
    if constexpr (SmallFloat<T>)
      return std::isnan(to_f32(x));
    else
      return std::isnan(x);
  } else {
    return false;
  }
}

/// Equal bits, where all NaNs count as one.
template <class T>
bool same(T a, T b) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) && is_nan(b);
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Tries a kernel on many two-dimensional loops: every short length, strides 1, 0, -1, 2 and 7,
/// padded, dense, transposed and repeated rows. Each result must have the bits that a call for that
/// element alone gives, and nothing but the output's elements may change. Memory is cut to size, so
/// that sanitizers see a step outside.
///
/// Operand k has bytes[k] bytes; call(p, loop) runs the kernel, value(k, i) points to the i-th
/// value to be put into operand k.
template <std::size_t N, class Call, class Value>
void check_layouts(const std::array<int, N>& bytes, Call&& call, Value&& value) {
  std::mt19937 random(7);
  struct Operand {
    std::vector<unsigned char> memory;
    Index origin = 0;  // in elements
  };
  const auto pick = [&random](auto... choices) {
    const Index list[] = {choices...};
    return list[random() % sizeof...(choices)];
  };
  std::vector<std::pair<Index, Index>> sizes;
  for (Index n = 0; n <= 67; ++n) sizes.emplace_back(n, 1);
  for (Index n : {1, 2, 3, 5, 16, 17, 31, 33}) sizes.emplace_back(n, pick(2, 3, 40, 200));
  sizes.insert(sizes.end(),
               {{0, 3}, {3, 0}, {700, 1}, {1030, 2}, {3, 700}, {1, 600}, {64, 64}, {40, 37}});
  for (const auto& [n, m] : sizes) {
    for (int variant = 0; variant < 4; ++variant) {
      Loop2<N> loop;
      loop.n = n;
      loop.m = m;
      std::array<Operand, N> operands;
      std::array<void*, N> p{};
      for (std::size_t k = 0; k < N; ++k) {
        Index inner = variant == 0 ? 1 : k == 0 ? pick(1, 1, -1, 2, 7) : pick(1, 0, 1, -1, 2, 7);
        Index outer = n * (inner < 0 ? -inner : inner);
        const Index kind = variant == 0 ? 0 : pick(0, 1, 2, 3);
        if (kind == 1) outer = -(outer + 3);  // padded rows, backwards
        if (kind == 2) {                      // transposed
          outer = inner == 0 ? 1 : inner;
          inner = m * outer;
        }
        if (kind == 3 && k > 0) outer = 0;  // the same row again and again
        loop.inner[k] = inner;
        loop.outer[k] = outer;
        const Index a = (n > 0 ? n - 1 : 0) * inner, b = (m > 0 ? m - 1 : 0) * outer;
        const Index low = std::min<Index>(a, 0) + std::min<Index>(b, 0);
        const Index high = std::max<Index>(a, 0) + std::max<Index>(b, 0);
        Operand& o = operands[k];
        o.origin = -low;
        o.memory.assign(static_cast<std::size_t>((high - low + 1) * bytes[k]), 0xA5);
        o.memory.shrink_to_fit();
        p[k] = o.memory.data() + o.origin * bytes[k];
        if (k == 0) continue;
        for (Index i = 0; i <= high - low; ++i)
          std::memcpy(o.memory.data() + i * bytes[k],
                      value(k, static_cast<std::size_t>(i) + 13 * k),
                      static_cast<std::size_t>(bytes[k]));
      }
      std::vector<unsigned char> want = operands[0].memory;
      Loop2<N> single;
      single.n = single.m = 1;
      single.inner.fill(1);
      single.outer.fill(1);
      for (Index r = 0; r < m; ++r) {
        for (Index i = 0; i < n; ++i) {
          std::array<std::array<unsigned char, 8>, N> element{};
          std::array<void*, N> q{};
          std::array<Index, N> at{};
          for (std::size_t k = 0; k < N; ++k) {
            at[k] = (operands[k].origin + r * loop.outer[k] + i * loop.inner[k]) * bytes[k];
            q[k] = element[k].data();
            std::memcpy(q[k], operands[k].memory.data() + at[k],
                        static_cast<std::size_t>(bytes[k]));
          }
          call(q, single);
          std::memcpy(want.data() + at[0], q[0], static_cast<std::size_t>(bytes[0]));
        }
      }
      call(p, loop);
      if (operands[0].memory == want) continue;
      std::string strides;
      for (std::size_t k = 0; k < N; ++k)
        strides +=
            " (" + std::to_string(loop.inner[k]) + ", " + std::to_string(loop.outer[k]) + ")";
      FAIL() << "n " << n << ", m " << m << ", strides" << strides;
    }
  }
}

}  // namespace wick::testing
