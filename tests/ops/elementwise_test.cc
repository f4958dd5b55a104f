// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "tests/ops/op_calls.h"

// Every op of the table, for every dtype, on views of every kind: the bits must be those of the
// same op on row-major copies, and the numbers those of the op's meaning.

namespace wick {
namespace {

using testing::all_ops;
using testing::call;
using testing::call_into;
using testing::compact;
using testing::doubles_of;
using testing::is_near;
using testing::kTen;
using testing::meaning_of;
using testing::odd_tensor;
using testing::Random;
using testing::random_shape;
using testing::same_bits;
using testing::takes;
using testing::Values;

constexpr int kRounds = 6;

std::string about(std::string_view op, DType t, const Tensor& x) {
  return str(op, " ", name(t), " ", to_string(x.shape()), " strides ",
             to_string(x.layout().strides));
}

/// Writing to `out` left the rest of its memory alone (strided_empty fills it with 0x33).
void expect_rest_untouched(const Tensor& out) {
  std::set<Index> own;
  for (const Index i : testing::offsets_of(out.layout())) own.insert(i);
  const StorageView v = view(out.storage());
  const Index width = bits(out.dtype()) / 8;
  for (Index i = 0; i < v.bytes; ++i)
    if (!own.contains(i / width)) {
      ASSERT_EQ(static_cast<int>(v.data[i]), 0x33) << "byte " << i;
    }
}

/// One call, allocating and into strided memory, against the call on compact copies.
template <class Call, class CallInto>
void check_call(const Tensor& want, DType out_type, Random& random, Call&& allocate,
                CallInto&& write) {
  ASSERT_TRUE(same_bits(allocate(), want));
  const Tensor out = testing::strided_empty(want.shape(), out_type, random);
  write(out);
  ASSERT_TRUE(same_bits(out, want));
  expect_rest_untouched(out);
}

TEST(Elementwise, UnaryViews) {
  Random random(1);
  for (const UnaryOp op : all_ops<UnaryOp>())
    for (const DType t : kTen) {
      if (!takes(info(op).domain, t)) continue;
      for (int round = 0; round < kRounds; ++round) {
        const Tensor base = odd_tensor(random_shape(random, 4, 6), t, random, Values::any);
        const Tensor x = testing::random_view(base, random);
        const Tensor want = call(op, compact(x));
        SCOPED_TRACE(about(info(op).name, t, x));
        check_call(
            want, t, random, [&] { return call(op, x); },
            [&](const Tensor& out) { call_into(op, out, x); });
        if (self_overlaps(x.layout())) continue;
        const Tensor before = compact(x);
        call_into(op, x, x);
        ASSERT_TRUE(same_bits(x, want)) << "in place";
        ASSERT_TRUE(same_bits(call(op, compact(before)), want)) << "rvalue";
      }
    }
}

TEST(Elementwise, UnaryMeanings) {
  Random random(2);
  for (const UnaryOp op : all_ops<UnaryOp>())
    for (const DType t : kTen) {
      if (!takes(info(op).domain, t)) continue;
      const Tensor x = odd_tensor({7, 30}, t, random, is_int(t) ? Values::tame : Values::any);
      const auto in = doubles_of(x), got = doubles_of(call(op, x));
      for (std::size_t i = 0; i < in.size(); ++i)
        ASSERT_TRUE(is_near(t, got[i], meaning_of(op, in[i])))
            << info(op).name << " " << name(t) << " of " << in[i] << ": " << got[i] << ", meant "
            << meaning_of(op, in[i]);
    }
}

TEST(Elementwise, ParamViewsAndMeanings) {
  Random random(3);
  for (const ParamOp op : all_ops<ParamOp>())
    for (const DType t : kTen) {
      if (!takes(info(op).domain, t)) continue;
      for (int round = 0; round < kRounds; ++round) {
        const double p = round % 2 == 0 ? 2 : -0.5, q = round % 3 == 0 ? 2.75 : 3;
        const Values kind = is_int(t) ? Values::tame : Values::any;
        const Tensor x =
            testing::random_view(odd_tensor(random_shape(random, 4, 6), t, random, kind), random);
        const Tensor want = call(op, compact(x), p, q);
        SCOPED_TRACE(about(info(op).name, t, x));
        check_call(
            want, t, random, [&] { return call(op, x, p, q); },
            [&](const Tensor& out) { call_into(op, out, x, p, q); });
        const auto in = doubles_of(x), got = doubles_of(want);
        for (std::size_t i = 0; i < in.size(); ++i) {
          double meant = meaning_of(op, in[i], p, q);
          // Integers saturate here.
          if (is_int(t)) meant = doubles_of(Tensor::full({}, meant, t))[0];
          ASSERT_TRUE(is_near(t, got[i], meant))
              << in[i] << ", " << p << ", " << q << ": " << got[i];
        }
      }
    }
}

/// What may stand on the right of an op without an error.
Values right_of(BinaryOp op, DType t, bool tame) {
  if (is_int(t) && op == BinaryOp::pow) return Values::exponents;
  if (is_int(t) && (op == BinaryOp::div || op == BinaryOp::rem || op == BinaryOp::floor_div))
    return Values::divisors;
  return tame && is_int(t) ? Values::tame : Values::any;
}
Values right_of(CompareOp, DType, bool) { return Values::any; }

constexpr DType output_of(BinaryOp, DType t) { return t; }
constexpr DType output_of(CompareOp, DType) { return DType::u8; }
constexpr bool supports(BinaryOp op, DType t) { return takes(info(op).domain, t); }
constexpr bool supports(CompareOp, DType) { return true; }

template <class Op>
void check_pairs(std::uint64_t seed) {
  Random random(seed);
  for (const Op op : all_ops<Op>())
    for (const DType t : kTen) {
      if (!supports(op, t)) continue;
      for (int round = 0; round < 2 * kRounds; ++round) {
        const bool tame = round % 2 == 0;
        const Dims shape = random_shape(random, 4, 6);
        const Tensor a = odd_tensor(testing::shrunk(shape, random), t, random,
                                    tame && is_int(t) ? Values::tame : Values::any);
        const Tensor b =
            odd_tensor(testing::shrunk(shape, random), t, random, right_of(op, t, tame));
        const Dims both = broadcast_shapes(a.shape(), b.shape(), "test");
        const Tensor x = compact(a, both), y = compact(b, both);
        const Tensor want = call(op, x, y);
        SCOPED_TRACE(about(info(op).name, t, a) + " and " + to_string(b.shape()));
        check_call(
            want, output_of(op, t), random, [&] { return call(op, a, b); },
            [&](const Tensor& out) { call_into(op, out, a, b); });
        if (want.dtype() == t) {
          const Tensor left = compact(x), right = compact(y);
          call_into(op, left, left, y);
          ASSERT_TRUE(same_bits(left, want)) << "onto the left operand";
          call_into(op, right, x, right);
          ASSERT_TRUE(same_bits(right, want)) << "onto the right operand";
        }
        if (!tame && is_int(t)) continue;  // doubles do not hold the products
        const auto p = doubles_of(x), q = doubles_of(y), got = doubles_of(want);
        for (std::size_t i = 0; i < got.size(); ++i)
          ASSERT_TRUE(is_near(want.dtype(), got[i], meaning_of(op, p[i], q[i])))
              << p[i] << " and " << q[i] << ": " << got[i] << ", meant "
              << meaning_of(op, p[i], q[i]);
      }
    }
}

TEST(Elementwise, BinaryViewsAndMeanings) { check_pairs<BinaryOp>(4); }
TEST(Elementwise, CompareViewsAndMeanings) { check_pairs<CompareOp>(5); }

/// A scalar gives what a tensor full of it gives.
template <class Op>
void check_scalars(std::uint64_t seed) {
  Random random(seed);
  for (const Op op : all_ops<Op>())
    for (const DType t : kTen) {
      if (!supports(op, t)) continue;
      for (int round = 0; round < kRounds; ++round) {
        const Tensor x = testing::random_view(
            odd_tensor(random_shape(random, 4, 6), t, random, Values::any), random);
        const Scalar s = round % 2 == 0 ? Scalar(2) : Scalar(3.0);
        const Tensor want = call(op, compact(x), Tensor::full(x.shape(), s, t));
        SCOPED_TRACE(about(info(op).name, t, x));
        check_call(
            want, output_of(op, t), random, [&] { return call(op, x, s); },
            [&](const Tensor& out) { call_into(op, out, x, s); });
      }
    }
}

TEST(Elementwise, Scalars) {
  check_scalars<BinaryOp>(6);
  check_scalars<CompareOp>(7);
}

/// A number on the left gives what a tensor full of it gives.
TEST(Elementwise, ScalarsOnTheLeft) {
  Random random(8);
  const auto left = [](BinaryOp op, Scalar a, const Tensor& b) {
    switch (op) {
#define WICK_BINARY(name, ...) \
  case BinaryOp::name: return wick::name(a, b);
#include "wick/core/ops.inc"
    }
    return Tensor();
  };
  const auto left_into = [](BinaryOp op, const Tensor& out, Scalar a, const Tensor& b) {
    switch (op) {
#define WICK_BINARY(name, ...) \
  case BinaryOp::name: return name##_into(out, a, b);
#include "wick/core/ops.inc"
    }
  };
  for (const BinaryOp op : all_ops<BinaryOp>())
    for (const DType t : kTen)
      for (int round = 0; round < kRounds; ++round) {
        const Tensor x = testing::random_view(
            odd_tensor(random_shape(random, 4, 6), t, random, right_of(op, t, false)), random);
        const Scalar s = round % 2 == 0 ? Scalar(2) : Scalar(3.0);
        const Tensor want = call(op, Tensor::full(x.shape(), s, t), compact(x));
        SCOPED_TRACE(about(info(op).name, t, x));
        check_call(
            want, t, random, [&] { return left(op, s, x); },
            [&](const Tensor& out) { left_into(op, out, s, x); });
      }
  const Tensor i = Tensor::from_vector<i32>({2, -2}, {2});
  EXPECT_EQ(sub(0.5, i).to_vector<i32>(), (std::vector<i32>{-1, 2}));  // in f64, then truncated
  EXPECT_EQ(floor_div(7, i).to_vector<i32>(), (std::vector<i32>{3, -4}));
  EXPECT_EQ((1 - i).to_vector<i32>(), (std::vector<i32>{-1, 3}));
  EXPECT_ERROR(pow(2, i), arithmetic);
  EXPECT_ERROR(div(1, Tensor::zeros({3}, DType::u8)), arithmetic);
}

TEST(Elementwise, WhatANumberIs) {
  Random random(9);
  for (const DType t : kTen)
    for (int round = 0; round < 20; ++round) {
      const Tensor x = testing::random_view(
          odd_tensor(random_shape(random, 3, 40), t, random, Values::any), random);
      const auto in = doubles_of(x);
      const auto look = [&](const Tensor& got, auto into, auto meaning) {
        ASSERT_EQ(got.dtype(), DType::u8);
        const auto values = doubles_of(got);
        for (std::size_t k = 0; k < in.size(); ++k) ASSERT_EQ(values[k], meaning(in[k]) ? 1 : 0);
        const Tensor out = testing::strided_empty(x.shape(), DType::u8, random);
        into(out, x);
        ASSERT_TRUE(same_bits(out, got));
      };
      look(x.isnan(), isnan_into, [](double v) { return std::isnan(v); });
      look(x.isinf(), isinf_into, [](double v) { return std::isinf(v); });
      look(x.isfinite(), isfinite_into, [](double v) { return std::isfinite(v); });
      look(x.logical_not(), logical_not_into, [](double v) { return v == 0; });
    }
  EXPECT_ERROR(Tensor::empty({4}, DType::f4).isnan(), unsupported_dtype);
  EXPECT_ERROR(isinf_into(Tensor::empty({4}), Tensor::empty({4})), dtype);
}

TEST(Elementwise, UnsupportedDtypesNameOpAndDtype) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    const Tensor x = Tensor::empty({4}, t), flags = Tensor::empty({4}, DType::u8);
    const auto check = [&](std::string_view op, auto&& run) {
      const Error e = testing::error_of(run);
      EXPECT_EQ(name(e.kind()), "unsupported_dtype") << e.what();
      EXPECT_EQ(e.op(), op);
      EXPECT_NE(std::string(e.what()).find(name(t)), std::string::npos) << e.what();
    };
    for (const UnaryOp op : all_ops<UnaryOp>()) {
      if (takes(info(op).domain, t)) continue;
      check(info(op).name, [&] { (void)call(op, x); });
      check(info(op).name, [&] { (void)call(op, Tensor::empty({4}, t)); });
      check(info(op).name, [&] { call_into(op, Tensor::empty({4}, t), x); });
      check(info(op).name, [&] { (void)call(op, Tensor::empty({0}, t)); });
    }
    for (const ParamOp op : all_ops<ParamOp>()) {
      if (takes(info(op).domain, t)) continue;
      check(info(op).name, [&] { (void)call(op, x, 1, 2); });
      check(info(op).name, [&] { (void)call(op, x, NAN, 2); });
    }
    for (const BinaryOp op : all_ops<BinaryOp>()) {
      if (takes(info(op).domain, t)) continue;
      check(info(op).name, [&] { (void)call(op, x, x); });
      check(info(op).name, [&] { (void)call(op, x, Scalar(1)); });
      check(info(op).name, [&] { (void)call(op, x, Scalar(-1.5)); });
      check(info(op).name, [&] { call_into(op, Tensor::empty({4}, t), x, x); });
    }
    if (!is_raw(t)) continue;
    for (const CompareOp op : all_ops<CompareOp>()) {
      check(info(op).name, [&] { (void)call(op, x, x); });
      check(info(op).name, [&] { (void)call(op, x, Scalar(1)); });
      check(info(op).name, [&] { call_into(op, Tensor::empty({4}, DType::u8), x, x); });
    }
    check("where_cond", [&] { (void)flags.where_cond(x, x); });
  }
}

}  // namespace
}  // namespace wick
