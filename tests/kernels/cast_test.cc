// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/cast.h"

#include <gtest/gtest.h>

#include "tests/all_isas.h"
#include "tests/kernels/layouts.h"

namespace wick {
namespace {

using testing::samples;

// Values near the ends of the integer types and halfway between small floats, beside the usual.
template <Element T>
std::vector<T> cast_samples() {
  std::vector<T> v = samples<T>(1500);
  for (const f64 base :
       {0.0, 127.0, 255.0, 256.0, 32767.0, 65535.0, 65519.0, 65520.0, 2147483647.0, 4294967295.0,
        9223372036854775807.0, 448.0, 464.0, 480.0, 17.0, 19.0, 16777217.0}) {
    for (const f64 step : {0.0, 0.25, 0.5, 0.99, 1.0, 2.0, 1e-9}) {
      v.push_back(convert<T>(base + step));
      v.push_back(convert<T>(base - step));
      v.push_back(convert<T>(-base + step));
      v.push_back(convert<T>(-base - step));
    }
  }
  for (int e = -30; e < 20; ++e) {
    for (const f64 m : {1.0, 1.0 + 0x1p-4, 1.0 + 0x1p-8, 1.0 + 0x1p-11, 1.0 + 0x3p-11,
                        1.0 + 0x1p-11 + 0x1p-40, 1.0 + 0x1p-8 + 0x1p-50, 1.5})
      v.push_back(convert<T>(std::ldexp(m, e)));
  }
  if constexpr (sizeof(T) <= 2) {
    for (int c = 0; c < 1 << (8 * sizeof(T)); ++c) {
      T x;
      const auto code = static_cast<std::uint16_t>(c);
      std::memcpy(&x, &code, sizeof(T));
      v.push_back(x);
    }
  }
  if constexpr (std::same_as<T, i64>) {
    for (int s = 20; s < 63; ++s)
      for (const i64 low : {i64{-1}, i64{0}, i64{1}})
        v.push_back((i64{1} << s) + (i64{1} << (s - 9)) + low);
  }
  return v;
}

template <Element To, Element From>
void check_pair(const std::vector<From>& x) {
  const auto f = kernels::cast(dtype_of<To>, dtype_of<From>);
  ASSERT_NE(f, nullptr);
  std::vector<To> y(x.size());
  f(y.data(), x.data(), {static_cast<Index>(x.size()), 1, {1, 1}, {0, 0}});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const To want = convert<To>(x[i]);
    // The payload of a NaN may differ between f32 and f64; between the others it is defined.
    const bool equal = std::memcmp(&y[i], &want, sizeof(To)) == 0;
    ASSERT_TRUE(equal || (testing::same(y[i], want) && sizeof(To) >= 4))
        << name(dtype_of<From>) << " to " << name(dtype_of<To>) << ", value "
        << static_cast<double>(convert<f64>(x[i])) << ", gave " << convert<f64>(y[i]) << ", wanted "
        << convert<f64>(want);
  }
}

template <Element From>
void check_from() {
  const std::vector<From> x = cast_samples<From>();
  testing::for_each_isa([&] {
#define WICK_CHECK(T) check_pair<T, From>(x);
    WICK_FOR_ELEMENTS(WICK_CHECK)
#undef WICK_CHECK
  });
}

TEST(CastKernels, EveryPairDoesWhatConvertDoes){
#define WICK_CHECK(T) check_from<T>();
    WICK_FOR_ELEMENTS(WICK_CHECK)
#undef WICK_CHECK
}

TEST(CastKernels, RawTypesHaveNone) {
  EXPECT_EQ(kernels::cast(DType::f4, DType::f32), nullptr);
  EXPECT_EQ(kernels::cast(DType::f32, DType::f8e8m0), nullptr);
}

template <Element To, Element From>
void check_strides() {
  const std::vector<From> x = samples<From>(509);
  testing::for_each_isa([&] {
    const auto f = kernels::cast(dtype_of<To>, dtype_of<From>);
    testing::check_layouts<2>(
        {static_cast<int>(sizeof(To)), static_cast<int>(sizeof(From))},
        [&](const auto& p, const Loop2<2>& loop) { f(p[0], p[1], loop); },
        [&](std::size_t, std::size_t i) { return &x[i % x.size()]; });
  });
}

TEST(CastKernels, StridesDoNotChangeBits) {
  check_strides<f32, bf16>();
  check_strides<f16, f32>();
  check_strides<f8e4m3, f64>();
  check_strides<u8, f32>();
  check_strides<u32, f16>();
  check_strides<i64, u8>();
  check_strides<f64, f64>();
}

}  // namespace
}  // namespace wick
