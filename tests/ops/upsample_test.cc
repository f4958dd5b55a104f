// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/all_isas.h"
#include "tests/ops/conv_reference.h"
#include "wick/conv.h"

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers

Tensor channels_last(const Tensor& x) {
  return x.permute({0, 2, 3, 1}).copy().permute({0, 3, 1, 2});
}

TEST(UpsampleNearest, C107_PlacesAreExact) {
  const auto place = [](Index in, Index out, Index i) {
    return Tensor::arange(0, in, 1, DType::i64)
        .reshape({1, 1, in})
        .upsample_nearest1d(out)
        .select(2, i)
        .item<i64>();
  };
  EXPECT_EQ(place(2, 82, 41), 1);
  EXPECT_EQ(place(2, 98, 49), 1);
  const Tensor three = Tensor::arange(0, 3).reshape({1, 1, 3});
  EXPECT_EQ(three.upsample_nearest1d(7).to_vector<f32>(), (std::vector<f32>{0, 0, 0, 1, 1, 2, 2}));
  const Tensor five = Tensor::arange(0, 5).reshape({1, 1, 5});
  EXPECT_EQ(five.upsample_nearest1d(3).to_vector<f32>(), (std::vector<f32>{0, 1, 3}));
  for (Index in = 1; in < 30; ++in)
    for (Index out = 1; out < 200; out += 7) {
      const Tensor x = Tensor::arange(0, in, 1, DType::i32).reshape({1, 1, 1, in});
      const auto got = x.upsample_nearest2d(1, out).to_vector<i64>();
      const auto across = x.transpose(2, 3).upsample_nearest2d(out, 1).to_vector<i64>();
      for (Index i = 0; i < out; ++i) {
        ASSERT_EQ(got[static_cast<std::size_t>(i)], i * in / out);
        ASSERT_EQ(across[static_cast<std::size_t>(i)], i * in / out);
      }
    }
}

TEST(UpsampleNearest, AnyViewInEveryDType) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const DType t = kTen[round % 10];
    const Dims shape{random.between(1, 2), random.between(1, 9), random.between(1, 7),
                     random.between(1, 40)};
    const Tensor x = normal(shape, t, random.bits(), 3);
    const bool twice = random.chance(40);
    const PerAxis size(twice ? 2 * shape[2] : random.between(0, 20),
                       twice ? 2 * shape[3] : random.between(0, 90));
    const Tensor y = upsample_nearest2d(x, size);
    const ReferenceImage in(x);
    std::vector<f64> wanted;
    for_each_index(y.shape(), [&](const Dims& i) {
      wanted.push_back(
          in.value[in.at(i[0], i[1], i[2] * shape[2] / size.h, i[3] * shape[3] / size.w)]);
    });
    ASSERT_EQ(doubles_of(y), wanted);
    const Tensor view = strided_empty(shape, t, random), out = strided_empty(y.shape(), t, random);
    copy_into(view, x);
    upsample_nearest2d_into(out, view);
    EXPECT_TRUE(same_bits(out, y));
    const Tensor last = channels_last(y.mul(0));
    upsample_nearest2d_into(last, channels_last(x));
    EXPECT_TRUE(same_bits(last, y));
  }
  const Tensor raw = Tensor::ones({1, 1, 1, 2}).to_dtype(DType::f8e8m0);
  EXPECT_EQ(raw.upsample_nearest2d(1, 3).to_dtype(DType::f32).to_vector<f32>(),
            std::vector<f32>(3, 1));
}

/// By the definition, in f64.
std::vector<f64> reference_bilinear(const Tensor& x, const Dims& shape, const BilinearOptions& o) {
  const ReferenceImage in(x);
  const auto place = [&](Index i, Index from, Index to, f64 scale) {
    if (o.align_corners)
      return to > 1 ? static_cast<f64>(i) * static_cast<f64>(from - 1) / static_cast<f64>(to - 1)
                    : 0.0;
    if (scale == 0) scale = static_cast<f64>(to) / static_cast<f64>(from);
    const f64 at = std::max((static_cast<f64>(i) + 0.5) / scale - 0.5, 0.0);
    return std::min(at, static_cast<f64>(from - 1));
  };
  std::vector<f64> all;
  for_each_index(shape, [&](const Dims& i) {
    const f64 y = place(i[2], in.shape[2], shape[2], o.scale_h),
              z = place(i[3], in.shape[3], shape[3], o.scale_w);
    const auto y0 = static_cast<Index>(y), z0 = static_cast<Index>(z);
    const Index y1 = std::min(y0 + 1, in.shape[2] - 1), z1 = std::min(z0 + 1, in.shape[3] - 1);
    const f64 v = y - static_cast<f64>(y0), w = z - static_cast<f64>(z0);
    const auto at = [&](Index a, Index b) { return in.value[in.at(i[0], i[1], a, b)]; };
    all.push_back((1 - v) * ((1 - w) * at(y0, z0) + w * at(y0, z1)) +
                  v * ((1 - w) * at(y1, z0) + w * at(y1, z1)));
  });
  return all;
}

TEST(UpsampleBilinear, AgainstTheReference) {
  for_each_isa([] {
    Random random(2);
    for (int round = 0; round < 150; ++round) {
      const DType t = kFloats[round % 5];
      const Dims shape{random.between(1, 2), random.between(1, 20), random.between(1, 7),
                       random.between(1, 40)};
      const Tensor x = normal(shape, t, random.bits(), 3);
      BilinearOptions o;
      o.align_corners = random.chance(40);
      if (!o.align_corners && random.chance(50)) o.scale_w = 1.7, o.scale_h = 0.6;
      const Tensor y = upsample_bilinear2d(x, {random.between(0, 20), random.between(0, 90)}, o);
      const auto got = doubles_of(y), wanted = reference_bilinear(x, y.shape(), o);
      const f64 inner = t == DType::f64 ? 0x1p-48 : 0x1p-20;
      const f64 tiny = t == DType::f8e4m3 ? 0x1p-10 : 1e-7;
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], wanted[i],
                    20 * inner + 1.01 * rounding_error(t) * std::fabs(wanted[i]) + tiny);
      const Tensor view = strided_empty(shape, t, random),
                   out = strided_empty(y.shape(), t, random);
      copy_into(view, x);
      upsample_bilinear2d_into(out, view, o);
      EXPECT_TRUE(same_bits(out, y));
      const Tensor last = channels_last(y.mul(0));
      upsample_bilinear2d_into(last, channels_last(x), o);
      EXPECT_TRUE(same_bits(last, y));
    }
  });
}

TEST(UpsampleBilinear, C109_KnownValues) {
  const Tensor x = Tensor::arange(1, 5).reshape({1, 1, 2, 2});
  EXPECT_EQ(x.upsample_bilinear2d(4, 4).to_vector<f32>(),
            (std::vector<f32>{1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25,
                              3.75, 4}));
  EXPECT_EQ(x.upsample_bilinear2d(3, 3, true).to_vector<f32>(),
            (std::vector<f32>{1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4}));
  for (const bool align : {false, true})
    EXPECT_EQ(Tensor::full({1, 1, 1, 1}, 7).upsample_bilinear2d(3, 3, align).to_vector<f32>(),
              std::vector<f32>(9, 7));
  EXPECT_TRUE(same_bits(upsample_bilinear2d_with_scale(x, 2, 2), x.upsample_bilinear2d(4, 4)));
}

TEST(UpsampleBilinear, APlaceOnAnElementGivesThatElement) {
  const f32 inf = std::numeric_limits<f32>::infinity();
  const Tensor x = Tensor::from_vector<f32>({1, inf, -inf, NAN, 5, 6, 7, 8, 9}, {1, 1, 3, 3});
  EXPECT_TRUE(same_bits(x.upsample_bilinear2d(3, 3), x));
  EXPECT_TRUE(same_bits(x.upsample_bilinear2d(3, 3, true), x));
}

TEST(Upsample, SameBitsForAnyThreadCount) {
  const Tensor x = normal({2, 20, 30, 41}, DType::f32, 3);
  for (const Tensor& in : {x, channels_last(x)}) {
    expect_same_bits_for_any_threads([&] { return in.upsample_nearest2d(60, 82); });
    expect_same_bits_for_any_threads([&] { return in.upsample_bilinear2d(60, 82); });
  }
}

TEST(Upsample, EmptyAndErrors) {
  const Tensor x = Tensor::ones({1, 2, 4, 4});
  EXPECT_EQ(Tensor::empty({0, 2, 4, 4}).upsample_nearest2d(2, 3).shape(), (Dims{0, 2, 2, 3}));
  EXPECT_EQ(Tensor::empty({1, 2, 0, 0}).upsample_bilinear2d(0, 0).shape(), (Dims{1, 2, 0, 0}));
  EXPECT_ERROR(Tensor::empty({1, 2, 0, 4}).upsample_nearest2d(2, 3), shape);
  EXPECT_ERROR(x.upsample_nearest2d(-1, 3), argument);
  EXPECT_ERROR(x.upsample_nearest1d(3), shape);
  EXPECT_ERROR(x.upsample_nearest2d(Index{1} << 40, Index{1} << 40), overflow);
  EXPECT_ERROR(x.to_dtype(DType::i32).upsample_bilinear2d(2, 2), unsupported_dtype);
  EXPECT_ERROR(x.to_dtype(DType::f4).upsample_nearest2d(2, 2), unsupported_dtype);
  EXPECT_ERROR(upsample_bilinear2d_with_scale(x, 0, 1), argument);
  EXPECT_ERROR(upsample_bilinear2d_with_scale(x, 1, NAN), argument);
  EXPECT_ERROR(upsample_bilinear2d(x, 2, {false, -1, 1}), argument);
  EXPECT_ERROR(upsample_nearest2d_into(x, x), overlap);
  EXPECT_ERROR(upsample_nearest2d_into(Tensor::ones({1, 3, 4, 4}), x), shape);
  EXPECT_ERROR(upsample_nearest2d_into(Tensor::ones({4}), x), shape);
}

}  // namespace
}  // namespace wick
