// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/ops/samples.h"
#include "wick/tensor.h"

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers

constexpr f32 kNaN = std::numeric_limits<f32>::quiet_NaN();
constexpr f32 kInf = std::numeric_limits<f32>::infinity();

Tensor vec(const std::vector<f32>& v) {
  return Tensor::from_vector(v, {static_cast<Index>(v.size())});
}
Dims random_dims(Random& random, int rank) {
  Dims dims;
  for (int i = 0; i < rank; ++i)
    if (random.chance(50)) dims.push_back(random.chance(50) ? i : i - rank);
  return dims;
}
using Reduction = Tensor (Tensor::*)(const Dims&, bool) const;
constexpr Reduction kReductions[] = {&Tensor::sum, &Tensor::mean, &Tensor::max, &Tensor::min};

TEST(Reduce, C021_HalfSumsDoNotStall) {
  for (const DType t : {DType::f16, DType::bf16}) {
    const Tensor x = Tensor::ones({4096}, t);
    EXPECT_EQ(x.sum().item<f32>(), 4096) << name(t);
    EXPECT_EQ(x.mean().item<f32>(), 1) << name(t);
    const Tensor wide = Tensor::ones({4096, 3}, t);
    EXPECT_EQ(wide.sum(Index{0}).to_vector<f32>(), std::vector<f32>(3, 4096)) << name(t);
  }
}

TEST(Reduce, C023_LongColumnsOfOnes) {
  // Broadcast: no memory needed.
  const Index n = (Index{1} << 24) + 64;
  const Tensor x = Tensor::ones({1, 2}).broadcast_as({n, 2});
  EXPECT_EQ(x.sum(Index{0}).to_vector<f32>(), std::vector<f32>(2, 16777280));
  EXPECT_EQ(x.mean(Index{0}).to_vector<f32>(), std::vector<f32>(2, 1));
  EXPECT_EQ(x.t().sum(Index{1}).to_vector<f32>(), std::vector<f32>(2, 16777280));
}

TEST(Reduce, C026_ManyAxesInAnyOrder) {
  const Tensor x = Tensor::ones({3, 2, 3, 3, 3, 3});
  EXPECT_EQ(x.sum({0, 1, 3, 4, 5}).to_vector<f32>(), std::vector<f32>(3, 162));
  const Tensor y = normal({3, 2, 3, 3, 3, 3}, DType::f32, 1);
  EXPECT_TRUE(same_bits(y.sum({0, 1, 3, 4, 5}), y.sum({5, 3, -6, 4, 1})));
}

TEST(Reduce, C028_ReversedViews) { EXPECT_EQ(Tensor::arange(0, 10).flip(0).sum().item<f32>(), 45); }

TEST(Reduce, C030_NaNWins) {
  for (const DType t : kFloats) {
    const Tensor middle = vec({1, kNaN, 2}).to_dtype(t), first = vec({kNaN, 1}).to_dtype(t);
    for (const Tensor& x : {middle, first, middle.neg(), first.neg()}) {
      EXPECT_TRUE(std::isnan(x.max().item<f32>()));
      EXPECT_TRUE(std::isnan(x.min().item<f32>()));
    }
    EXPECT_EQ(vec({1, kNaN, 3, kNaN}).to_dtype(t).argmax(0).item<u32>(), 1U);
    EXPECT_EQ(vec({1, kNaN, 3}).to_dtype(t).argmin(0).item<u32>(), 1U);
    EXPECT_EQ(vec({1, kNaN, 3}).neg().to_dtype(t).argmin(0).item<u32>(), 1U);
  }
}

TEST(Reduce, C032_FirstOfEqualsWins) {
  EXPECT_EQ(vec({2, 3, 3}).argmax(0).item<u32>(), 1U);
  const Tensor x = Tensor::from_vector<f32>({1, 5, 5, 2, 0, 9}, {2, 3});
  EXPECT_EQ(x.argmax(0).to_vector<u32>(), (std::vector<u32>{1, 0, 1}));
  for (const DType t : {DType::f32, DType::u8, DType::f16, DType::i64}) {
    EXPECT_EQ(Tensor::full({1000}, 3, t).argmax(0).item<u32>(), 0U);
    EXPECT_EQ(Tensor::full({100000}, 3, t).argmin(0).item<u32>(), 0U);
  }
  EXPECT_EQ(vec({-0.0F, 0.0F}).argmax(0).item<u32>(), 0U);
  EXPECT_EQ(vec({0.0F, -0.0F}).argmin(0).item<u32>(), 0U);
  EXPECT_EQ(vec({-kInf, -kInf}).argmax(0).item<u32>(), 0U);
  EXPECT_EQ(Tensor::full({5}, INT64_MIN, DType::i64).argmax(0).item<u32>(), 0U);
}

TEST(Reduce, C033_EmptyReductions) {
  const Tensor none = Tensor::empty({0});
  EXPECT_EQ(none.sum().item<f32>(), 0);
  EXPECT_TRUE(std::isnan(none.mean().item<f32>()));
  EXPECT_ERROR(none.max(), shape);
  EXPECT_ERROR(none.argmax(0), shape);
  const Tensor x = Tensor::empty({2, 0});
  EXPECT_EQ(x.max(Index{0}).shape(), Dims{0});
  EXPECT_EQ(x.argmin(0).shape(), Dims{0});
  EXPECT_ERROR(x.max(Index{1}), shape);
  EXPECT_ERROR(x.argmin(1), shape);
  EXPECT_EQ(Tensor::empty({0, 3}).sum(Index{0}).to_vector<f32>(), std::vector<f32>(3, 0));
  EXPECT_EQ(Tensor::empty({2, 2, 0, 3}).sum(Index{2}).to_vector<f32>(), std::vector<f32>(12, 0));
}

TEST(Reduce, C034_AColumnAloneHasTheSameBits) {
  const Tensor x = normal({10000, 5}, DType::f32, 2);
  const Tensor sums = x.sum(Index{0});
  for (Index c = 0; c < 5; ++c) EXPECT_TRUE(same_bits(sums.select(0, c), x.select(1, c).sum()));
}

TEST(Reduce, C036_IntegersArePromoted) {
  const Tensor x = Tensor::from_vector<u8>({200, 100}, {2});
  EXPECT_EQ(x.sum().dtype(), DType::i64);
  EXPECT_EQ(x.sum().item<i64>(), 300);
  const Tensor m = Tensor::from_vector<u8>({1, 2, 3, 4}, {4}).mean();
  EXPECT_EQ(m.dtype(), DType::f64);
  EXPECT_EQ(m.item<f64>(), 2.5);
  EXPECT_EQ(Tensor::full({3}, INT64_MAX, DType::i64).sum().item<i64>(), INT64_MAX - 2);
  EXPECT_EQ(Tensor::full({4}, INT64_MAX, DType::i64).mean().item<f64>(), 0x1p63);
  for (const DType t : kInts) {
    EXPECT_EQ(x.to_dtype(t).max().dtype(), t);
    EXPECT_EQ(Tensor::full({100000}, 100, t).sum().item<i64>(), 10000000);
    EXPECT_EQ(Tensor::full({70000, 2}, 100, t).sum(Index{0}).to_vector<i64>(),
              std::vector<i64>(2, 7000000));
  }
  EXPECT_EQ(Tensor::full({40000}, -32768, DType::i16).sum().item<i64>(), -1310720000);
  EXPECT_EQ(Tensor::full({40000}, 0xFFFFFFFFLL, DType::u32).sum().item<i64>(),
            40000 * 0xFFFFFFFFLL);
}

TEST(Reduce, AViewGivesTheBitsOfItsCompactCopy) {
  Random random(11);
  for (int round = 0; round < 400; ++round) {
    const DType t = kFloats[random.below(5)];
    const Dims shape = random_shape(random, 4, round % 4 == 0 ? 12 : 7);
    const Tensor x = random_view(normal(shape, t, random.bits()), random);
    const Dims dims = random_dims(random, x.rank());
    const bool keepdim = random.chance(50);
    Index n = 1;
    for (const Index d : dims) n *= x.size(d);
    const Tensor compact = x.copy();
    for (const Reduction f : kReductions) {
      if (n == 0 && (f == kReductions[2] || f == kReductions[3])) continue;
      const Tensor got = (x.*f)(dims, keepdim);
      EXPECT_TRUE(same_bits(got, (compact.*f)(dims, keepdim)));
      const Tensor out = strided_empty(got.shape(), got.dtype(), random);
      if (f == kReductions[0]) sum_into(out, x, dims, keepdim);
      if (f == kReductions[1]) mean_into(out, x, dims, keepdim);
      if (f == kReductions[2]) max_into(out, x, dims, keepdim);
      if (f == kReductions[3]) min_into(out, x, dims, keepdim);
      EXPECT_TRUE(same_bits(out, got));
    }
    if (x.rank() > 0 && x.element_count() > 0) {
      const Index dim = random.below(x.rank());
      EXPECT_TRUE(same_bits(x.argmax(dim, keepdim), compact.argmax(dim, keepdim)));
      EXPECT_TRUE(same_bits(x.argmin(dim, keepdim), compact.argmin(dim, keepdim)));
    }
  }
}

TEST(Reduce, LargeViewsToo) {
  for (const DType t : {DType::f32, DType::f64, DType::bf16}) {
    const Tensor x = normal({50, 70, 90}, t, 3);
    for (const Tensor& v : {x.transpose(0, 2), x.permute({1, 2, 0}), x.flip(1).flip(2),
                            x.slice(2, 1, 90, 2), x.narrow(1, 3, 60)}) {
      const Tensor c = v.copy();
      for (const Dims& dims :
           {Dims{0}, Dims{1}, Dims{2}, Dims{0, 1}, Dims{0, 2}, Dims{1, 2}, Dims{0, 1, 2}, Dims{}})
        for (const Reduction f : kReductions)
          EXPECT_TRUE(same_bits((v.*f)(dims, false), (c.*f)(dims, false))) << to_string(dims);
    }
  }
}

TEST(Reduce, CloseToTheExactSum) {
  for (const DType t : kFloats)
    for (const Index n : {1, 5, 1000, 300000}) {
      const Tensor x = normal({n}, t, static_cast<std::uint64_t>(n));
      long double exact = 0, size = 0;
      for (const f64 v : x.to_vector<f64>()) {
        exact += v;
        size += std::fabs(v);
      }
      const double step = is_float(t) && t != DType::f64 ? 0x1p-24 : 0x1p-53;
      const auto e = static_cast<double>(exact);
      const double bound =
          20 * step * static_cast<double>(size) / std::sqrt(static_cast<double>(n)) +
          rounding_error(t) * std::fabs(e) * 1.01 + 1e-300;
      if (t != DType::f8e4m3 || std::fabs(e) < 440) {
        EXPECT_NEAR(x.sum().item<f64>(), e, bound + (t == DType::f8e4m3 ? 0x1p-10 : 0))
            << name(t) << n;
      }
    }
}

TEST(Reduce, SameBitsForAnyThreadCount) {
  for (const DType t : {DType::f32, DType::f16, DType::f64, DType::i32}) {
    const Tensor x = normal({37, 123, 211}, t, 4, 10);
    for (const Dims& dims : {Dims{0}, Dims{1}, Dims{2}, Dims{0, 2}, Dims{0, 1, 2}})
      for (const Reduction f : kReductions)
        expect_same_bits_for_any_threads([&] { return (x.*f)(dims, false); });
    const Tensor flat = x.reshape({-1});
    expect_same_bits_for_any_threads([&] { return flat.argmax(0); });
    expect_same_bits_for_any_threads([&] { return x.argmin(1); });
    const Tensor tall = x.reshape({-1, 3});
    for (const Reduction f : kReductions)
      expect_same_bits_for_any_threads([&] { return (tall.*f)({0}, false); });
  }
}

TEST(Reduce, ZerosAreOrderedInMaxAndMin) {
  for (const auto& v : {std::vector<f32>{-0.0F, 0.0F}, std::vector<f32>{0.0F, -0.0F}}) {
    EXPECT_FALSE(std::signbit(vec(v).max().item<f32>()));
    EXPECT_TRUE(std::signbit(vec(v).min().item<f32>()));
  }
  EXPECT_EQ(vec({-kInf, kInf, 3}).max().item<f32>(), kInf);
  EXPECT_EQ(vec({-kInf, kInf, 3}).min().item<f32>(), -kInf);
  EXPECT_TRUE(std::isnan(vec({-kInf, kInf}).sum().item<f32>()));
}

TEST(Reduce, ScalarsAndNoDims) {
  const Tensor s = Tensor::scalar(3);
  EXPECT_EQ(s.sum().item<f32>(), 3);
  EXPECT_EQ(s.max().item<f32>(), 3);
  const Tensor x = Tensor::from_vector<i16>({1, 2, 3}, {3});
  EXPECT_EQ(x.sum(Dims{}).to_vector<i64>(), (std::vector<i64>{1, 2, 3}));
  EXPECT_EQ(x.sum(0, true).shape(), Dims{1});
  EXPECT_EQ(Tensor::ones({2, 3, 4}).sum({0, -1}, true).shape(), (Dims{1, 3, 1}));
}

TEST(Reduce, Errors) {
  const Tensor x = Tensor::ones({2, 3, 4});
  EXPECT_ERROR(x.sum({0, 0}), argument);
  EXPECT_ERROR(x.sum({1, -2}), argument);
  EXPECT_ERROR(x.sum(Index{3}), index);
  EXPECT_ERROR(x.max(Index{-100}), index);
  EXPECT_ERROR(x.argmax(-4), index);
  EXPECT_ERROR(Tensor::scalar(1).argmax(0), index);
  EXPECT_ERROR(Tensor::empty({4}, DType::f8e8m0).sum(), unsupported_dtype);
  EXPECT_ERROR(Tensor::empty({4}, DType::f4).argmax(0), unsupported_dtype);
  EXPECT_ERROR(sum_into(Tensor::ones({2, 3}), x, {0}), shape);
  EXPECT_ERROR(sum_into(Tensor::ones({3, 4}, DType::f64), x, {0}), dtype);
  EXPECT_ERROR(sum_into(x.select(0, 0), x, {0}), overlap);
  EXPECT_ERROR(argmax_into(Tensor::ones({3, 4}), x, 0), dtype);
  EXPECT_ERROR(max_into(Tensor::ones({1, 4}).broadcast_as({3, 4}), x, {0}), overlap);
  const Tensor wide = Tensor::zeros({1}, DType::u8).broadcast_as({Index{1} << 32});
  EXPECT_ERROR(wide.argmax(0), shape);
}

}  // namespace
}  // namespace wick
