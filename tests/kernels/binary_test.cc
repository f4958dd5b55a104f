// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/binary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/all_isas.h"
#include "tests/kernels/layouts.h"
#include "tests/kernels/ulp.h"

namespace wick {
namespace {

using kernels::binary;
using testing::for_each_isa;
using testing::same;
using testing::samples;

constexpr int kOps = static_cast<int>(std::size(kBinaryOps));

f64 meaning_of(BinaryOp op, f64 a, f64 b) {
  switch (op) {
#define WICK_BINARY(name, domain, meaning, doc) \
  case BinaryOp::name: return meaning;
#include "wick/core/ops.inc"
  }
  return 0;
}

template <class T>
struct Pairs {
  std::vector<T> a, b;
};

// Every pair of edge values, then random pairs.
template <class T>
Pairs<T> pairs() {
  const std::vector<T> edges = samples<T>(54);
  Pairs<T> p;
  for (const T x : edges) {
    for (const T y : edges) {
      p.a.push_back(x);
      p.b.push_back(y);
    }
  }
  const std::vector<T> x = samples<T>(1000, 2), y = samples<T>(1003, 3);
  p.a.insert(p.a.end(), x.begin(), x.end());
  p.b.insert(p.b.end(), y.end() - 1000, y.end());
  return p;
}

template <class T>
std::vector<T> run_op(BinaryOp op, const Pairs<T>& p) {
  std::vector<T> y(p.a.size());
  binary<T>(op)(y.data(), p.a.data(), p.b.data(),
                {static_cast<Index>(y.size()), 1, {1, 1, 1}, {0, 0, 0}});
  return y;
}

/// The same for the ops that f64 does not round exactly, to more digits than f64 has.
long double wide_meaning(BinaryOp op, long double a, long double b) {
  if (op == BinaryOp::pow) return std::pow(a, b);
  return meaning_of(op, static_cast<f64>(a), static_cast<f64>(b));
}

/// The largest error that is promised, in ULP. (The table's doubles are rounded already.)
template <class T>
f64 bound(BinaryOp op) {
  if (op == BinaryOp::pow || op == BinaryOp::floor_div) return 1;
  return sizeof(T) == 8 ? 0 : 0.5;
}

template <class T>
void check_floats() {
  Pairs<T> p = pairs<T>();
  for (int x = -30; x <= 30; ++x) {  // powers with whole and fractional exponents
    for (int y = -12; y <= 12; ++y) {
      p.a.push_back(static_cast<T>(x) / 2);
      p.b.push_back(static_cast<T>(y) / 3);
      p.a.push_back(static_cast<T>(x));
      p.b.push_back(static_cast<T>(y));
    }
  }
  for_each_isa([&] {
    for (int i = 0; i < kOps; ++i) {
      const auto op = static_cast<BinaryOp>(i);
      const std::vector<T> y = run_op(op, p);
      for (std::size_t k = 0; k < y.size(); ++k) {
        const T a = p.a[k], b = p.b[k];
        f64 limit = bound<T>(op);
        long double want = wide_meaning(op, a, b);
        if (op == BinaryOp::rem) {
          // The remainder is exact, adding the divisor rounds.
          const T r = std::fmod(a, b);
          want = r == 0 ? std::copysign(r, b) : (r < 0) != (b < 0) ? r + b : r;
          limit = 0;
        }
        // Of 0 and -0 either may be the larger.
        if (y[k] == 0 && want == 0 && (op == BinaryOp::maximum || op == BinaryOp::minimum))
          continue;
        ASSERT_LE(testing::ulp_error(y[k], want), limit)
            << info(op).name << "(" << a << ", " << b << ") gave " << y[k];
      }
    }
  });
}

TEST(BinaryKernels, F32MeansWhatTheTableSays) { check_floats<f32>(); }
TEST(BinaryKernels, F64MeansWhatTheTableSays) { check_floats<f64>(); }

TEST(BinaryKernels, PowKnowsItsEdges) {
  const f64 inf = std::numeric_limits<f64>::infinity(), nan = std::numeric_limits<f64>::quiet_NaN();
  const f64 cases[][3] = {{-2, 2, 4},      {-2, 3, -8},      {-8, 1.0 / 3, nan}, {0, 0, 1},
                          {0, -1, inf},    {-0.0, -1, -inf}, {-0.0, 3, -0.0},    {-0.0, 2, 0},
                          {1, nan, 1},     {nan, 0, 1},      {nan, 1, nan},      {-1, inf, 1},
                          {-1, -inf, 1},   {0.5, inf, 0},    {2, inf, inf},      {2, -inf, 0},
                          {-inf, 3, -inf}, {-inf, -3, -0.0}, {-inf, 0.5, inf},   {inf, -2, 0}};
  for_each_isa([&] {
    for (const auto& c : cases) {
      f64 y = 0;
      binary<f64>(BinaryOp::pow)(&y, &c[0], &c[1], {1, 1, {1, 1, 1}, {1, 1, 1}});
      EXPECT_TRUE(same(y, c[2])) << c[0] << "^" << c[1] << " gave " << y;
      const auto a = static_cast<f32>(c[0]), b = static_cast<f32>(c[1]);
      f32 z = 0;
      binary<f32>(BinaryOp::pow)(&z, &a, &b, {1, 1, {1, 1, 1}, {1, 1, 1}});
      EXPECT_TRUE(same(z, static_cast<f32>(c[2]))) << c[0] << "^" << c[1] << " gave " << z;
    }
  });
}

template <SmallFloat T>
void check_small() {
  const Pairs<T> p = pairs<T>();
  Pairs<f32> wide;
  for (std::size_t k = 0; k < p.a.size(); ++k) {
    wide.a.push_back(to_f32(p.a[k]));
    wide.b.push_back(to_f32(p.b[k]));
  }
  for_each_isa([&] {
    for (int i = 0; i < kOps; ++i) {
      const auto op = static_cast<BinaryOp>(i);
      const std::vector<T> y = run_op(op, p);
      const std::vector<f32> want = run_op(op, wide);
      for (std::size_t k = 0; k < y.size(); ++k)
        ASSERT_TRUE(same(y[k], convert<T>(want[k])))
            << info(op).name << "(" << wide.a[k] << ", " << wide.b[k] << ") gave " << to_f32(y[k]);
    }
  });
}

TEST(BinaryKernels, SmallFloatsComputeInF32) {
  check_small<f16>();
  check_small<bf16>();
  check_small<f8e4m3>();
}

template <Int T>
T int_meaning(BinaryOp op, T a, T b) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  switch (op) {
    case BinaryOp::add: return static_cast<T>(ua + ub);
    case BinaryOp::sub: return static_cast<T>(ua - ub);
    case BinaryOp::mul: return static_cast<T>(ua * ub);
    case BinaryOp::maximum: return std::max(a, b);
    case BinaryOp::minimum: return std::min(a, b);
    case BinaryOp::div:
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - ua);
      return static_cast<T>(a / b);
    case BinaryOp::floor_div: {
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - ua);
      const T q = static_cast<T>(a / b);
      return a % b != 0 && (a < 0) != (b < 0) ? static_cast<T>(q - 1) : q;
    }
    case BinaryOp::rem: {
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
      const T r = static_cast<T>(a % b);
      return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
    }
    case BinaryOp::pow: {
      std::uint64_t y = 1;
      for (T i = 0; i < b; ++i) y *= ua;
      return static_cast<T>(y);
    }
    default: ADD_FAILURE() << info(op).name << " needs a meaning on integers"; return 0;
  }
}

template <Int T>
void check_ints() {
  for_each_isa([&] {
    for (int i = 0; i < kOps; ++i) {
      const auto op = static_cast<BinaryOp>(i);
      if (info(op).domain == Domain::floats) {
        EXPECT_EQ(binary<T>(op), nullptr);
        continue;
      }
      Pairs<T> p = pairs<T>();
      for (T& b : p.b) {
        if (op == BinaryOp::div || op == BinaryOp::rem || op == BinaryOp::floor_div)
          b = b == 0 ? T{3} : b;
        if (op == BinaryOp::pow) b = static_cast<T>(static_cast<std::uint64_t>(b) % 100);
      }
      const std::vector<T> y = run_op(op, p);
      for (std::size_t k = 0; k < y.size(); ++k)
        ASSERT_EQ(y[k], int_meaning(op, p.a[k], p.b[k]))
            << info(op).name << "(" << +p.a[k] << ", " << +p.b[k] << ")";
    }
  });
}

TEST(BinaryKernels, IntegersWrap) {
  check_ints<u8>();
  check_ints<u32>();
  check_ints<i16>();
  check_ints<i32>();
  check_ints<i64>();
}

template <class T>
void check_floor_div() {
  const T a[] = {-7, 7, -7, 7, -1, 1, -5, 5, 120}, b[] = {2, 2, -2, -2, 3, -3, 3, -3, -27};
  const T want[] = {-4, 3, 3, -4, -1, -1, -2, -2, -5};
  T y[9];
  binary<T>(BinaryOp::floor_div)(y, a, b, {9, 1, {1, 1, 1}, {0, 0, 0}});
  for (int i = 0; i < 9; ++i) EXPECT_EQ(y[i], want[i]) << a[i] << " // " << b[i];
}

TEST(BinaryKernels, C143_FloorDivIsThePartnerOfRem) {
  for_each_isa([] {
    check_floor_div<i16>();
    check_floor_div<i32>();
    check_floor_div<i64>();
    check_floor_div<f32>();
    check_floor_div<f64>();
    // A quotient that rounds up to a whole number from below, and infinities.
    const f64 inf = std::numeric_limits<f64>::infinity(), nan = std::nan("");
    const f64 cases[][3] = {{2251799813685249.0, 2251799813685249.5, 0},
                            {1, 0.1, 9},
                            {-1, inf, -1},
                            {1, inf, 0},
                            {inf, 1, nan},
                            {1, 0, inf},
                            {-1, 0, -inf},
                            {0, 0, nan},
                            {-5e-324, 1e300, -1},
                            {-0.0, 3, -0.0}};
    for (const auto& c : cases) {
      f64 y = 0;
      binary<f64>(BinaryOp::floor_div)(&y, &c[0], &c[1], {1, 1, {1, 1, 1}, {1, 1, 1}});
      EXPECT_TRUE(same(y, c[2])) << c[0] << " // " << c[1] << " gave " << y;
    }
  });
}

TEST(BinaryKernels, IntegerRemainderTakesTheSignOfTheDivisor) {
  const i32 a[] = {-7, 7, -7, 7, -1, 1, -5, 5}, b[] = {2, 2, -2, -2, 3, -3, 3, -3};
  const i32 want[] = {1, 1, -1, -1, 2, -2, 1, -1};
  i32 y[8];
  binary<i32>(BinaryOp::rem)(y, a, b, {8, 1, {1, 1, 1}, {0, 0, 0}});
  for (int i = 0; i < 8; ++i) EXPECT_EQ(y[i], want[i]) << a[i] << " % " << b[i];
}

TEST(BinaryKernels, ChecksFindWhatIntegersCannotDo) {
  using kernels::integer_check;
  std::vector<i32> b(1000, 1);
  const Loop2<1> all{1000, 1, {1}, {0}}, odd{500, 1, {2}, {0}};
  const auto zero = integer_check<i32>(BinaryOp::div), negative = integer_check<i32>(BinaryOp::pow);
  EXPECT_FALSE(zero(b.data(), all));
  EXPECT_FALSE(negative(b.data(), all));
  b[777] = 0;
  EXPECT_TRUE(zero(b.data(), all));
  EXPECT_FALSE(zero(b.data(), odd));
  EXPECT_TRUE(zero(b.data(), (Loop2<1>{10, 100, {100}, {1}})));
  EXPECT_FALSE(negative(b.data(), all));
  b[777] = -1;
  EXPECT_TRUE(negative(b.data(), all));
  EXPECT_EQ(integer_check<u32>(BinaryOp::pow), nullptr);
  EXPECT_NE(integer_check<u8>(BinaryOp::rem), nullptr);
  EXPECT_EQ(integer_check<i32>(BinaryOp::add), nullptr);
  EXPECT_EQ(integer_check<f32>(BinaryOp::div), nullptr);
}

template <Element T>
void check_strides() {
  std::vector<T> x = samples<T>(509);
  constexpr int kBytes = static_cast<int>(sizeof(T));
  for_each_isa([&] {
    for (int i = 0; i < kOps; ++i) {
      const auto f = binary<T>(static_cast<BinaryOp>(i));
      if (f == nullptr) continue;
      testing::check_layouts<3>(
          {kBytes, kBytes, kBytes},
          [&](const auto& p, const Loop2<3>& loop) {
            f(static_cast<T*>(p[0]), static_cast<const T*>(p[1]), static_cast<const T*>(p[2]),
              loop);
          },
          [&](std::size_t, std::size_t k) { return &x[k % x.size()]; });
    }
  });
}

TEST(BinaryKernels, StridesDoNotChangeBits) {
  check_strides<u8>();
  check_strides<i64>();
  check_strides<bf16>();
  check_strides<f16>();
  check_strides<f32>();
  check_strides<f64>();
}

}  // namespace
}  // namespace wick
