// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/ops/op_calls.h"

// Values and rules that many libraries got wrong once.

namespace wick {
namespace {

using testing::doubles_of;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsNan;
using testing::kTen;

template <class T>
Tensor vec(std::initializer_list<T> values) {
  return Tensor::from_vector(std::vector<T>(values), {static_cast<Index>(values.size())});
}
/// The numbers in any dtype, and so often that vector loops and their tails see them.
Tensor many(const std::vector<f64>& values, DType t) {
  std::vector<f64> all;
  for (int i = 0; i < 23; ++i) all.insert(all.end(), values.begin(), values.end());
  return Tensor::from_vector(all, {23, static_cast<Index>(values.size())}).to_dtype(t);
}
void expect_rows(const Tensor& got, const std::vector<f64>& want) {
  const auto all = doubles_of(got);
  ASSERT_EQ(all.size() % want.size(), 0U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const f64 w = want[i % want.size()];
    if (std::isnan(w)) {
      ASSERT_TRUE(std::isnan(all[i])) << i << ": " << all[i];
    } else {
      ASSERT_EQ(all[i], w) << i;
      if (is_float(got.dtype())) {
        ASSERT_EQ(std::signbit(all[i]), std::signbit(w)) << i;
      }
    }
  }
}

constexpr DType kFloats[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::f8e4m3};
constexpr DType kInts[] = {DType::u8, DType::u32, DType::i16, DType::i32, DType::i64};

// C127.
TEST(ElementwiseCases, PowOfNegativeAndZero) {
  for (const DType t : kFloats) {
    const Tensor a = many({-2, -2, 0, -8, 1, 4}, t), b = many({2, 3, 0, 0.3125, NAN, -0.5}, t);
    expect_rows(a.pow(b), {4, -8, 1, NAN, 1, 0.5});
    expect_rows(many({-2, 2, -0.5}, t).powf(2), {4, 4, 0.25});
    if (t == DType::f8e4m3) continue;  // has no infinity
    expect_rows(many({0, -0.0, -0.0}, t).pow(many({-1, -1, -2}, t)),
                {INFINITY, -INFINITY, INFINITY});
  }
}

// C129: NaN wins, also as a bound; the upper bound wins over the lower.
TEST(ElementwiseCases, ClampMaximumMinimum) {
  for (const DType t : kFloats) {
    expect_rows(many({NAN, -1, 0.5, 2}, t).clamp(0, 1), {NAN, 0, 0.5, 1});
    expect_rows(many({2}, t).clamp(3, 1), {1});
    expect_rows(many({2, NAN}, t).clamp(NAN, 1), {NAN, NAN});
    expect_rows(many({2, 0}, t).clamp(0, NAN), {NAN, NAN});
    const Tensor n = many({NAN, 1, NAN, 2}, t), m = many({1, NAN, NAN, 3}, t);
    expect_rows(n.maximum(m), {NAN, NAN, NAN, 3});
    expect_rows(n.minimum(m), {NAN, NAN, NAN, 2});
    expect_rows(n.maximum(1.5), {NAN, 1.5, NAN, 2});
    expect_rows(n.minimum(NAN), {NAN, NAN, NAN, NAN});
    expect_rows(many({NAN, -1, 2}, t).relu(), {NAN, 0, 2});
  }
  for (const DType t : kInts) {
    expect_rows(many({0, 3, 7}, t).clamp(2, 5), {2, 3, 5});
    expect_rows(many({0, 3, 7}, t).clamp(-1e30, 1e30), {0, 3, 7});
    expect_rows(many({0, 3, 7}, t).clamp(0.5, 4.5), {0, 3, 4});  // in f64, then truncated
  }
  // Bounds that an f64 does not hold.
  const i64 odd = (i64{1} << 53) + 1;
  EXPECT_THAT(vec<i64>({odd + 5, odd, 0}).clamp(odd, odd + 2).to_vector<i64>(),
              ElementsAre(odd + 2, odd, odd));
  const Tensor x = vec<i64>({odd + 5, 0});
  clamp_into(x, x, Scalar(odd), Scalar(odd));
  EXPECT_THAT(x.to_vector<i64>(), ElementsAre(odd, odd));
  EXPECT_THAT(vec<i64>({INT64_MIN, INT64_MAX}).clamp(INT64_MIN, INT64_MAX).to_vector<i64>(),
              ElementsAre(INT64_MIN, INT64_MAX));
}

// C131, C132.
TEST(ElementwiseCases, SignAndRound) {
  for (const DType t : kFloats) {
    expect_rows(many({NAN, -0.0, 0, -3, 2}, t).sign(), {NAN, -0.0, 0, -1, 1});
    expect_rows(many({0.5, 1.5, 2.5, -0.5, -1.5, -2.5}, t).round(), {0, 2, 2, -0.0, -2, -2});
    expect_rows(many({-0.5, 0.5}, t).floor(), {-1, 0});
    expect_rows(many({-0.5, 0.5}, t).ceil(), {-0.0, 1});
  }
  expect_rows(many({8388609, 0.49999997, 4503599627370497.0}, DType::f64).round(),
              {8388609, 0, 4503599627370497.0});
  expect_rows(many({8388609, 0.49999997, 1e30}, DType::f32).round(), {8388609, 0, f64{1e30F}});
  expect_rows(many({-5, 0, 3}, DType::i32).sign(), {-1, 0, 1});
  expect_rows(many({5, 0}, DType::u8).sign(), {1, 0});
}

// C143: as many libraries' tables have it, all signs.
TEST(ElementwiseCases, RemHasTheSignOfTheDivisor) {
  const std::vector<f64> a{-7, 7, -7, 7, -1, 1, -5, 5, 120}, b{2, 2, -2, -2, 3, -3, 3, -3, -27};
  const std::vector<f64> r{1, 1, -1, -1, 2, -2, 1, -1, -15};
  for (const DType t : {DType::i16, DType::i32, DType::i64, DType::f32, DType::f64, DType::bf16})
    expect_rows(many(a, t).rem(many(b, t)), r);
  expect_rows(many({7, 200}, DType::u8).rem(many({4, 7}, DType::u8)), {3, 4});
  expect_rows(many({-1}, DType::i32).rem(5), {4});
  expect_rows(many({5.5, -5.5}, DType::f32).rem(2), {1.5, 0.5});
  expect_rows(many({1, 1}, DType::f32).rem(many({0, NAN}, DType::f32)), {NAN, NAN});
}

// C145: an Error, and nothing is written.
TEST(ElementwiseCases, IntegerDivisionByZero) {
  for (const DType t : kInts)
    for (const Index n : {1, 7, 64, 100000})
      for (const Index zero : {Index{0}, n - 1}) {
        const Tensor a = Tensor::full({n}, 5, t), b = Tensor::full({n}, 2, t);
        fill_into(b.narrow(0, zero, 1), 0);
        const Tensor out = Tensor::full({n}, 9, t);
        EXPECT_ERROR(a.div(b), arithmetic);
        EXPECT_ERROR(a.rem(b), arithmetic);
        EXPECT_ERROR(div_into(out, a, b), arithmetic);
        EXPECT_ERROR(rem_into(out, a, b), arithmetic);
        EXPECT_ERROR(div_into(out, a, Scalar(0)), arithmetic);
        EXPECT_ERROR(rem_into(out, a, Scalar(0.0)), arithmetic);
        EXPECT_ERROR(a / 0, arithmetic);
        EXPECT_ERROR(1 / b, arithmetic);
        EXPECT_TRUE(testing::same_bits(out, Tensor::full({n}, 9, t)));
        const Tensor in_place = a.copy();
        EXPECT_ERROR(div_into(in_place, in_place, b), arithmetic);
        EXPECT_TRUE(testing::same_bits(in_place, a));
        EXPECT_EQ(Tensor::empty({0}, t).div(Tensor::zeros({1}, t)).element_count(), 0);
      }
  for (const DType t : kFloats)
    if (t != DType::f8e4m3) expect_rows(many({1, -1, 0}, t).div(0), {INFINITY, -INFINITY, NAN});
}

TEST(ElementwiseCases, SmallestIntegerByMinusOne) {
  const auto check = [](auto smallest) {
    using T = decltype(smallest);
    const Tensor a = Tensor::full({37}, smallest, dtype_of<T>),
                 b = Tensor::full({37}, -1, dtype_of<T>);
    expect_rows(a.div(b), {static_cast<f64>(smallest)});
    expect_rows(a.rem(b), {0});
    expect_rows(a.div(-1), {static_cast<f64>(smallest)});
    expect_rows(a.rem(-1), {0});
    expect_rows(a.abs(), {static_cast<f64>(smallest)});
    expect_rows(a.neg(), {static_cast<f64>(smallest)});
    expect_rows(a.mul(b), {static_cast<f64>(smallest)});
  };
  check(std::numeric_limits<i16>::min());
  check(std::numeric_limits<i32>::min());
  check(std::numeric_limits<i64>::min());
}

// C147.
TEST(ElementwiseCases, IntegerPow) {
  EXPECT_THAT(vec<i32>({-2, 3, 0, 7}).pow(vec<i32>({3, 2, 0, 0})).to_vector<i32>(),
              ElementsAre(-8, 9, 1, 1));
  EXPECT_EQ(vec<i32>({3}).pow(21).item<i32>(),
            static_cast<i32>(10460353203LL & 0xFFFFFFFF));  // wraps
  EXPECT_EQ(vec<u8>({2}).pow(9).item<u8>(), 0);
  EXPECT_EQ(vec<i64>({2}).pow(62).item<i64>(), i64{1} << 62);
  for (const DType t : {DType::i16, DType::i32, DType::i64}) {
    EXPECT_ERROR(Tensor::full({9}, 2, t).pow(Tensor::full({9}, -1, t)), arithmetic);
    EXPECT_ERROR(Tensor::full({9}, 2, t).pow(-1), arithmetic);
  }
  EXPECT_ERROR(Tensor::full({9}, 2, DType::u8).pow(-1), arithmetic);
  EXPECT_ERROR(Tensor::full({9}, 2, DType::i32).pow(-0.5), arithmetic);
  EXPECT_EQ(vec<i32>({9}).pow(0.5).item<i32>(), 3);
}

// C148.
TEST(ElementwiseCases, ComparisonsWithNaN) {
  for (const DType t : kFloats) {
    const Tensor a = many({NAN, NAN, 1, -0.0}, t), b = many({NAN, 1, NAN, 0}, t);
    expect_rows(a.eq(b), {0, 0, 0, 1});
    expect_rows(a.ne(b), {1, 1, 1, 0});
    expect_rows(a.lt(b), {0, 0, 0, 0});
    expect_rows(a.le(b), {0, 0, 0, 1});
    expect_rows(a.gt(b), {0, 0, 0, 0});
    expect_rows(a.ge(b), {0, 0, 0, 1});
    EXPECT_EQ(a.eq(b).dtype(), DType::u8);
    expect_rows(a.ne(Scalar(NAN)), {1, 1, 1, 1});
  }
}

// C149: a scalar that an integer dtype does not hold counts with its value.
TEST(ElementwiseCases, FractionalAndLargeScalarsOnIntegers) {
  expect_rows(many({3, 100, 255}, DType::u8).affine(0.5, 0), {1, 50, 127});
  expect_rows(many({3, 200}, DType::u8).affine(2, 1), {7, 255});
  expect_rows(many({3, -3}, DType::i32).mul(0.5), {1, -1});
  expect_rows(many({3, 200}, DType::u8).add(300), {255, 255});
  expect_rows(many({3, 200}, DType::u8).sub(-1.5), {4, 201});
  expect_rows(many({3, -3}, DType::i16).add(100000), {32767, 32767});
  expect_rows(many({3, 200}, DType::u8).lt(200.5), {1, 1});
  expect_rows(many({3, 200}, DType::u8).lt(300), {1, 1});
  expect_rows(many({3, 200}, DType::u8).gt(-1), {1, 1});
  expect_rows(many({3, 200}, DType::u8).eq(3.5), {0, 0});
  expect_rows(many({3, 200}, DType::u8).eq(259), {0, 0});  // not 259 mod 256
  expect_rows(many({7, 9}, DType::i32).div(0.5), {14, 18});
  expect_rows(many({7, 9}, DType::i32).maximum(8.5), {8, 9});
  // The scalar on the left.
  expect_rows(2.5 - many({1, 4}, DType::i32), {1, -1});
  expect_rows(7.5 / many({2, 3}, DType::i32), {3, 2});
  expect_rows(300 - many({100, 3}, DType::u8), {200, 255});
  expect_rows(1 - many({3}, DType::i32), {-2});
  expect_rows(7 / many({2}, DType::i32), {3});
  expect_rows(1.5 - many({1}, DType::f16), {0.5});
  expect_rows(1 / many({4}, DType::f32), {0.25});
  // In place, and onto a strided view.
  const Tensor x = vec<i32>({1, 2, 3, 4});
  mul_into(x.slice(0, 0, 4, 2), x.slice(0, 0, 4, 2), Scalar(1.5));
  EXPECT_THAT(x.to_vector<i32>(), ElementsAre(1, 2, 4, 4));
}

TEST(ElementwiseCases, ScalarsOf64Bits) {
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Tensor::full({1}, huge, DType::f64).item<f64>(), 18446744073709551615.0);
  EXPECT_EQ(Tensor::full({1}, huge, DType::i64).item<i64>(), std::numeric_limits<i64>::max());
  EXPECT_EQ(vec<i64>({5}).lt(huge).item<u8>(), 1);
  EXPECT_EQ(vec<f32>({1}).add(huge).item<f32>(), 18446744073709551616.0F);
  const i64 odd = (i64{1} << 60) + 1;
  EXPECT_EQ(vec<i64>({1}).add(odd).item<i64>(), odd + 1);
  EXPECT_EQ(vec<i64>({odd}).eq(odd).item<u8>(), 1);
  EXPECT_EQ(vec<i64>({odd}).eq(odd - 1).item<u8>(), 0);
  EXPECT_EQ(Tensor::full({1}, odd, DType::i64).item<i64>(), odd);
  EXPECT_EQ(Tensor::full({1}, true, DType::u8).item<u8>(), 1);
}

TEST(ElementwiseCases, IntegersWrap) {
  EXPECT_EQ(vec<u8>({200}).add(vec<u8>({100})).item<u8>(), 44);
  EXPECT_EQ(vec<u8>({3}).sub(5).item<u8>(), 254);
  EXPECT_EQ(vec<u8>({3}).neg().item<u8>(), 253);
  EXPECT_EQ(vec<i16>({300}).sqr().item<i16>(), static_cast<i16>(90000 - 65536));
  EXPECT_EQ(vec<i64>({INT64_MAX}).add(1).item<i64>(), INT64_MIN);
  EXPECT_EQ(vec<u32>({0}).sub(1).item<u32>(), 4294967295U);
  EXPECT_EQ((vec<i32>({INT32_MAX}) * 2).item<i32>(), -2);
}

// C134, C137, C140, C141.
TEST(ElementwiseCases, EndsOfTheSpecialFunctions) {
  for (const DType t : {DType::f32, DType::f64}) {
    expect_rows(many({20, -20, 100, INFINITY, -INFINITY, NAN}, t).tanh(), {1, -1, 1, 1, -1, NAN});
    expect_rows(many({89, -1662.7, -INFINITY, INFINITY}, t).sigmoid(), {1, 0, 0, 1});
    expect_rows(many({-INFINITY, 0, INFINITY}, t).exp(), {0, 1, INFINITY});
    expect_rows(many({0, -1, 1, INFINITY}, t).log(), {-INFINITY, NAN, 0, INFINITY});
    expect_rows(many({-0.0, -1}, t).sqrt(), {-0.0, NAN});
    expect_rows(many({-0.0, 0}, t).recip(), {-INFINITY, INFINITY});
    expect_rows(many({INFINITY, -INFINITY, NAN}, t).erf(), {1, -1, NAN});
    expect_rows(many({INFINITY, -INFINITY, NAN}, t).gelu(), {INFINITY, -0.0, NAN});
    expect_rows(many({INFINITY, -INFINITY, NAN}, t).gelu_erf(), {INFINITY, -0.0, NAN});
    expect_rows(many({INFINITY, NAN}, t).sin(), {NAN, NAN});
  }
  EXPECT_EQ(vec<f32>({-1000}).silu().item<f32>(), 0);
  EXPECT_TRUE(std::isfinite(vec<f32>({88.72F}).exp().item<f32>()));
  EXPECT_EQ(vec<f32>({88.73F}).exp().item<f32>(), INFINITY);
  EXPECT_NEAR(vec<f32>({1e-40F}).log().item<f32>(), -92.1034F, 1e-4);
  EXPECT_DOUBLE_EQ(vec<f64>({0.5}).gelu().item<f64>(), 0.34571400982514394);
  EXPECT_FLOAT_EQ(vec<f32>({1e-8F}).erf().item<f32>(), 1.1283792e-8F);
  EXPECT_FLOAT_EQ(vec<f32>({21.657723F}).gelu().item<f32>(), 21.657723F);
}

// C073.
TEST(ElementwiseCases, WhereNeverLooksAtTheOtherSide) {
  EXPECT_THAT(vec<u8>({1, 0}).where_cond(vec<f32>({1, 2}), vec<f32>({NAN, NAN})).to_vector<f32>(),
              ElementsAre(1, IsNan()));
  const Tensor mask =
      Tensor::from_vector(std::vector<u8>{1, 0, 0, 1}, {1, 1, 2, 2}).broadcast_as({1, 3, 2, 2});
  const Tensor a = Tensor::arange(0, 12).reshape({1, 3, 2, 2}), b = a.neg();
  EXPECT_TRUE(testing::same_bits(mask.where_cond(a, b), mask.copy().where_cond(a, b)));
  testing::Random random(1);
  for (const DType c : {DType::u8, DType::u32, DType::i64})
    for (const DType t : kTen)
      for (int round = 0; round < 5; ++round) {
        const Dims shape = testing::random_shape(random, 4, 5);
        const auto part = [&](DType d, testing::Values v) {
          return testing::odd_tensor(testing::shrunk(shape, random), d, random, v);
        };
        const Tensor cond = part(c, testing::Values::exponents), x = part(t, testing::Values::any),
                     y = part(t, testing::Values::any);
        const Tensor got = cond.where_cond(x, y);
        const Dims all = got.shape();
        const auto chosen = doubles_of(testing::compact(cond, all));
        const std::string p = testing::bytes_of(testing::compact(x, all)),
                          q = testing::bytes_of(testing::compact(y, all));
        std::string want;
        const auto width = static_cast<std::size_t>(bits(t) / 8);
        for (std::size_t i = 0; i < chosen.size(); ++i)
          want += (chosen[i] != 0 ? p : q).substr(i * width, width);
        ASSERT_EQ(testing::bytes_of(got), want) << name(c) << " " << name(t);
        const Tensor out = testing::strided_empty(all, t, random);
        where_into(out, cond, x, y);
        ASSERT_TRUE(testing::same_bits(out, got));
      }
  EXPECT_ERROR(vec<i32>({1}).where_cond(vec<f32>({1}), vec<f32>({2})), dtype);
  EXPECT_ERROR(vec<f32>({1}).where_cond(vec<f32>({1}), vec<f32>({2})), dtype);
  EXPECT_ERROR(vec<u8>({1}).where_cond(vec<f32>({1}), vec<f64>({2})), dtype);
  EXPECT_ERROR(vec<u8>({1, 0}).where_cond(vec<f32>({1, 2, 3}), vec<f32>({2})), shape);
}

// C071.
TEST(ElementwiseCases, OffsetsOfScalarsAreKept) {
  const Tensor s = vec<f32>({0, 0, 0, 0, 7}).select(0, 4);
  EXPECT_EQ(s.rank(), 0);
  EXPECT_THAT((s + vec<f32>({1, 2, 3})).to_vector<f32>(), ElementsAre(8, 9, 10));
  EXPECT_THAT((vec<f32>({1, 2, 3}) - s).to_vector<f32>(), ElementsAre(-6, -5, -4));
}

// C132, the other rule.
TEST(ElementwiseCases, C132_RoundHalfAway) {
  const std::vector<f32> x{0.5F,  1.5F,    2.5F,        -0.5F,       -1.5F,
                           -2.5F, 8388609, 0.49999997F, -0.49999997F};
  const std::vector<f32> want{1, 2, 3, -1, -2, -3, 8388609, 0, -0.0F};
  for (const Index n : {1, 9}) {
    const Tensor y = Tensor::from_vector(x, {9}).narrow(0, 0, n).round_half_away();
    for (Index i = 0; i < n; ++i)
      EXPECT_EQ(y.to_vector<f32>()[static_cast<std::size_t>(i)], want[static_cast<std::size_t>(i)]);
  }
}

TEST(ElementwiseCases, C139_LogSigmoidAndSoftplus) {
  for (const DType t : {DType::f32, DType::f64, DType::bf16}) {
    const auto one = [t](double v) { return Tensor::full({1}, v, t); };
    for (const double v : {170.0, 266.0, 1e30, HUGE_VAL}) {
      EXPECT_LE(one(v).log_sigmoid().item<f64>(), 0);
      EXPECT_GE(one(v).log_sigmoid().item<f64>(), -1e-70);
    }
    EXPECT_EQ(one(-200).log_sigmoid().item<f64>(), -200);
    EXPECT_EQ(one(1000).softplus().item<f64>(), one(1000).item<f64>());
    EXPECT_TRUE(std::isnan(one(NAN).softplus().item<f64>()));
    EXPECT_EQ(one(-HUGE_VAL).softplus().item<f64>(), 0);
  }
}

}  // namespace
}  // namespace wick
