// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/ops/op_calls.h"
#include "tests/ops/samples.h"
#include "wick/conv.h"

namespace wick::testing {

/// The value of each output, and the sum of the sizes of what was added.
struct Reference {
  Dims shape;
  std::vector<f64> value, size;
  std::vector<std::uint64_t> whole;  ///< for integers: modulo 2^64
};

struct ReferenceImage {
  explicit ReferenceImage(const Tensor& x) : shape(x.shape()), value(doubles_of(x)) {}
  std::size_t at(Index n, Index c, Index y, Index x) const {
    return static_cast<std::size_t>(((n * shape[1] + c) * shape[2] + y) * shape[3] + x);
  }
  Dims shape;
  std::vector<f64> value;
};

/// Calls add(output, input, weight) for every product, by the definition; places as (n, c, y, x).
template <class F>
Reference reference_products(const Dims& shape, F&& each) {
  Reference r;
  r.shape = shape;
  const auto n = static_cast<std::size_t>(element_count(shape));
  r.value.resize(n);
  r.size.resize(n);
  r.whole.resize(n);
  each([&](std::size_t at, f64 a, f64 b) {
    r.value[at] += a * b;
    r.size[at] += std::fabs(a * b);
    r.whole[at] += static_cast<std::uint64_t>(static_cast<std::int64_t>(a)) *
                   static_cast<std::uint64_t>(static_cast<std::int64_t>(b));
  });
  return r;
}

inline Reference reference_conv(const Tensor& x, const Tensor& kernel, const Conv2dOptions& o) {
  const ReferenceImage in(x), k(kernel);
  const auto size = [](Index n, Index taps, Index stride, Index padding, Index dilation) {
    return (n + 2 * padding - dilation * (taps - 1) - 1) / stride + 1;
  };
  const Index outputs = k.shape[0], per_group = k.shape[1];
  const Dims shape{in.shape[0], outputs,
                   size(in.shape[2], k.shape[2], o.stride.h, o.padding.h, o.dilation.h),
                   size(in.shape[3], k.shape[3], o.stride.w, o.padding.w, o.dilation.w)};
  return reference_products(shape, [&](auto add) {
    std::size_t at = 0;
    for_each_index(shape, [&](const Dims& i) {
      const Index group = i[1] / (outputs / o.groups);
      for (Index c = 0; c < per_group; ++c)
        for (Index ky = 0; ky < k.shape[2]; ++ky)
          for (Index kx = 0; kx < k.shape[3]; ++kx) {
            const Index y = i[2] * o.stride.h - o.padding.h + ky * o.dilation.h;
            const Index z = i[3] * o.stride.w - o.padding.w + kx * o.dilation.w;
            if (y < 0 || z < 0 || y >= in.shape[2] || z >= in.shape[3]) continue;
            add(at, in.value[in.at(i[0], group * per_group + c, y, z)],
                k.value[k.at(i[1], c, ky, kx)]);
          }
      ++at;
    });
  });
}

inline Reference reference_conv_transpose(const Tensor& x, const Tensor& kernel,
                                          const ConvTranspose2dOptions& o) {
  const ReferenceImage in(x), k(kernel);
  const auto size = [](Index n, Index taps, Index stride, Index padding, Index more,
                       Index dilation) {
    return (n - 1) * stride - 2 * padding + dilation * (taps - 1) + more + 1;
  };
  const Index per_group = k.shape[1];
  const Dims shape{
      in.shape[0], per_group * o.groups,
      size(in.shape[2], k.shape[2], o.stride.h, o.padding.h, o.output_padding.h, o.dilation.h),
      size(in.shape[3], k.shape[3], o.stride.w, o.padding.w, o.output_padding.w, o.dilation.w)};
  return reference_products(shape, [&](auto add) {
    for_each_index(in.shape, [&](const Dims& i) {
      const Index group = i[1] / (in.shape[1] / o.groups);
      for (Index c = 0; c < per_group; ++c)
        for (Index ky = 0; ky < k.shape[2]; ++ky)
          for (Index kx = 0; kx < k.shape[3]; ++kx) {
            const Index y = i[2] * o.stride.h - o.padding.h + ky * o.dilation.h;
            const Index z = i[3] * o.stride.w - o.padding.w + kx * o.dilation.w;
            if (y < 0 || z < 0 || y >= shape[2] || z >= shape[3]) continue;
            const Index out =
                ((i[0] * shape[1] + group * per_group + c) * shape[2] + y) * shape[3] + z;
            add(static_cast<std::size_t>(out), in.value[in.at(i[0], i[1], i[2], i[3])],
                k.value[k.at(i[1], c, ky, kx)]);
          }
    });
  });
}

/// k products were added for each element: in f32 or wider, and rounded once to y's dtype.
inline void expect_near_reference(const Tensor& y, const Reference& r, Index k) {
  ASSERT_EQ(y.shape(), r.shape);
  const std::vector<f64> got = doubles_of(y);
  const DType t = y.dtype();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (is_int(t)) {
      const Tensor wanted =
          Tensor::scalar(static_cast<std::int64_t>(r.whole[i]), DType::i64).to_dtype(t);
      ASSERT_EQ(got[i], doubles_of(wanted)[0]) << name(t) << " element " << i;
      continue;
    }
    const f64 unit = t == DType::f64 ? 0x1p-53 : 0x1p-24;
    const f64 tiny = t == DType::f8e4m3 ? 0x1p-10 : t == DType::f16 ? 0x1p-25 : 1e-300;
    const f64 limit = t == DType::f8e4m3 ? 448 : 1e300;
    const f64 wanted = std::min(std::max(r.value[i], -limit), limit);
    ASSERT_NEAR(got[i], wanted,
                static_cast<f64>(k + 1) * unit * r.size[i] +
                    1.01 * rounding_error(t) * std::fabs(wanted) + tiny)
        << name(t) << " element " << i;
  }
}

}  // namespace wick::testing
