// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/all_isas.h"
#include "tests/ops/conv_reference.h"
#include "tests/ops/samples.h"
#include "wick/conv.h"

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers

/// A shape of a convolution chosen at random, and what it gives.
struct Case {
  Tensor x, kernel;
  Conv2dOptions options;
};

Case random_case(Random& random, DType t, Index most = 9) {
  Case c;
  const Index groups = random.chance(60) ? 1 : random.between(2, 4);
  const Index in = groups * random.between(1, 5), out = groups * random.between(1, 5);
  c.options.groups = groups;
  const auto axis = [&](Index& size, Index& taps, Index& stride, Index& padding, Index& dilation) {
    taps = random.between(1, 4);
    stride = random.between(1, 3);
    dilation = random.between(1, 3);
    padding = random.between(0, 4);
    const Index least = std::max((taps - 1) * dilation + 1 - 2 * padding, Index{0});
    size = random.between(least, least + most);
  };
  Index h = 0, w = 0, kh = 0, kw = 0;
  axis(h, kh, c.options.stride.h, c.options.padding.h, c.options.dilation.h);
  axis(w, kw, c.options.stride.w, c.options.padding.w, c.options.dilation.w);
  c.x = normal({random.between(1, 3), in, h, w}, t, random.bits(), 2);
  c.kernel = normal({out, in / groups, kh, kw}, t, random.bits(), 2);
  return c;
}

TEST(Conv, AgainstTheReferenceInEveryDType) {
  Random random(1);
  for (int round = 0; round < 400; ++round) {
    const DType t = kTen[round % 10];
    const Case c = random_case(random, t);
    const Tensor y = conv2d(c.x, c.kernel, c.options);
    expect_near_reference(y, reference_conv(c.x, c.kernel, c.options),
                          c.kernel.element_count() / c.kernel.shape()[0]);
  }
}

TEST(Conv, LargeOnesOnEveryIsa) {
  for_each_isa([] {
    Random random(2);
    for (const DType t : {DType::f32, DType::f64, DType::bf16, DType::i32}) {
      for (const auto& [channels, outputs, size, taps] :
           {std::array<Index, 4>{50, 33, 12, 3}, {3, 17, 40, 7}, {130, 5, 9, 3}}) {
        Case c;
        c.x = normal({2, channels, size, size + 1}, t, random.bits());
        c.kernel = normal({outputs, channels, taps, taps}, t, random.bits());
        c.options.padding = taps / 2;
        c.options.stride = random.between(1, 2);
        const Tensor y = conv2d(c.x, c.kernel, c.options);
        expect_near_reference(y, reference_conv(c.x, c.kernel, c.options), channels * taps * taps);
      }
    }
  });
}

TEST(Conv, IsTheProductOfTheKernelWithTheWindows) {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    Case c = random_case(random, round % 3 == 0 ? DType::f64 : DType::f32, 20);
    if (round % 4 == 0) {  // several chunks of k
      c.x = normal({2, 60, 9, 10}, c.x.dtype(), random.bits());
      c.kernel = normal({20, 60, 3, 3}, c.x.dtype(), random.bits());
      c.options = {};
      c.options.stride = random.between(1, 2);
      c.options.padding = random.between(0, 2);
    }
    if (c.options.groups > 1) continue;
    const Tensor columns = im2col(c.x, {c.kernel.shape()[2], c.kernel.shape()[3]},
                                  {c.options.stride, c.options.padding, c.options.dilation});
    const Tensor y = conv2d(c.x, c.kernel, c.options);
    const Tensor product = c.kernel.flatten(1).matmul(columns);
    EXPECT_TRUE(same_bits(y, product.reshape(y.shape())));
  }
}

TEST(Conv, AViewGivesTheBitsOfItsCompactCopy) {
  Random random(4);
  for (int round = 0; round < 300; ++round) {
    const DType t = kTen[round % 10];
    const Case c = random_case(random, t);
    const Tensor y = conv2d(c.x, c.kernel, c.options);
    const Tensor x = strided_empty(c.x.shape(), t, random),
                 kernel = strided_empty(c.kernel.shape(), t, random),
                 out = strided_empty(y.shape(), t, random);
    copy_into(x, c.x);
    copy_into(kernel, c.kernel);
    conv2d_into(out, x, kernel, c.options);
    EXPECT_TRUE(same_bits(out, y));
    // Channels last, in and out.
    const Tensor last = c.x.permute({0, 2, 3, 1}).copy().permute({0, 3, 1, 2});
    const Dims& s = y.shape();
    const Tensor out_last = Tensor::empty({s[0], s[2], s[3], s[1]}, t).permute({0, 3, 1, 2});
    conv2d_into(out_last, last, c.kernel, c.options);
    EXPECT_TRUE(same_bits(out_last, y));
    conv2d_into(out, last, c.kernel, c.options);
    EXPECT_TRUE(same_bits(out, y));
  }
}

TEST(Conv, DepthwiseHasTheBitsOfItsGroups) {
  Random random(30);
  for (int round = 0; round < 150; ++round) {
    const DType t = kFloats[round % 5];
    const Index groups = random.between(2, 150), outputs = random.between(1, 2);
    Conv2dOptions o;
    o.stride = {random.between(1, 3), random.between(1, 3)};
    o.padding = {random.between(0, 3), random.between(0, 3)};
    o.dilation = {random.between(1, 3), random.between(1, 3)};
    const Tensor x =
        normal({2, groups, random.between(9, 20), random.between(9, 50)}, t, random.bits());
    const Tensor kernel =
        normal({groups * outputs, 1, random.between(1, 4), random.between(1, 4)}, t, random.bits());
    std::vector<Tensor> inputs = {x, x.permute({0, 2, 3, 1}).copy().permute({0, 3, 1, 2})};
    const bool more = random.chance(50);
    if (more) {
      o.epilogue.bias = normal({groups * outputs}, t, random.bits());
      o.epilogue.activation = UnaryOp::silu;
    }
    for (const Tensor& in : inputs) {
      Conv2dOptions all = o;
      all.groups = groups;
      const Tensor y = conv2d(in, kernel, all);
      const Tensor last =
          Tensor::empty({2, y.shape()[2], y.shape()[3], y.shape()[1]}, t).permute({0, 3, 1, 2});
      conv2d_into(last, in, kernel, all);
      EXPECT_TRUE(same_bits(last, y));
      const Tensor odd = strided_empty(y.shape(), t, random);
      conv2d_into(odd, in, kernel, all);
      EXPECT_TRUE(same_bits(odd, y));
      for (const Index g : {Index{0}, groups / 2, groups - 1}) {
        Conv2dOptions one = o;
        if (more) one.epilogue.bias = o.epilogue.bias->narrow(0, g * outputs, outputs);
        EXPECT_TRUE(
            same_bits(conv2d(in.narrow(1, g, 1), kernel.narrow(0, g * outputs, outputs), one),
                      y.narrow(1, g * outputs, outputs)));
      }
    }
  }
}

TEST(Conv, RepeatedAndReversedOperands) {
  const Tensor x = normal({1, 3, 1, 9}, DType::f32, 5).broadcast_as({2, 3, 7, 9}).flip(3);
  const Tensor kernel = normal({4, 1, 3, 1}, DType::f32, 6).broadcast_as({4, 3, 3, 3}).flip(2);
  EXPECT_TRUE(same_bits(x.conv2d(kernel, 1, 1), x.copy().conv2d(kernel.copy(), 1, 1)));
}

TEST(Conv, AnImageAloneHasTheSameBits) {
  for (const Index channels : {3, 64}) {
    const Tensor x = normal({5, channels, 17, 13}, DType::f32, 7);
    const Tensor kernel = normal({21, channels, 3, 3}, DType::f32, 8);
    const Tensor y = x.conv2d(kernel, 1, 1);
    for (Index i = 0; i < 5; ++i)
      EXPECT_TRUE(same_bits(x.narrow(0, i, 1).conv2d(kernel, 1, 1), y.narrow(0, i, 1)));
  }
}

TEST(Conv, SameBitsForAnyThreadCount) {
  for (const DType t : {DType::f32, DType::bf16, DType::f64, DType::i16})
    for (const Index outputs : {5, 70})
      for (const Index size : {7, 40}) {
        const Tensor x = normal({2, 64, size, size}, t, 9);
        const Tensor kernel = normal({outputs, 64, 3, 3}, t, 10);
        expect_same_bits_for_any_threads([&] { return x.conv2d(kernel, 1, 1); });
        const Tensor turned = normal({64, outputs, 3, 3}, t, 10);
        expect_same_bits_for_any_threads([&] { return x.conv_transpose2d(turned, 2, 1, 1); });
        const Tensor deep = normal({64, 1, 3, 3}, t, 11);
        expect_same_bits_for_any_threads([&] { return x.conv2d(deep, 1, 1, 1, 64); });
      }
}

TEST(Conv, LongLinesAreCut) {
  for (const Index stride : {1, 2, 5}) {
    const Tensor x = normal({1, 20, 5000}, DType::f32, 12);
    const Tensor kernel = normal({7, 20, 5}, DType::f32, 13);
    Conv2dOptions o;
    o.stride = {1, stride};
    o.padding = {0, 2};
    const Tensor y = x.conv1d(kernel, stride, 2);
    expect_near_reference(y.unsqueeze(2), reference_conv(x.unsqueeze(2), kernel.unsqueeze(2), o),
                          100);
  }
}

TEST(Conv, EpilogueIsTheOpsOneAfterTheOther) {
  Random random(14);
  for (int round = 0; round < 100; ++round) {
    const DType t = random.chance(50) ? DType::f32 : DType::f64;
    Case c = random_case(random, t, 12);
    if (round % 5 == 0) {
      c.x = normal({1, 50, 8, 9}, t, random.bits());
      c.kernel = normal({9, 50, 3, 3}, t, random.bits());
      c.options = {};
    }
    const Tensor y = conv2d(c.x, c.kernel, c.options);
    const Index outputs = y.shape()[1];
    const Tensor bias = normal({outputs}, t, random.bits()),
                 residual = normal(y.shape(), t, random.bits());
    const Tensor wanted =
        y.affine(0.5, 0).add(bias.reshape({outputs, 1, 1})).gelu_erf().mul(3).add(residual);
    Epilogue& e = c.options.epilogue;
    e.alpha = 0.5;
    e.bias = bias;
    e.activation = UnaryOp::gelu_erf;
    e.scale = 3;
    e.residual = residual;
    EXPECT_TRUE(same_bits(conv2d(c.x, c.kernel, c.options), wanted));
    const Tensor out = strided_empty(y.shape(), t, random);
    copy_into(out, residual);
    e.residual = out;
    conv2d_into(out, c.x, c.kernel, c.options);
    EXPECT_TRUE(same_bits(out, wanted));
  }
}

TEST(Conv, BetaKeepsTheOldOutput) {
  const Tensor x = normal({2, 8, 6, 6}, DType::f64, 15), k = normal({4, 8, 3, 3}, DType::f64, 16);
  const Tensor y = x.conv2d(k);
  const Tensor out = Tensor::ones(y.shape(), DType::f64);
  Conv2dOptions o;
  o.epilogue.beta = 2;
  conv2d_into(out, x, k, o);
  EXPECT_TRUE(same_bits(out, y.add(2)));
  EXPECT_ERROR(conv2d(x, k, o), argument);
}

TEST(Conv, C087_KernelsThatAreViews) {
  const Tensor x = Tensor::arange(1, 19).reshape({1, 2, 3, 3});
  const Tensor k = Tensor::arange(1, 17).reshape({2, 2, 2, 2});
  const std::vector<f32> wanted = {548, 600, 704, 756, 788, 872, 1040, 1124};
  EXPECT_EQ(x.conv2d(k.transpose(0, 1)).to_vector<f32>(), wanted);
  // A slice with an offset, for images and lines.
  const Tensor base = Tensor::arange(-3, 30);
  const Tensor sliced = base.narrow(0, 4, 16).reshape({2, 2, 2, 2});
  EXPECT_EQ(x.conv2d(sliced.transpose(0, 1)).to_vector<f32>(), wanted);
  const Tensor line = normal({2, 3, 20}, DType::f32, 17), wide = normal({3, 9, 5}, DType::f32, 18);
  const Tensor part = wide.narrow(1, 2, 4).transpose(0, 1);
  EXPECT_TRUE(same_bits(line.conv1d(part), line.conv1d(part.copy())));
}

TEST(Conv, C089_EqualSizesOfDifferentDims) {
  const Tensor x = Tensor::arange(1, 9).reshape({1, 2, 2, 2});
  EXPECT_EQ(x.conv2d(x).to_vector<f32>(), std::vector<f32>{204});
}

TEST(Conv, C090_Depthwise) {
  const Tensor x = Tensor::arange(1, 19).reshape({1, 2, 3, 3});
  const Tensor k = Tensor::arange(1, 9).reshape({2, 1, 2, 2});
  EXPECT_EQ(x.conv2d(k, 1, 0, 1, 2).to_vector<f32>(),
            (std::vector<f32>{37, 47, 67, 77, 319, 345, 397, 423}));
}

TEST(Conv, C092_DilationPaddingAndStride) {
  const Tensor x = Tensor::arange(1, 8).reshape({1, 1, 7});
  const Tensor k = Tensor::from_vector<f32>({1, 10, 100}, {1, 1, 3});
  EXPECT_EQ(x.conv1d(k, 2, 1, 2).to_vector<f32>(), (std::vector<f32>{420, 642, 64}));
}

TEST(Conv, C094_PaddingBeyondTheKernel) {
  const Tensor x = Tensor::full({1, 1, 1}, 4), k = Tensor::full({1, 1, 1}, 2);
  EXPECT_EQ(x.conv1d(k, 1, 2).to_vector<f32>(), (std::vector<f32>{0, 0, 8, 0, 0}));
}

TEST(Conv, C095_SizesThatAreErrors) {
  const Tensor x = Tensor::ones({1, 1, 2}), k = Tensor::ones({1, 1, 3});
  EXPECT_ERROR(x.conv1d(k), shape);
  EXPECT_ERROR(x.conv1d(Tensor::ones({1, 1, 0})), shape);
  const Tensor one = Tensor::ones({1, 1, 1});
  EXPECT_ERROR(x.conv1d(one, 0), argument);
  EXPECT_ERROR(x.conv1d(one, -1), argument);
  EXPECT_ERROR(x.conv1d(one, 1, 0, 0), argument);
  EXPECT_ERROR(x.conv1d(one, 1, -1), argument);
  EXPECT_ERROR(x.conv1d(one, 1, 0, 1, 0), argument);
  EXPECT_ERROR(x.conv1d(one, 1, 0, 1, -2), argument);
  const Index huge = Index{1} << 62;
  EXPECT_ERROR(x.conv1d(one, 1, huge), overflow);
  EXPECT_ERROR(x.conv1d(one, huge, huge - 1), overflow);
  EXPECT_ERROR(x.conv1d(Tensor::ones({1, 1, 2}), 1, 0, huge), shape);
  EXPECT_ERROR(x.conv1d(k, 1, 0, huge), overflow);
  EXPECT_ERROR(x.conv1d(one, 1, Index{1} << 58), out_of_memory);
  EXPECT_ERROR(x.conv_transpose1d(one, huge), overflow);
  EXPECT_ERROR(x.conv_transpose1d(one, 1, 2), shape);
  EXPECT_ERROR(x.conv_transpose1d(one, 1, huge), overflow);
  EXPECT_ERROR(x.conv_transpose1d(k, 1, 0, 0, 1, huge), overflow);
  // A stride may be large where nothing overflows; places far apart, too.
  EXPECT_EQ(x.conv1d(one, huge / 4).to_vector<f32>(), std::vector<f32>{1});
  const Index far = Index{1} << 40;
  EXPECT_EQ(x.conv1d(Tensor::ones({1, 1, 2}), far, far, 2 * far).to_vector<f32>(),
            std::vector<f32>{0});
}

TEST(Conv, C096_EmptyBatches) {
  const Tensor x = Tensor::empty({0, 3, 8, 8}), k = Tensor::ones({4, 3, 3, 3});
  EXPECT_EQ(x.conv2d(k).shape(), (Dims{0, 4, 6, 6}));
  EXPECT_EQ(x.conv_transpose2d(Tensor::ones({3, 4, 3, 3})).shape(), (Dims{0, 4, 10, 10}));
  EXPECT_EQ(Tensor::ones({2, 3, 8, 8}).conv2d(Tensor::ones({0, 3, 3, 3})).shape(),
            (Dims{2, 0, 6, 6}));
  // No channels: nothing is added up, the bias remains.
  Conv2dOptions o;
  o.epilogue.bias = Tensor::from_vector<f32>({1, 2}, {2});
  EXPECT_EQ(conv2d(Tensor::ones({1, 0, 2, 1}), Tensor::ones({2, 0, 1, 1}), o).to_vector<f32>(),
            (std::vector<f32>{1, 1, 2, 2}));
  // An input without elements, all padding.
  EXPECT_EQ(Tensor::ones({1, 1, 0}).conv1d(Tensor::ones({1, 1, 2}), 1, 1).to_vector<f32>(),
            std::vector<f32>{0});
}

TEST(ConvTranspose, AgainstTheReference) {
  Random random(20);
  for (int round = 0; round < 400; ++round) {
    const DType t = kTen[round % 10];
    const Index groups = random.chance(60) ? 1 : random.between(2, 4);
    const Index in = groups * random.between(1, 4), out = random.between(1, 4);
    ConvTranspose2dOptions o;
    o.groups = groups;
    Index size[2], taps[2];
    const auto axis = [&](int i, Index& stride, Index& padding, Index& more, Index& dilation) {
      size[i] = random.between(1, 6);
      taps[i] = random.between(1, 4);
      stride = random.between(1, 4);
      dilation = random.between(1, 3);
      more = random.below(std::max(stride, dilation));
      padding = random.between(0, 3);
      while ((size[i] - 1) * stride - 2 * padding + dilation * (taps[i] - 1) + more < 0) --padding;
    };
    axis(0, o.stride.h, o.padding.h, o.output_padding.h, o.dilation.h);
    axis(1, o.stride.w, o.padding.w, o.output_padding.w, o.dilation.w);
    const Tensor x = normal({random.between(1, 2), in, size[0], size[1]}, t, random.bits(), 2);
    const Tensor kernel = normal({in, out, taps[0], taps[1]}, t, random.bits(), 2);
    const Tensor y = conv_transpose2d(x, kernel, o);
    expect_near_reference(y, reference_conv_transpose(x, kernel, o),
                          in / groups * taps[0] * taps[1]);
    const Tensor last = x.permute({0, 2, 3, 1}).copy().permute({0, 3, 1, 2});
    const Tensor to = strided_empty(y.shape(), t, random);
    conv_transpose2d_into(to, last, kernel, o);
    EXPECT_TRUE(same_bits(to, y));
    if (!is_float(t)) continue;
    o.epilogue.bias = normal({y.shape()[1]}, t, random.bits());
    o.epilogue.activation = UnaryOp::relu;
    o.epilogue.residual = y;
    const Tensor finished = conv_transpose2d(x, kernel, o);
    if (t != DType::f32) continue;
    EXPECT_TRUE(
        same_bits(finished, y.add(o.epilogue.bias->reshape({y.shape()[1], 1, 1})).relu().add(y)));
  }
}

TEST(ConvTranspose, C098_EveryImageOfABatch) {
  const Tensor x = Tensor::from_vector<f32>({1, 2, 3, 4}, {2, 1, 2});
  const Tensor k = Tensor::ones({1, 1, 2});
  const std::vector<f32> wanted = {1, 3, 2, 3, 7, 4};
  EXPECT_EQ(x.conv_transpose1d(k).to_vector<f32>(), wanted);
  EXPECT_EQ(x.unsqueeze(2).conv_transpose2d(k.unsqueeze(2)).to_vector<f32>(), wanted);
  EXPECT_EQ(x.unsqueeze(3).conv_transpose2d(k.unsqueeze(3)).to_vector<f32>(), wanted);
}

TEST(ConvTranspose, C099_GroupsAndOutputPadding) {
  const Tensor x = Tensor::from_vector<f32>({1, 2, 10, 20}, {1, 2, 2});
  const Tensor k = Tensor::from_vector<f32>({1, 1, 2, 3}, {2, 1, 2});
  EXPECT_EQ(x.conv_transpose1d(k, 1, 0, 0, 2).to_vector<f32>(),
            (std::vector<f32>{1, 3, 2, 20, 70, 60}));
  EXPECT_ERROR(x.conv_transpose1d(k, 2, 0, 2, 2), argument);
  EXPECT_ERROR(x.conv_transpose1d(k, 1, 0, 1, 2), argument);
  EXPECT_ERROR(x.conv_transpose1d(k, 1, 0, -1, 2), argument);
  EXPECT_EQ(x.conv_transpose1d(k, 1, 0, 1, 2, 2).shape(), (Dims{1, 2, 5}));
}

TEST(Conv, Errors) {
  const Tensor x = Tensor::ones({1, 4, 5, 5}), k = Tensor::ones({2, 4, 3, 3});
  EXPECT_ERROR(x.conv2d(k.squeeze(0).select(0, 0)), shape);
  EXPECT_ERROR(x.select(0, 0).conv2d(k), shape);
  EXPECT_ERROR(x.conv1d(k), shape);
  EXPECT_ERROR(x.conv2d(Tensor::ones({2, 3, 3, 3})), shape);
  EXPECT_ERROR(x.conv2d(k, 1, 0, 1, 2), shape);
  EXPECT_ERROR(x.conv2d(Tensor::ones({3, 2, 3, 3}), 1, 0, 1, 2), shape);
  EXPECT_ERROR(x.conv_transpose2d(k), shape);
  EXPECT_ERROR(x.conv2d(k.to_dtype(DType::f64)), dtype);
  EXPECT_ERROR(x.to_dtype(DType::f4).conv2d(k.to_dtype(DType::f4)), unsupported_dtype);
  const Tensor out = Tensor::full({1, 2, 3, 3}, 7);
  Conv2dOptions o;
  o.epilogue.bias = Tensor::ones({3});
  EXPECT_ERROR(conv2d_into(out, x, k, o), shape);
  o.epilogue.bias = Tensor::ones({2}, DType::f64);
  EXPECT_ERROR(conv2d_into(out, x, k, o), dtype);
  o.epilogue.bias = std::nullopt;
  o.epilogue.residual = Tensor::ones({3, 3, 3});
  EXPECT_ERROR(conv2d_into(out, x, k, o), shape);
  o.epilogue.residual = Tensor::ones({1}, DType::f16);
  EXPECT_ERROR(conv2d_into(out, x, k, o), dtype);
  EXPECT_ERROR(conv2d_into(out.narrow(3, 0, 2), x, k), shape);
  EXPECT_ERROR(conv2d_into(out.to_dtype(DType::f16), x, k), dtype);
  EXPECT_ERROR(conv2d_into(Tensor::ones({1}).broadcast_as(out.shape()), x, k), overlap);
  EXPECT_ERROR(conv2d_into(x.narrow(1, 0, 2).narrow(2, 1, 3).narrow(3, 1, 3), x, k), overlap);
  o = {};
  o.epilogue.alpha = 0.5;
  const Tensor ix = x.to_dtype(DType::i32), ik = k.to_dtype(DType::i32);
  EXPECT_ERROR(conv2d(ix, ik, o), argument);
  o.epilogue.alpha = 2;
  EXPECT_EQ(conv2d(ix, ik, o).to_vector<i32>(), std::vector<i32>(18, 72));
  o.epilogue.activation = UnaryOp::relu;
  EXPECT_ERROR(conv2d(ix, ik, o), unsupported_dtype);
  EXPECT_EQ(out.to_vector<f32>(), std::vector<f32>(18, 7));
}

}  // namespace
}  // namespace wick
