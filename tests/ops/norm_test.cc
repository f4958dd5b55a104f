// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/all_isas.h"
#include "tests/ops/samples.h"
#include "wick/nn.h"

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers

Tensor plain_layer_norm(const Tensor& x, f64 eps) {
  const Dims last{x.shape().last(1)};
  return layer_norm(x, Tensor::ones(last, x.dtype()), Tensor::zeros(last, x.dtype()), eps);
}
Tensor plain_rms_norm(const Tensor& x, f64 eps) {
  return rms_norm(x, Tensor::ones({x.shape().last(1)}, x.dtype()), eps);
}
void expect_near(const Tensor& got, const std::vector<f64>& wanted, double tolerance) {
  const auto v = got.to_vector<f64>();
  ASSERT_EQ(v.size(), wanted.size());
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], wanted[i], tolerance) << i;
}

TEST(Norm, C042_SmallVarianceAroundALargeMean) {
  const std::vector<f64> wanted = {-1.34164, -0.44721, 0.44721, 1.34164};
  for (const DType t : {DType::f32, DType::f64}) {
    const Tensor x = Tensor::from_vector<f64>({40000, 40001, 40002, 40003}, {4}).to_dtype(t);
    expect_near(plain_layer_norm(x, 1e-5), wanted, 1e-4);
  }
  // A mean that f32 cannot hold.
  const Tensor y = Tensor::from_vector<f32>({4000000, 4000001, 4000001}, {3});
  expect_near(plain_layer_norm(y, 0), {-1.4142136, 0.7071068, 0.7071068}, 1e-6);
}

TEST(Norm, C044_ConstantRows) {
  for (const DType t : kFloats)
    for (const f64 eps : {1e-5, 0.0}) {
      EXPECT_EQ(plain_layer_norm(Tensor::full({4}, 7, t), eps).to_vector<f32>(),
                std::vector<f32>(4, 0));
      EXPECT_EQ(plain_layer_norm(Tensor::full({3, 1}, 7, t), eps).to_vector<f32>(),
                std::vector<f32>(3, 0));
    }
}

TEST(Norm, C045_SquaresOutgrowTheDtype) {
  EXPECT_EQ(plain_rms_norm(Tensor::full({4}, 300, DType::f16), 1e-5).to_vector<f32>(),
            std::vector<f32>(4, 1));
  for (const f64 big : {7e9, 1e30, 3e38, 1e-30, 1e-44}) {
    const Tensor x = Tensor::full({40}, big, DType::f32);
    expect_near(plain_rms_norm(x, 0), std::vector<f64>(40, 1), 1e-6);
    expect_near(
        plain_layer_norm(
            Tensor::from_vector<f32>({static_cast<f32>(big), static_cast<f32>(-big)}, {2}), 0),
        {1, -1}, 1e-6);
  }
  for (const f64 big : {1e200, 1.7e308, 1e-200, 5e-324}) {
    const Tensor x = Tensor::from_vector<f64>({big, -big}, {2});
    expect_near(plain_rms_norm(x, 0), {1, -1}, 1e-15);
    expect_near(plain_layer_norm(x, 0), {1, -1}, 1e-15);
  }
}

TEST(Norm, C047_RmsNormValues) {
  const Tensor x = Tensor::from_vector<f32>({3, 4}, {2});
  expect_near(plain_rms_norm(x, 0), {0.8485281, 1.1313709}, 1e-6);
  expect_near(plain_rms_norm(x, 12.5), {0.6, 0.8}, 1e-6);
  for (const f64 eps : {1e-6, 0.0})
    EXPECT_EQ(plain_rms_norm(Tensor::zeros({5}), eps).to_vector<f32>(), std::vector<f32>(5, 0));
}

void check(const Dims& shape, DType t, std::uint64_t seed) {
  const f64 eps = 1e-5;
  const Dims last{shape.last(1)};
  const Tensor x = normal(shape, t, seed, 2), w = normal(last, t, seed + 1),
               b = normal(last, t, seed + 2);
  const auto in = x.to_vector<f64>(), wv = w.to_vector<f64>(), bv = b.to_vector<f64>();
  const auto layer = layer_norm(x, w, b, eps).to_vector<f64>(),
             rms = rms_norm(x, w, eps).to_vector<f64>();
  const std::size_t n = wv.size();
  const double unit = rounding_error(t), inner = t == DType::f64 ? 0x1p-53 : 0x1p-24;
  for (std::size_t r = 0; r < in.size(); r += n) {
    double mean = 0, variance = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) mean += in[r + i] / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) {
      variance += (in[r + i] - mean) * (in[r + i] - mean) / static_cast<double>(n);
      squares += in[r + i] * in[r + i] / static_cast<double>(n);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double part = (in[r + i] - mean) / std::sqrt(variance + eps) * wv[i];
      const double l = part + bv[i], s = in[r + i] / std::sqrt(squares + eps) * wv[i];
      const double tiny = t == DType::f8e4m3 ? 0x1p-10 : t == DType::f16 ? 0x1p-25 : 1e-300;
      ASSERT_NEAR(layer[r + i], l,
                  1.01 * unit * std::fabs(l) +
                      40 * inner * (std::fabs(part) + std::fabs(wv[i]) + 1) + tiny);
      ASSERT_NEAR(rms[r + i], s, 1.01 * unit * std::fabs(s) + 16 * inner * std::fabs(s) + tiny);
    }
  }
}

TEST(Norm, AgainstDoubleOnEveryIsa) {
  for_each_isa([] {
    for (const DType t : kFloats)
      for (const Dims& shape : {Dims{3, 2}, Dims{1}, Dims{4, 17}, Dims{2, 3, 384}, Dims{2, 5000}})
        check(shape, t, 21);
  });
}

TEST(Norm, AViewGivesTheBitsOfItsCompactCopy) {
  Random random(13);
  for (int round = 0; round < 200; ++round) {
    const Tensor base =
        normal(random_shape(random, 4, 20), kFloats[random.below(5)], random.bits());
    const Tensor x = random_view(base, random);
    if (x.rank() == 0) continue;
    const Index n = x.shape().last(1);
    const Tensor w = normal({2 * n + 1}, x.dtype(), 1).slice(0, 1, 2 * n + 1, 2);
    const Tensor b = normal({n}, x.dtype(), 2).flip(0);
    const Tensor y = layer_norm(x, w, b, 1e-5), z = rms_norm(x, w, 1e-5);
    EXPECT_TRUE(same_bits(y, layer_norm(x.copy(), w.copy(), b.copy(), 1e-5)));
    EXPECT_TRUE(same_bits(z, rms_norm(x.copy(), w.copy(), 1e-5)));
    const Tensor out = strided_empty(x.shape(), x.dtype(), random);
    layer_norm_into(out, x, w, b, 1e-5);
    EXPECT_TRUE(same_bits(out, y));
    copy_into(out, x);
    rms_norm_into(out, out, w, 1e-5);
    EXPECT_TRUE(same_bits(out, z));
  }
}

TEST(Norm, ARowAloneHasTheSameBits) {
  const Tensor x = normal({300, 384}, DType::f32, 3), w = normal({384}, DType::f32, 4),
               b = normal({384}, DType::f32, 5);
  const Tensor y = layer_norm(x, w, b, 1e-12);
  for (const Index row : {0, 17, 299})
    EXPECT_TRUE(same_bits(layer_norm(x.select(0, row), w, b, 1e-12), y.select(0, row)));
}

TEST(Norm, SameBitsForAnyThreadCount) {
  for (const DType t : {DType::f32, DType::bf16, DType::f64}) {
    const Tensor x = normal({501, 333}, t, 6), w = normal({333}, t, 7), b = normal({333}, t, 8);
    expect_same_bits_for_any_threads([&] { return layer_norm(x, w, b, 1e-5); });
    expect_same_bits_for_any_threads([&] { return rms_norm(x, w, 1e-5); });
  }
}

TEST(Norm, NaNStaysInItsRow) {
  const f32 inf = std::numeric_limits<f32>::infinity(), nan = std::numeric_limits<f32>::quiet_NaN();
  const Tensor x = Tensor::from_vector<f32>({nan, 1, 3, 5, inf, 1}, {3, 2});
  for (const auto& y :
       {plain_layer_norm(x, 1e-5).to_vector<f32>(), plain_rms_norm(x, 1e-5).to_vector<f32>()}) {
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]) && std::isnan(y[4]));
    EXPECT_TRUE(std::isfinite(y[2]) && std::isfinite(y[3]));
  }
}

TEST(Norm, EmptyAndErrors) {
  const Tensor w = Tensor::ones({3}), x = Tensor::ones({2, 3});
  EXPECT_EQ(rms_norm(Tensor::empty({0, 3}), w, 1e-5).shape(), (Dims{0, 3}));
  EXPECT_EQ(plain_layer_norm(Tensor::empty({3, 0}), 1e-5).shape(), (Dims{3, 0}));
  EXPECT_ERROR(layer_norm(Tensor::scalar(1), w, w, 1e-5), shape);
  EXPECT_ERROR(layer_norm(x, Tensor::ones({2}), w, 1e-5), shape);
  EXPECT_ERROR(layer_norm(x, w, Tensor::ones({1, 3}), 1e-5), shape);
  EXPECT_ERROR(layer_norm(x, w, w.to_dtype(DType::f64), 1e-5), dtype);
  EXPECT_ERROR(rms_norm(x, w, -1), argument);
  EXPECT_ERROR(rms_norm(x, w, std::nan("")), argument);
  EXPECT_ERROR(rms_norm(x.to_dtype(DType::u8), w.to_dtype(DType::u8), 1e-5), unsupported_dtype);
  EXPECT_ERROR(rms_norm_into(w, w.unsqueeze(0), w, 1e-5), shape);
  EXPECT_ERROR(rms_norm_into(w, w.flip(0), Tensor::ones({3}), 1e-5), overlap);
  EXPECT_ERROR(rms_norm_into(w, Tensor::ones({3}), w, 1e-5), overlap);
}

}  // namespace
}  // namespace wick
