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

/// Windows by the definition. `pick(values, elements inside the padded input)` gives an output.
template <class F>
std::vector<f64> reference_pool(const Tensor& x, const Dims& shape, PerAxis kernel,
                                const PoolOptions& o, F&& pick) {
  const ReferenceImage in(x);
  const PerAxis stride(o.stride.h == 0 ? kernel.h : o.stride.h,
                       o.stride.w == 0 ? kernel.w : o.stride.w);
  std::vector<f64> all;
  for_each_index(shape, [&](const Dims& i) {
    std::vector<f64> values;
    Index inside = 0;
    for (Index ky = 0; ky < kernel.h; ++ky)
      for (Index kx = 0; kx < kernel.w; ++kx) {
        const Index y = i[2] * stride.h - o.padding.h + ky * o.dilation.h;
        const Index z = i[3] * stride.w - o.padding.w + kx * o.dilation.w;
        if (y < in.shape[2] + o.padding.h && z < in.shape[3] + o.padding.w) ++inside;
        if (y >= 0 && z >= 0 && y < in.shape[2] && z < in.shape[3])
          values.push_back(in.value[in.at(i[0], i[1], y, z)]);
      }
    all.push_back(pick(values, o.count_include_pad ? inside : static_cast<Index>(values.size())));
  });
  return all;
}

struct Case {
  Tensor x;
  PerAxis kernel{1};
  PoolOptions options;
};

Case random_case(Random& random, DType t, bool dilate) {
  Case c;
  const auto axis = [&](Index& taps, Index& stride, Index& padding, Index& dilation) -> Index {
    taps = random.between(1, 5);
    stride = random.between(0, 4);
    padding = random.between(0, taps / 2);
    dilation = dilate ? random.between(1, 3) : 1;
    const Index least = std::max((taps - 1) * dilation + 1 - 2 * padding, Index{1});
    return random.between(least, least + 40);
  };
  PoolOptions& o = c.options;
  const Index h = axis(c.kernel.h, o.stride.h, o.padding.h, o.dilation.h);
  const Index w = axis(c.kernel.w, o.stride.w, o.padding.w, o.dilation.w);
  o.ceil_mode = random.chance(50);
  o.count_include_pad = random.chance(50);
  c.x = normal({random.between(1, 2), random.between(1, 20), h, w}, t, random.bits(), 3);
  return c;
}

TEST(MaxPool, AgainstTheReferenceInEveryDType) {
  for_each_isa([] {
    Random random(1);
    for (int round = 0; round < 100; ++round) {
      const Case c = random_case(random, kTen[round % 10], true);
      const Tensor y = max_pool2d(c.x, c.kernel, c.options);
      const auto wanted = reference_pool(
          c.x, y.shape(), c.kernel, c.options, [&](const std::vector<f64>& values, Index) {
            if (values.empty()) {
              const auto lowest = is_float(y.dtype())
                                      ? -std::numeric_limits<f64>::infinity()
                                      : doubles_of(Tensor::scalar(-1e30, y.dtype()))[0];
              return doubles_of(Tensor::scalar(lowest, y.dtype()))[0];
            }
            return *std::max_element(values.begin(), values.end());
          });
      ASSERT_EQ(doubles_of(y), wanted) << round;
    }
  });
}

TEST(AvgPool, AgainstTheReferenceInEveryDType) {
  for_each_isa([] {
    Random random(2);
    for (int round = 0; round < 100; ++round) {
      const DType t = kFloats[round % 5];
      const Case c = random_case(random, t, false);
      const Tensor y = avg_pool2d(c.x, c.kernel, c.options);
      const auto got = doubles_of(y);
      const auto mean = [](const std::vector<f64>& values, Index count) {
        f64 sum = 0;
        for (const f64 v : values) sum += v;
        return sum / static_cast<f64>(count);
      };
      const auto size = [](const std::vector<f64>& values, Index count) {
        f64 sum = 0;
        for (const f64 v : values) sum += std::fabs(v);
        return sum / static_cast<f64>(count);
      };
      const auto wanted = reference_pool(c.x, y.shape(), c.kernel, c.options, mean);
      const auto sizes = reference_pool(c.x, y.shape(), c.kernel, c.options, size);
      const f64 inner = t == DType::f64 ? 0x1p-53 : 0x1p-24;
      const f64 tiny = t == DType::f8e4m3 ? 0x1p-10 : t == DType::f16 ? 0x1p-25 : 1e-300;
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], wanted[i],
                    26 * inner * sizes[i] + 1.01 * rounding_error(t) * std::fabs(wanted[i]) + tiny);
    }
  });
}

TEST(Pool, AViewGivesTheBitsOfItsCompactCopy) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const DType t = kTen[round % 10];
    const Case c = random_case(random, t, false);
    const auto both = [&](const auto& pool, const auto& pool_into) {
      const Tensor y = pool(c.x, c.kernel, c.options);
      const Tensor x = strided_empty(c.x.shape(), t, random),
                   out = strided_empty(y.shape(), t, random);
      copy_into(x, c.x);
      pool_into(out, x, c.kernel, c.options);
      EXPECT_TRUE(same_bits(out, y));
      const Tensor last = channels_last(c.x), out_last = channels_last(y.mul(0));
      pool_into(out_last, last, c.kernel, c.options);
      EXPECT_TRUE(same_bits(out_last, y));
      pool_into(out, last, c.kernel, c.options);
      EXPECT_TRUE(same_bits(out, y));
    };
    both([](auto&&... a) { return max_pool2d(a...); }, [](auto&&... a) { max_pool2d_into(a...); });
    if (is_float(t))
      both([](auto&&... a) { return avg_pool2d(a...); },
           [](auto&&... a) { avg_pool2d_into(a...); });
  }
}

TEST(Pool, SameBitsForAnyThreadCount) {
  for (const DType t : {DType::f32, DType::bf16, DType::f64}) {
    const Tensor x = normal({2, 40, 50, 41}, t, 4);
    for (const Tensor& in : {x, channels_last(x)}) {
      expect_same_bits_for_any_threads([&] { return in.avg_pool2d(3, 2, 1); });
      expect_same_bits_for_any_threads([&] { return in.max_pool2d(3, 2, 1); });
    }
  }
}

TEST(AvgPool, C101_CeilModeDividesByWhatIsInside) {
  const Tensor x = Tensor::arange(0, 49).reshape({1, 1, 7, 7});
  EXPECT_EQ(x.avg_pool2d(2, 3, 0, true).to_vector<f32>(),
            (std::vector<f32>{4, 7, 9.5, 25, 28, 30.5, 42.5, 45.5, 48}));
  const Tensor y = Tensor::arange(1, 17).reshape({1, 1, 4, 4});
  EXPECT_EQ(y.avg_pool2d(3, 2, 0, true).to_vector<f32>(), (std::vector<f32>{6, 7.5, 12, 13.5}));
  // Padding counts, but not what lies beyond it.
  EXPECT_EQ(Tensor::ones({1, 1, 2, 2}).avg_pool2d(2, 2, 1).to_vector<f32>(),
            std::vector<f32>(4, 0.25));
  PoolOptions o;
  o.padding = 1;
  o.count_include_pad = false;
  EXPECT_EQ(avg_pool2d(Tensor::ones({1, 1, 2, 2}), 2, o).to_vector<f32>(), std::vector<f32>(4, 1));
}

TEST(Pool, C103_NoWindowBeginsInThePaddingOnTheRight) {
  // ceil((3 + 2 - 2) / 2) + 1 = 3 windows, the third at 3: behind the input.
  const Tensor x = Tensor::ones({1, 1, 3, 3});
  EXPECT_EQ(x.avg_pool2d(2, 2, 1, true).shape(), (Dims{1, 1, 2, 2}));
  EXPECT_EQ(x.max_pool2d(2, 2, 1, 1, true).shape(), (Dims{1, 1, 2, 2}));
  PoolOptions o;
  o.ceil_mode = true;
  o.count_include_pad = false;
  for (Index size = 1; size < 12; ++size)
    for (Index kernel = 1; kernel <= size; ++kernel)
      for (Index stride = 1; stride < 6; ++stride)
        for (Index padding = 0; padding <= kernel / 2; ++padding) {
          o.stride = stride;
          o.padding = padding;
          for (const f32 v :
               avg_pool2d(Tensor::ones({1, 1, size, size}), kernel, o).to_vector<f32>())
            ASSERT_NEAR(v, 1, 1e-6);
        }
}

TEST(MaxPool, C104_PaddingIsLowerThanEverything) {
  const Tensor x = Tensor::full({1, 1, 2, 2}, -5);
  EXPECT_EQ(x.max_pool2d(2, 1, 1).to_vector<f32>(), std::vector<f32>(9, -5));
  EXPECT_EQ(x.to_dtype(DType::i16).max_pool2d(2, 1, 1).to_vector<i32>(), std::vector<i32>(9, -5));
  EXPECT_ERROR(x.max_pool2d(2, 1, 2), argument);
  EXPECT_ERROR(x.avg_pool2d(2, 1, 2), argument);
  EXPECT_ERROR(x.max_pool2d(3, 1, 2), argument);
}

TEST(AvgPool, C106_GlobalMeanOfF16) {
  EXPECT_EQ(Tensor::ones({1, 1, 64, 64}, DType::f16).avg_pool2d(64).item<f32>(), 1);
}

TEST(MaxPool, NaNWinsAtAnyPlace) {
  const f32 nan = std::numeric_limits<f32>::quiet_NaN();
  for (const DType t : kFloats)
    for (Index place = 0; place < 20; ++place) {
      Tensor x = normal({1, 1, 4, 5}, t, 5);
      fill_into(x.flatten().narrow(0, place, 1), nan);
      const auto got = x.max_pool2d(3, 1, 1).to_vector<f32>();
      for (Index y = 0; y < 4; ++y)
        for (Index z = 0; z < 5; ++z)
          EXPECT_EQ(std::isnan(got[static_cast<std::size_t>(y * 5 + z)]),
                    std::abs(y - place / 5) <= 1 && std::abs(z - place % 5) <= 1);
    }
}

TEST(Pool, EmptyAndErrors) {
  const Tensor x = Tensor::ones({1, 2, 4, 4});
  EXPECT_EQ(Tensor::empty({0, 2, 4, 4}).max_pool2d(2).shape(), (Dims{0, 2, 2, 2}));
  EXPECT_EQ(Tensor::empty({2, 0, 4, 4}).avg_pool2d(2).shape(), (Dims{2, 0, 2, 2}));
  EXPECT_ERROR(x.max_pool2d(5), shape);
  EXPECT_ERROR(x.max_pool2d(0), shape);
  EXPECT_ERROR(x.max_pool2d(2, -1), argument);
  EXPECT_ERROR(x.max_pool2d(2, 1, -1), argument);
  EXPECT_ERROR(x.max_pool2d(2, 1, 0, 0), argument);
  EXPECT_ERROR(x.max_pool2d(Index{1} << 62, 1, Index{1} << 61), overflow);
  EXPECT_ERROR(x.squeeze(0).select(0, 0).max_pool2d(2), shape);
  EXPECT_ERROR(x.to_dtype(DType::i32).avg_pool2d(2), unsupported_dtype);
  EXPECT_ERROR(x.to_dtype(DType::f4).max_pool2d(2), unsupported_dtype);
  EXPECT_ERROR(max_pool2d_into(x, x, 1), overlap);
  EXPECT_ERROR(max_pool2d_into(x, x, 2), shape);
  EXPECT_ERROR(avg_pool2d_into(x.to_dtype(DType::f16), x, 1), dtype);
}

TEST(Columns, AgainstTheDefinition) {
  Random random(6);
  for (int round = 0; round < 200; ++round) {
    const DType t = kTen[round % 10];
    WindowOptions o{random.between(1, 3), random.between(0, 3), random.between(1, 2)};
    const PerAxis kernel(random.between(1, 3), random.between(1, 4));
    const Index least_h = std::max((kernel.h - 1) * o.dilation.h + 1 - 2 * o.padding.h, Index{0}),
                least_w = std::max((kernel.w - 1) * o.dilation.w + 1 - 2 * o.padding.w, Index{0});
    const Tensor x =
        normal({random.between(1, 2), random.between(1, 3), random.between(least_h, least_h + 6),
                random.between(least_w, least_w + 6)},
               t, random.bits(), 3);
    const Tensor columns = im2col(x, kernel, o);
    const ReferenceImage in(x);
    const Index wide =
        (in.shape[3] + 2 * o.padding.w - (kernel.w - 1) * o.dilation.w - 1) / o.stride.w + 1;
    std::vector<f64> wanted, back(in.value.size(), 0);
    for_each_index(columns.shape(), [&](const Dims& i) {
      const Index c = i[1] / (kernel.h * kernel.w), place = i[1] % (kernel.h * kernel.w);
      const Index y = i[2] / wide * o.stride.h + place / kernel.w * o.dilation.h - o.padding.h;
      const Index z = i[2] % wide * o.stride.w + place % kernel.w * o.dilation.w - o.padding.w;
      const bool inside = y >= 0 && z >= 0 && y < in.shape[2] && z < in.shape[3];
      wanted.push_back(inside ? in.value[in.at(i[0], c, y, z)] : 0);
      if (inside) back[in.at(i[0], c, y, z)] += wanted.back();
    });
    ASSERT_EQ(doubles_of(columns), wanted);
    const Tensor out = strided_empty(columns.shape(), t, random),
                 view = strided_empty(x.shape(), t, random);
    copy_into(view, x);
    im2col_into(out, view, kernel, o);
    EXPECT_TRUE(same_bits(out, columns));
    const PerAxis size(in.shape[2], in.shape[3]);
    const Tensor image = col2im(columns, size, kernel, o);
    const Tensor rounded = Tensor::from_vector(back, in.shape).to_dtype(DType::i64).to_dtype(t);
    const auto got = doubles_of(image), modulo = doubles_of(rounded);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (is_int(t)) {
        ASSERT_EQ(got[i], modulo[i]);
      } else {
        const f64 limit = t == DType::f8e4m3 ? 448 : 1e300;
        ASSERT_NEAR(got[i], std::clamp(back[i], -limit, limit),
                    (1.01 * rounding_error(t) + 1e-5) * std::fabs(back[i]) + 1e-3);
      }
    }
    col2im_into(view, out, kernel, o);
    EXPECT_TRUE(same_bits(view, image));
  }
  const Tensor x = normal({2, 9, 40, 41}, DType::f32, 7), c = im2col(x, 3);
  expect_same_bits_for_any_threads([&] { return im2col(x, 3); });
  expect_same_bits_for_any_threads([&] { return col2im(c, {40, 41}, 3); });
  EXPECT_ERROR(im2col(x, 50), shape);
  EXPECT_ERROR(im2col(x, Index{1} << 62), shape);
  EXPECT_ERROR(im2col(x, 1, {1, Index{1} << 61, 1}), overflow);
  EXPECT_ERROR(col2im(c, {40, 40}, 3), shape);
  EXPECT_ERROR(im2col_into(c, x, 2), shape);
}

}  // namespace
}  // namespace wick
