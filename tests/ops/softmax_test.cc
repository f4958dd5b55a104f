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

constexpr f32 kNaN = std::numeric_limits<f32>::quiet_NaN();
constexpr f32 kInf = std::numeric_limits<f32>::infinity();

Tensor vec(const std::vector<f32>& v) {
  return Tensor::from_vector(v, {static_cast<Index>(v.size())});
}
std::vector<f32> soft(const std::vector<f32>& v) { return softmax(vec(v), 0).to_vector<f32>(); }
bool all_nan(const std::vector<f32>& v) {
  return std::all_of(v.begin(), v.end(), [](f32 x) { return std::isnan(x); });
}

TEST(Softmax, C048_Infinities) {
  EXPECT_EQ(soft({0, -kInf}), (std::vector<f32>{1, 0}));
  EXPECT_EQ(soft({-kInf, 0, -kInf}), (std::vector<f32>{0, 1, 0}));
  EXPECT_TRUE(all_nan(soft({-kInf, -kInf})));
  EXPECT_TRUE(all_nan(soft({0, kInf})));
  EXPECT_TRUE(all_nan(soft({0, kNaN, 1})));
  // The same with 20 such lines side by side.
  const Tensor lines = Tensor::from_vector<f32>({0, -kInf, 0, -kInf, -kInf, kInf}, {2, 1, 3});
  const Tensor y = softmax(lines.broadcast_as({2, 20, 3}).copy(), 0);
  EXPECT_EQ(y.select(2, 0).to_vector<f32>()[0], 1);
  EXPECT_EQ(y.select(2, 0).to_vector<f32>()[39], 0);
  EXPECT_TRUE(all_nan(y.select(2, 1).to_vector<f32>()));
  EXPECT_TRUE(all_nan(y.select(2, 2).to_vector<f32>()));
}

TEST(Softmax, C050_ShortLines) {
  EXPECT_EQ(log_softmax(vec({0.7F}), 0).to_vector<f32>(), (std::vector<f32>{0}));
  EXPECT_EQ(log_softmax(vec({-kInf, 0.7F}), 0).to_vector<f32>(), (std::vector<f32>{-kInf, 0}));
  for (const std::size_t n : {1U, 2U, 3U, 5U, 7U}) {
    std::vector<f32> v(n, -kInf);
    v.back() = 2;
    const auto y = log_softmax(vec(v), 0).to_vector<f32>();
    EXPECT_EQ(y.back(), 0);
    for (std::size_t i = 0; i + 1 < n; ++i) EXPECT_EQ(y[i], -kInf);
  }
}

TEST(Softmax, C051_HalfLinesSumToOne) {
  const Tensor y = softmax(Tensor::full({4096}, 3, DType::f16), 0);
  EXPECT_EQ(y.to_vector<f32>(), std::vector<f32>(4096, 0x1p-12F));
  EXPECT_EQ(y.sum().item<f32>(), 1);
}

TEST(Softmax, C052_EmptyShapes) {
  EXPECT_EQ(softmax(Tensor::empty({0}), 0).shape(), Dims{0});
  EXPECT_EQ(softmax(Tensor::empty({3, 0}), 1).shape(), (Dims{3, 0}));
  EXPECT_EQ(log_softmax(Tensor::empty({0, 3}), 0).shape(), (Dims{0, 3}));
}

/// Both ops against f64, along dim.
void check(const Tensor& x, Index dim) {
  const Dims& shape = x.shape();
  const int d = normalize_axis(dim, x.rank(), "test");
  const Tensor y = softmax(x, dim), z = log_softmax(x, dim);
  ASSERT_EQ(y.shape(), shape);
  const auto in = x.to_vector<f64>(), soft_out = y.to_vector<f64>(), log_out = z.to_vector<f64>();
  std::size_t step = 1;
  for (int i = d + 1; i < x.rank(); ++i) step *= static_cast<std::size_t>(shape[i]);
  const auto n = static_cast<std::size_t>(shape[d]);
  const DType t = x.dtype();
  const double unit = rounding_error(t), inner = t == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double tiny = t == DType::f8e4m3 ? 0x1p-10 : t == DType::f16 ? 0x1p-25 : 1e-300;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i / step % n != 0) continue;
    double max = in[i];
    long double exact = 0;
    for (std::size_t k = 0; k < n; ++k) max = std::max(max, in[i + k * step]);
    for (std::size_t k = 0; k < n; ++k)
      exact += std::exp(static_cast<long double>(in[i + k * step]) - max);
    const auto sum = static_cast<double>(exact);
    for (std::size_t k = 0; k < n; ++k) {
      const double e = std::exp(in[i + k * step] - max) / sum;
      const double l = in[i + k * step] - max - std::log(sum);
      // The shift x - max rounds too, to a part of its own size.
      const double part = (12 + std::fabs(in[i + k * step] - max)) * inner;
      ASSERT_NEAR(soft_out[i + k * step], e, (1.01 * unit + part) * e + tiny) << name(x.dtype());
      ASSERT_NEAR(log_out[i + k * step], l, 1.01 * unit * std::fabs(l) + 2 * part + tiny);
    }
  }
}

TEST(Softmax, AgainstDouble) {
  for (const DType t : kFloats)
    for (const Dims& shape : {Dims{1}, Dims{7}, Dims{5, 3}, Dims{40, 17}, Dims{33, 2, 65},
                              Dims{2, 1500}, Dims{2100, 20}})
      for (int dim = 0; dim < shape.rank(); ++dim) check(normal(shape, t, 5, 3), dim);
}

TEST(Softmax, EveryIsa) {
  for_each_isa([] {
    for (const DType t : kFloats) {
      check(normal({20, 45}, t, 6, 3), 1);
      check(normal({45, 20}, t, 6, 3), 0);
    }
  });
}

TEST(Softmax, AViewGivesTheBitsOfItsCompactCopy) {
  Random random(12);
  for (int round = 0; round < 200; ++round) {
    const Tensor base =
        normal(random_shape(random, 4, 12), kFloats[random.below(5)], random.bits());
    const Tensor x = random_view(base, random);
    if (x.rank() == 0) continue;
    const Index dim = random.between(-x.rank(), x.rank() - 1);
    const Tensor compact = x.copy();
    // Also with the axis moved to the end: other code, same order.
    const Tensor moved = compact.transpose(dim, -1).copy();
    const Tensor y = softmax(x, dim), z = log_softmax(x, dim);
    EXPECT_TRUE(same_bits(y, softmax(compact, dim)));
    EXPECT_TRUE(same_bits(z, log_softmax(compact, dim)));
    EXPECT_TRUE(same_bits(y, softmax(moved, -1).transpose(dim, -1)));
    EXPECT_TRUE(same_bits(z, log_softmax(moved, -1).transpose(dim, -1)));
    const Tensor out = strided_empty(x.shape(), x.dtype(), random);
    softmax_into(out, x, dim);
    EXPECT_TRUE(same_bits(out, y));
    copy_into(out, x);
    log_softmax_into(out, out, dim);
    EXPECT_TRUE(same_bits(out, z));
  }
  for (const DType t : {DType::f32, DType::f64, DType::bf16}) {
    const Tensor x = normal({2500, 40}, t, 8, 4);
    EXPECT_TRUE(same_bits(softmax(x, 0), softmax(x.t().copy(), 1).t()));
    EXPECT_TRUE(same_bits(log_softmax(x, 0), log_softmax(x.t().copy(), 1).t()));
  }
}

TEST(Softmax, SameBitsForAnyThreadCount) {
  for (const DType t : {DType::f32, DType::f16, DType::f64}) {
    const Tensor x = normal({31, 57, 129}, t, 7);
    for (Index dim = 0; dim < 3; ++dim) {
      expect_same_bits_for_any_threads([&] { return softmax(x, dim); });
      expect_same_bits_for_any_threads([&] { return log_softmax(x, dim); });
    }
  }
}

TEST(Softmax, Errors) {
  const Tensor x = Tensor::ones({2, 3});
  EXPECT_ERROR(softmax(x, 2), index);
  EXPECT_ERROR(log_softmax(x, -3), index);
  EXPECT_ERROR(softmax(Tensor::scalar(1), 0), index);
  EXPECT_ERROR(softmax(x.to_dtype(DType::i32), 0), unsupported_dtype);
  EXPECT_ERROR(softmax(Tensor::empty({3}, DType::f8e8m0), 0), unsupported_dtype);
  EXPECT_ERROR(softmax_into(Tensor::ones({3, 2}), x, 0), shape);
  EXPECT_ERROR(softmax_into(Tensor::ones({2, 3}, DType::f64), x, 0), dtype);
  const Tensor long_x = Tensor::ones({10});
  EXPECT_ERROR(softmax_into(long_x.narrow(0, 1, 9), long_x.narrow(0, 0, 9), 0), overlap);
}

}  // namespace
}  // namespace wick
