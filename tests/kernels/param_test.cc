// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/param.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/all_isas.h"
#include "tests/kernels/layouts.h"
#include "tests/kernels/ulp.h"

namespace wick {
namespace {

using kernels::param;
using testing::for_each_isa;
using testing::same;
using testing::samples;

constexpr f64 kScalars[][2] = {{1, 0}, {0.5, 0.25}, {-2, 3}, {3, 1}, {-0.5, 300}, {1.0 / 3, -1e6}};
constexpr f64 kNaN = std::numeric_limits<f64>::quiet_NaN();

template <class T>
std::vector<T> run_op(ParamOp op, const std::vector<T>& x, f64 p, f64 q) {
  std::vector<T> y(x.size());
  param<T>(op)(y.data(), x.data(), {static_cast<Index>(x.size()), 1, {1, 1}, {0, 0}}, p, q);
  return y;
}

template <class T>
void check_floats() {
  std::vector<T> x = samples<T>(2000);
  for (T v = -20; v < 20; v += static_cast<T>(0.03)) x.push_back(v);
  for_each_isa([&] {
    for (const auto& s : kScalars) {
      const T p = static_cast<T>(s[0]), q = static_cast<T>(s[1]);
      const auto affine = run_op(ParamOp::affine, x, s[0], s[1]);
      const auto clamp = run_op(ParamOp::clamp, x, s[0], s[1]);
      const auto elu = run_op(ParamOp::elu, x, s[0], s[1]);
      const auto powf = run_op(ParamOp::powf, x, s[0], s[1]);
      for (std::size_t k = 0; k < x.size(); ++k) {
        const T v = x[k];
        const T product = v * p;
        ASSERT_TRUE(same(affine[k], static_cast<T>(product + q))) << v;
        ASSERT_TRUE(same(clamp[k], static_cast<T>(meaning::clamp(v, p, q)))) << v;
        const auto wide = static_cast<long double>(v);
        ASSERT_LE(testing::ulp_error(elu[k], v > 0 ? wide : p * std::expm1(wide)), 2)
            << v << " " << p;
        ASSERT_LE(testing::ulp_error(powf[k], std::pow(wide, static_cast<long double>(p))), 1)
            << v << "^" << p << " gave " << powf[k];
      }
    }
  });
}

TEST(ParamKernels, F32MeansWhatTheTableSays) { check_floats<f32>(); }
TEST(ParamKernels, F64MeansWhatTheTableSays) { check_floats<f64>(); }

template <SmallFloat T>
void check_small() {
  const std::vector<T> x = samples<T>(2000);
  std::vector<f32> wide;
  for (const T v : x) wide.push_back(to_f32(v));
  for_each_isa([&] {
    for (const ParamOp op : {ParamOp::affine, ParamOp::clamp, ParamOp::elu, ParamOp::powf}) {
      for (const auto& s : kScalars) {
        const auto y = run_op(op, x, s[0], s[1]);
        const auto want = run_op(op, wide, s[0], s[1]);
        for (std::size_t k = 0; k < x.size(); ++k)
          ASSERT_TRUE(same(y[k], convert<T>(want[k]))) << info(op).name << " " << wide[k];
      }
    }
  });
}

TEST(ParamKernels, SmallFloatsComputeInF32) {
  check_small<f16>();
  check_small<bf16>();
  check_small<f8e4m3>();
}

template <Int T>
void check_ints() {
  const std::vector<T> x = samples<T>(2000);
  for_each_isa([&] {
    EXPECT_EQ(param<T>(ParamOp::elu), nullptr);
    EXPECT_EQ(param<T>(ParamOp::powf), nullptr);
    for (const auto& s : kScalars) {
      const auto affine = run_op(ParamOp::affine, x, s[0], s[1]);
      const auto clamp = run_op(ParamOp::clamp, x, s[0], s[1]);
      for (std::size_t k = 0; k < x.size(); ++k) {
        const f64 product = static_cast<f64>(x[k]) * s[0];
        ASSERT_EQ(affine[k], convert<T>(product + s[1])) << +x[k];
        if constexpr (sizeof(T) < 8) {
          ASSERT_EQ(clamp[k], convert<T>(meaning::clamp(static_cast<f64>(x[k]), s[0], s[1])))
              << +x[k];
        }
      }
    }
    EXPECT_EQ(run_op(ParamOp::clamp, x, kNaN, kNaN), x);  // no bounds
  });
}

TEST(ParamKernels, IntegersComputeInF64) {
  check_ints<u8>();
  check_ints<u32>();
  check_ints<i16>();
  check_ints<i32>();
  check_ints<i64>();
}

TEST(ParamKernels, ClampKeepsLongIntegers) {
  const std::vector<i64> x{(i64{1} << 60) + 1};
  EXPECT_EQ(run_op(ParamOp::clamp, x, 0, 1e300), x);
}

template <Element T>
void check_strides(ParamOp op) {
  const std::vector<T> x = samples<T>(509);
  constexpr int kBytes = static_cast<int>(sizeof(T));
  for_each_isa([&] {
    const auto f = param<T>(op);
    testing::check_layouts<2>(
        {kBytes, kBytes},
        [&](const auto& p, const Loop2<2>& loop) {
          f(static_cast<T*>(p[0]), static_cast<const T*>(p[1]), loop, 1.5, -3);
        },
        [&](std::size_t, std::size_t i) { return &x[i % x.size()]; });
  });
}

TEST(ParamKernels, StridesDoNotChangeBits) {
  check_strides<u8>(ParamOp::affine);
  check_strides<i64>(ParamOp::clamp);
  check_strides<f16>(ParamOp::elu);
  check_strides<f32>(ParamOp::affine);
  check_strides<f64>(ParamOp::powf);
}

}  // namespace
}  // namespace wick
