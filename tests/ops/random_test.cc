// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/ops/op_calls.h"
#include "tests/ops/samples.h"
#include "wick/random.h"

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers

TEST(RandomRanges, UniformAndNormal) {
  for (const DType t : kFloats) {
    Generator g(1), h(1);
    EXPECT_TRUE(same_bits(rand_uniform({1000}, 0, 1, t, g), rand_uniform({1000}, t, h)));
    EXPECT_TRUE(same_bits(rand_normal({1000}, 0, 1, t, g), rand_normal({1000}, t, h)));
  }
  Generator g(2);
  const f64 n = 200000;
  for (const DType t : {DType::f32, DType::f64, DType::f16}) {
    f64 sum = 0, low = 99, high = -99;
    for (const f64 v : rand_uniform({200000}, -3, 5, t, g).to_vector<f64>()) {
      sum += v;
      low = std::min(low, v);
      high = std::max(high, v);
    }
    EXPECT_NEAR(sum / n, 1, 0.03) << name(t);
    EXPECT_GE(low, -3);
    EXPECT_LT(low, -2.99);
    EXPECT_LT(high, 5);
    EXPECT_GT(high, 4.98);
    sum = 0;
    f64 squares = 0;
    for (const f64 v : rand_normal({200000}, 10, 2, t, g).to_vector<f64>()) {
      sum += v;
      squares += (v - 10) * (v - 10);
    }
    EXPECT_NEAR(sum / n, 10, 0.03) << name(t);
    EXPECT_NEAR(squares / n, 4, 0.07) << name(t);
  }
  // The end is never reached, even where all sums near it round to it.
  for (const f64 v : rand_uniform({10000}, 1, 1.0001, DType::bf16, g).to_vector<f64>())
    ASSERT_LT(v, 1.0001);
  EXPECT_EQ(rand_uniform({4}, 3, 3).to_vector<f32>(), std::vector<f32>(4, 3));
  EXPECT_EQ(rand_normal({4}, 3, 0).to_vector<f32>(), std::vector<f32>(4, 3));
}

TEST(RandomRanges, WholeNumbersAreEquallyLikely) {
  for (const DType t : kTen) {
    Generator g(3);
    std::vector<Index> counts(7, 0);
    const auto values = randint(2, 9, {70000}, t, g).to_vector<i64>();
    for (const i64 v : values) {
      ASSERT_TRUE(v >= 2 && v < 9) << v;
      ++counts[static_cast<std::size_t>(v - 2)];
    }
    for (const Index c : counts) EXPECT_NEAR(static_cast<f64>(c), 10000, 500) << name(t);
  }
  Generator g(4);
  EXPECT_EQ(randint(-5, -4, {3}, DType::i16, g).to_vector<i64>(), std::vector<i64>(3, -5));
  // The widest range: both signs, every bit in use.
  i64 bits = 0, same = -1;
  int negative = 0;
  for (const i64 v : randint(INT64_MIN, INT64_MAX, {4000}).to_vector<i64>()) {
    bits |= v;
    same &= v;
    negative += v < 0 ? 1 : 0;
  }
  EXPECT_EQ(bits, -1);
  EXPECT_EQ(same, 0);
  EXPECT_NEAR(negative, 2000, 200);
  f64 sum = 0;
  for (const i64 v : randint(0, Index{3} << 60, {20000}, DType::i64, g).to_vector<i64>())
    sum += static_cast<f64>(v);
  EXPECT_NEAR(sum / 20000 / std::ldexp(1.5, 60), 1, 0.03);
}

TEST(RandomRanges, Permutations) {
  Generator g(5);
  for (const Index n : {0, 1, 2, 1000}) {
    auto v = randperm(n, g).to_vector<i64>();
    std::sort(v.begin(), v.end());
    for (Index i = 0; i < n; ++i) ASSERT_EQ(v[static_cast<std::size_t>(i)], i);
  }
  // All six orders of three.
  std::vector<int> counts(27, 0);
  for (int i = 0; i < 6000; ++i) {
    const auto v = randperm(3, g).to_vector<i64>();
    ++counts[static_cast<std::size_t>(v[0] * 9 + v[1] * 3 + v[2])];
  }
  for (const int c : counts) EXPECT_TRUE(c == 0 || std::abs(c - 1000) < 160) << c;
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 0), 21);
  EXPECT_ERROR(randperm(-1), argument);
}

TEST(RandomRanges, AnyOutAndAnyThreadCount) {
  Random random(6);
  for (int round = 0; round < 60; ++round) {
    const DType t = kFloats[random.below(5)];
    const Dims shape = random_shape(random, 4, 12);
    const Tensor out = strided_empty(shape, t, random);
    Generator a(7), b(7);
    rand_uniform_into(out, -1, 1, a);
    ASSERT_TRUE(same_bits(out, rand_uniform(shape, -1, 1, t, b)));
    rand_normal_into(out, 2, 3, a);
    ASSERT_TRUE(same_bits(out, rand_normal(shape, 2, 3, t, b)));
    const Tensor whole = strided_empty(shape, DType::i16, random);
    randint_into(whole, -7, 7, a);
    ASSERT_TRUE(same_bits(whole, randint(-7, 7, shape, DType::i16, b)));
  }
  const Tensor wide = Tensor::empty({401, 500});
  expect_same_bits_for_any_threads([&] {
    Generator g(8);
    rand_normal_into(wide.t(), 1, 2, g);
    return wide.copy();
  });
  expect_same_bits_for_any_threads([] {
    Generator g(8);
    return randint(0, 1000, {100001}, DType::i32, g);
  });
}

TEST(RandomRanges, Errors) {
  Generator g(9);
  EXPECT_ERROR(rand_uniform({2}, 1, 0), argument);
  EXPECT_ERROR(rand_uniform({2}, 0, INFINITY), argument);
  EXPECT_ERROR(rand_uniform({2}, NAN, 1), argument);
  EXPECT_ERROR(rand_uniform({2}, -3e38, 3e38), argument);
  EXPECT_ERROR(rand_uniform({2}, 0, 1, DType::i32), unsupported_dtype);
  EXPECT_ERROR(rand_normal({2}, 0, -1), argument);
  EXPECT_ERROR(rand_normal({2}, NAN, 1), argument);
  EXPECT_ERROR(rand_normal({2}, 0, 1, DType::f4), unsupported_dtype);
  EXPECT_ERROR(randint(3, 3, {2}), argument);
  EXPECT_ERROR(randint(0, 257, {2}, DType::u8), argument);
  EXPECT_ERROR(randint(-1, 2, {2}, DType::u32), argument);
  EXPECT_ERROR(randint(0, 100000, {2}, DType::f16), argument);
  EXPECT_ERROR(randint(0, 2, {2}, DType::f4), unsupported_dtype);
  EXPECT_ERROR(rand_uniform_into(Tensor::ones({1}).broadcast_as({4}), 0, 1, g), overlap);
  EXPECT_EQ(randint(0, 256, {3}, DType::u8).dtype(), DType::u8);
}

}  // namespace
}  // namespace wick
