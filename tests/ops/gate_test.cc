// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/all_isas.h"
#include "tests/ops/op_calls.h"
#include "tests/ops/samples.h"
#include "wick/nn.h"

// group_norm, batch_norm, swiglu, rotary, dropout.

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers

Tensor plain_group_norm(const Tensor& x, Index groups, f64 eps) {
  const Dims c{x.shape()[1]};
  return group_norm(x, groups, Tensor::ones(c, x.dtype()), Tensor::zeros(c, x.dtype()), eps);
}

TEST(GroupNorm, C044_Values) {
  const Tensor x = Tensor::arange(0, 8).reshape({1, 4, 2});
  const std::vector<f64> each{-1.34164, -0.44721, 0.44721, 1.34164};
  const auto y = plain_group_norm(x, 2, 1e-5).to_vector<f64>();
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(y[i], each[i % 4], 1e-4) << i;
  // A constant group gives zeros, whatever eps is.
  for (const DType t : kFloats)
    for (const f64 eps : {1e-5, 0.0})
      EXPECT_EQ(plain_group_norm(Tensor::full({2, 4, 3}, 7, t), 2, eps).to_vector<f32>(),
                std::vector<f32>(24, 0));
}

TEST(GroupNorm, C042_SmallVarianceAroundALargeMean) {
  const Tensor x = Tensor::from_vector<f32>({40000, 40001, 40002, 40003}, {1, 2, 2});
  const std::vector<f64> want{-1.34164, -0.44721, 0.44721, 1.34164};
  const auto y = plain_group_norm(x, 1, 1e-5).to_vector<f64>();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], want[i], 1e-4) << i;
  const auto big =
      plain_group_norm(Tensor::full({1, 1, 4}, 300, DType::f16)
                           .mul(Tensor::from_vector<f32>({1, -1, 1, -1}, {4}).to_dtype(DType::f16)),
                       1, 0)
          .to_vector<f32>();
  EXPECT_EQ(big, (std::vector<f32>{1, -1, 1, -1}));  // C045: the squares outgrow f16
}

/// Both norms by their definition.
void check_norms(const Tensor& x, Index groups, std::uint64_t seed, Random& random) {
  const DType t = x.dtype();
  const Index c = x.shape()[1], each = c / groups;
  const Tensor w = normal({c}, t, seed), b = normal({c}, t, seed + 1), m = normal({c}, t, seed + 2),
               v = normal({2 * c + 1}, t, seed + 3).abs().slice(0, 1, 2 * c + 1, 2);
  const f64 eps = 1e-3;
  const Tensor group = group_norm(x, groups, w, b, eps), batch = batch_norm(x, m, v, w, b, eps);
  ASSERT_TRUE(same_bits(group, group_norm(x.copy(), groups, w, b, eps)));
  ASSERT_TRUE(same_bits(batch, batch_norm(x.copy(), m, v.copy(), w, b, eps)));
  const Tensor out = strided_empty(x.shape(), t, random);
  group_norm_into(out, x, groups, w, b, eps);
  ASSERT_TRUE(same_bits(out, group));
  copy_into(out, x);
  batch_norm_into(out, out, m, v, w, b, eps);
  ASSERT_TRUE(same_bits(out, batch));
  std::vector<f64> sum(static_cast<std::size_t>(x.shape()[0] * groups)), squares = sum, count = sum;
  const auto in = doubles_of(x), wv = doubles_of(w), bv = doubles_of(b), mv = doubles_of(m),
             vv = doubles_of(v), got = doubles_of(group), got_batch = doubles_of(batch);
  const auto group_of = [&](const Dims& at) {
    return static_cast<std::size_t>(at[0] * groups + at[1] / each);
  };
  std::size_t n = 0;
  for_each_index(x.shape(), [&](const Dims& at) {
    sum[group_of(at)] += in[n++];
    count[group_of(at)] += 1;
  });
  n = 0;
  for_each_index(x.shape(), [&](const Dims& at) {
    const auto g = group_of(at);
    const f64 off = in[n++] - sum[g] / count[g];
    squares[g] += off * off;
  });
  n = 0;
  const double unit = rounding_error(t);
  for_each_index(x.shape(), [&](const Dims& at) {
    const auto g = group_of(at);
    const auto k = static_cast<std::size_t>(at[1]);
    const double tiny = t == DType::f8e4m3 ? 0x1p-9 : t == DType::f16 ? 0x1p-24 : 1e-12;
    const f64 want =
        (in[n] - sum[g] / count[g]) / std::sqrt(squares[g] / count[g] + eps) * wv[k] + bv[k];
    ASSERT_NEAR(got[n], want, 1.02 * unit * std::fabs(want) + tiny);
    const f64 fixed = (in[n] - mv[k]) / std::sqrt(vv[k] + eps) * wv[k] + bv[k];
    if (t != DType::f8e4m3 || std::fabs(fixed) < 440) {
      ASSERT_NEAR(got_batch[n], fixed, 1.02 * unit * std::fabs(fixed) + tiny);
    }
    ++n;
  });
}

TEST(GroupNorm, AgainstTheDefinitionOverAnyViews) {
  Random random(1);
  for (int round = 0; round < 150; ++round) {
    const DType t = kFloats[random.below(5)];
    const Tensor x = random_view(normal(random_shape(random, 4, 9), t, random.bits()), random);
    if (x.rank() < 2) continue;
    std::vector<Index> divisors;
    for (Index g = 1; g <= std::max<Index>(x.shape()[1], 1); ++g)
      if (x.shape()[1] % g == 0) divisors.push_back(g);
    check_norms(
        x, divisors[static_cast<std::size_t>(random.below(static_cast<Index>(divisors.size())))],
        random.bits(), random);
  }
  for (const DType t : kFloats) {
    const Tensor x = normal({3, 12, 40, 17}, t, 5);
    check_norms(x, 4, 6, random);
    check_norms(normal({3, 40, 17, 12}, t, 7).permute({0, 3, 1, 2}), 4, 8,
                random);  // channels last
  }
}

TEST(GroupNorm, EveryIsaAndAnyThreadCount) {
  for_each_isa([] {
    Random random(2);
    for (const DType t : kFloats) check_norms(normal({2, 6, 5, 33}, t, 9), 3, 10, random);
  });
  const Tensor x = normal({5, 12, 70, 31}, DType::f32, 11), w = normal({12}, DType::f32, 12);
  expect_same_bits_for_any_threads([&] { return group_norm(x, 3, w, w, 1e-5); });
  expect_same_bits_for_any_threads([&] { return batch_norm(x, w, w.abs(), w, w, 1e-5); });
}

TEST(GroupNorm, Errors) {
  const Tensor x = Tensor::ones({2, 6, 3}), w = Tensor::ones({6});
  EXPECT_ERROR(group_norm(x, 4, w, w, 1e-5), argument);
  EXPECT_ERROR(group_norm(x, 0, w, w, 1e-5), argument);
  EXPECT_ERROR(group_norm(x, -2, w, w, 1e-5), argument);
  EXPECT_ERROR(group_norm(x, 2, w.narrow(0, 0, 5), w, 1e-5), shape);
  EXPECT_ERROR(group_norm(x, 2, w, w.unsqueeze(0), 1e-5), shape);
  EXPECT_ERROR(group_norm(x, 2, w, w, -1), argument);
  EXPECT_ERROR(group_norm(w, 2, w, w, 1e-5), shape);
  EXPECT_ERROR(group_norm(x, 2, w.to_dtype(DType::f64), w, 1e-5), dtype);
  EXPECT_ERROR(batch_norm(x.to_dtype(DType::i32), w, w, w, w, 1e-5), unsupported_dtype);
  EXPECT_ERROR(batch_norm_into(x.flip(0), x, w, w, w, w, 1e-5), overlap);
  EXPECT_EQ(group_norm(Tensor::empty({0, 6, 3}), 2, w, w, 1e-5).shape(), (Dims{0, 6, 3}));
  EXPECT_EQ(group_norm(Tensor::empty({2, 6, 0}), 2, w, w, 1e-5).shape(), (Dims{2, 6, 0}));
  const Tensor none = Tensor::empty({0});
  EXPECT_EQ(group_norm(Tensor::empty({2, 0, 3}), 2, none, none, 1e-5).shape(), (Dims{2, 0, 3}));
}

TEST(Swiglu, IsSiluTimesUp) {
  Random random(3);
  for_each_isa([&] {
    for (int round = 0; round < 60; ++round) {
      const DType t = kFloats[random.below(5)];
      Dims shape = random_shape(random, 2, 5);
      if (round % 3 == 0) shape.push_back(random.between(0, 600));
      const Tensor g = odd_tensor(shape, t, random, Values::tame),
                   u = odd_tensor(shape, t, random, Values::tame);
      const Tensor y = swiglu(g, u);
      ASSERT_TRUE(same_bits(y, swiglu(g.copy(), u.copy())));
      const Tensor wide = g.to_dtype(DType::f64).silu().mul(u.to_dtype(DType::f64));
      const auto got = doubles_of(y), want = doubles_of(wide);
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(
            got[i], want[i],
            3.1 * rounding_error(t) * std::fabs(want[i]) + (t == DType::f8e4m3 ? 0x1p-9 : 1e-7));
      const Tensor out = strided_empty(shape, t, random);
      swiglu_into(out, g, u);
      ASSERT_TRUE(same_bits(out, y));
      swiglu_into(g, g, u);
      ASSERT_TRUE(same_bits(g, y)) << "in place";
    }
  });
  const Tensor x = normal({5, 3, 14}, DType::f32, 1);
  EXPECT_TRUE(same_bits(swiglu(x), swiglu(x.narrow(2, 0, 7), x.narrow(2, 7, 7))));
  const Tensor big = normal({300, 512}, DType::bf16, 2);
  expect_same_bits_for_any_threads([&] { return swiglu(big); });
  EXPECT_ERROR(swiglu(Tensor::ones({3})), shape);
  EXPECT_ERROR(swiglu(Tensor::scalar(1)), shape);
  EXPECT_ERROR(swiglu(x, x.narrow(0, 0, 4)), shape);
  EXPECT_ERROR(swiglu(x, x.to_dtype(DType::f64)), dtype);
  EXPECT_ERROR(swiglu(Tensor::ones({2}, DType::i32), Tensor::ones({2}, DType::i32)),
               unsupported_dtype);
}

f64 convert_at(const Tensor& x, const Dims& at) {
  return dispatch<f64>(x.dtype(), "at", [&]<Element T>(std::type_identity<T>) {
    return convert<f64>(std::get<Buffer<T>>(x.storage()).data()[offset_of(x.layout(), at)]);
  });
}

TEST(Rotary, TurnsPairs) {
  Random random(4);
  for_each_isa([&] {
    for (int round = 0; round < 40; ++round) {
      const DType t = kFloats[random.below(5)];
      Dims shape = random_shape(random, 2, 4);
      const Index half = random.between(0, round % 4 == 1 ? 300 : 5), steps = random.between(0, 5);
      shape.push_back(steps);
      shape.push_back(2 * half);
      const Tensor x = odd_tensor(shape, t, random, Values::tame);
      const Tensor angles = normal({steps, half}, DType::f64, random.bits());
      const Tensor c = angles.cos().to_dtype(t), s = angles.sin().to_dtype(t);
      for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
        const Tensor y = rotary(x, c, s, pairs);
        ASSERT_TRUE(same_bits(y, rotary(x.copy(), c.t().copy().t(), s, pairs)));
        const Tensor out = strided_empty(shape, t, random);
        copy_into(out, x);
        rotary_into(out, out, c, s, pairs);
        ASSERT_TRUE(same_bits(out, y)) << "in place";
        const double slack = 2.1 * rounding_error(t);
        const auto in = [&](Dims at) { return convert_at(x, at); };
        for_each_index(shape, [&](const Dims& at) {
          const int last = x.rank() - 1;
          const Index e = at[last];
          const bool first = pairs == RotaryPairs::halves ? e < half : e % 2 == 0;
          const Index pair = pairs == RotaryPairs::halves ? e % half : e / 2;
          Dims a = at, b = at;
          a[last] = pairs == RotaryPairs::halves ? pair : 2 * pair;
          b[last] = pairs == RotaryPairs::halves ? pair + half : 2 * pair + 1;
          const f64 cosine = convert_at(c, {at[last - 1], pair}),
                    sine = convert_at(s, {at[last - 1], pair});
          const f64 p = in(a), q = in(b);
          const f64 want = first ? p * cosine - q * sine : p * sine + q * cosine;
          ASSERT_NEAR(convert_at(y, at), want,
                      slack * (std::fabs(want) + 0x1p-20 * (std::fabs(p) + std::fabs(q))) +
                          4 * 0x1p-24 * (std::fabs(p) + std::fabs(q)) +
                          (t == DType::f8e4m3 ? 0x1p-9 : 1e-7));
        });
      }
    }
  });
}

TEST(Rotary, KnownAnglesAndErrors) {
  // A quarter turn: (a, b) becomes (-b, a).
  const Tensor x = Tensor::from_vector<f32>({1, 2, 3, 4}, {1, 4}), zero = Tensor::zeros({1, 2}),
               one = Tensor::ones({1, 2});
  EXPECT_EQ(rotary(x, zero, one).to_vector<f32>(), (std::vector<f32>{-3, -4, 1, 2}));
  EXPECT_EQ(rotary(x, zero, one, RotaryPairs::interleaved).to_vector<f32>(),
            (std::vector<f32>{-2, 1, -4, 3}));
  EXPECT_EQ(rotary(x, one, zero).to_vector<f32>(), x.to_vector<f32>());
  EXPECT_ERROR(rotary(Tensor::ones({2, 3}), one, one), shape);
  EXPECT_ERROR(rotary(Tensor::ones({4}), one, one), shape);
  EXPECT_ERROR(rotary(Tensor::ones({3, 4}), Tensor::ones({2, 2}), one), shape);
  EXPECT_ERROR(rotary(x, one.to_dtype(DType::f64), one), dtype);
  EXPECT_ERROR(rotary_into(x.flip(1), x, one, one), overlap);
  EXPECT_ERROR(rotary_into(x.narrow(1, 0, 2), one, x.narrow(1, 0, 1), zero.narrow(1, 0, 1)),
               overlap);
  const Tensor big = normal({4, 8, 129, 64}, DType::f32, 3), c = normal({129, 32}, DType::f32, 4);
  expect_same_bits_for_any_threads([&] { return rotary(big, c, c); });
  expect_same_bits_for_any_threads([&] { return rotary(big, c, c, RotaryPairs::interleaved); });
}

TEST(Dropout, KeepsAShareAndScalesIt) {
  const Tensor x = Tensor::ones({300, 1000});
  for (const f64 p : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    Generator g(5);
    const auto y = dropout(x, p, g).to_vector<f32>();
    f64 kept = 0;
    for (const f32 v : y) {
      if (v != 0) {
        ASSERT_EQ(v, static_cast<f32>(1 / (1 - p)));
        ++kept;
      }
    }
    EXPECT_NEAR(kept / 300000, 1 - p, 5 * std::sqrt(p * (1 - p) / 300000)) << p;
  }
}

TEST(Dropout, TheSameElementsForAnyViewAndThreads) {
  Random random(6);
  for (int round = 0; round < 40; ++round) {
    const DType t = kFloats[random.below(5)];
    const Tensor x = random_view(normal(random_shape(random, 3, 30), t, random.bits()), random);
    Generator a(7), b(7), c(7);
    const Tensor y = dropout(x, 0.3, a);
    ASSERT_TRUE(same_bits(y, dropout(x.copy(), 0.3, b)));
    const Tensor out = strided_empty(x.shape(), t, random);
    copy_into(out, x);
    dropout_into(out, out, 0.3, c);
    ASSERT_TRUE(same_bits(out, y));
  }
  const Tensor x = normal({500, 401}, DType::f32, 8);
  expect_same_bits_for_any_threads([&] {
    Generator g(9);
    return dropout(x.t(), 0.5, g);
  });
  // What is dropped is 0, whatever it was.
  Generator g(1);
  const auto nan = dropout(Tensor::full({1000}, NAN, DType::f32), 0.5, g).to_vector<f32>();
  EXPECT_GT(std::count(nan.begin(), nan.end(), 0.0F), 400);
  EXPECT_ERROR(dropout(x, 1.5, g), argument);
  EXPECT_ERROR(dropout(x, NAN, g), argument);
  EXPECT_ERROR(dropout(Tensor::ones({2}, DType::u8), 0.5, g), unsupported_dtype);
  EXPECT_ERROR(dropout_into(x.flip(0), x, 0.5, g), overlap);
}

}  // namespace
}  // namespace wick
