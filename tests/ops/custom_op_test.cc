// SPDX-License-Identifier: Apache-2.0
#include "wick/custom_op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/ops/op_calls.h"
#include "tests/ops/samples.h"

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers

TEST(CustomOp, OneTwoAndThreeInputsOfAnyViews) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const Dims shape = random_shape(random, 4, 6);
    const Tensor a = odd_tensor(shape, DType::f32, random, Values::tame),
                 b = odd_tensor(shape, DType::f32, random, Values::tame),
                 c = odd_tensor(shape, DType::i32, random, Values::tame);
    const auto twice = [](const OutputView& y, const InputView& x) {
      map_elements<f32>(y, [](f32 v) { return 2 * v; }, x.as<f32>());
    };
    const auto sum = [](const OutputView& y, const InputView& p, const InputView& q) {
      map_elements<f32>(y, [](f32 v, f32 w) { return v + w; }, p.as<f32>(), q.as<f32>());
    };
    const auto three = [](const OutputView& y, const InputView& p, const InputView& q,
                          const InputView& r) {
      map_elements<f64>(
          y, [](f32 u, f32 v, i32 w) { return static_cast<f64>(u) * v + w; }, p.as<f32>(),
          q.as<f32>(), r.as<i32>());
    };
    ASSERT_TRUE(same_bits(custom_op("twice", shape, DType::f32, twice, a), a.mul(2)));
    ASSERT_TRUE(same_bits(custom_op("sum", shape, DType::f32, sum, a, b), a.add(b)));
    const Tensor want =
        a.to_dtype(DType::f64).mul(b.to_dtype(DType::f64)).add(c.to_dtype(DType::f64));
    ASSERT_TRUE(same_bits(custom_op("three", shape, DType::f64, three, a, b, c), want));
    const Tensor out = strided_empty(shape, DType::f64, random);
    custom_op_into("three", out, three, a, b, c);
    ASSERT_TRUE(same_bits(out, want));
    const Tensor x = strided_empty(shape, DType::f32, random);
    copy_into(x, a);
    custom_op_in_place(
        "add", x,
        [](const OutputView& y, const InputView& p) {
          const TypedView<f32> old = y.as<f32>();
          map_elements<f32>(y, [](f32 v, f32 w) { return v + w; }, old, p.as<f32>());
        },
        b);
    ASSERT_TRUE(same_bits(x, a.add(b)));
    custom_op_in_place("nothing", x, [](const OutputView&) {});
  }
  const Tensor big = normal({500, 401}, DType::f32, 2);
  expect_same_bits_for_any_threads([&] {
    return custom_op(
        "exp", big.t().shape(), DType::f32,
        [](const OutputView& y, const InputView& x) {
          map_elements<f32>(y, [](f32 v) { return std::exp(v); }, x.as<f32>());
        },
        big.t());
  });
}

TEST(CustomOp, ItsOwnShapeAndDtype) {
  // The trace of a matrix: indices by hand.
  const Tensor m = Tensor::arange(0, 9).reshape({3, 3}).flip(0);
  const Tensor trace = custom_op(
      "trace", {}, DType::f64,
      [](const OutputView& y, const InputView& x) {
        const f32* from = x.data<f32>();
        f64 sum = 0;
        for (Index i = 0; i < x.shape()[0]; ++i)
          sum += from[i * (x.layout().strides[0] + x.layout().strides[1])];
        *y.data<f64>() = sum;
      },
      m);
  EXPECT_EQ(trace.item<f64>(), 6 + 4 + 2);
}

TEST(CustomOp, Errors) {
  const Tensor x = Tensor::ones({4});
  const auto nothing = [](const OutputView&, const InputView&) { FAIL() << "was called"; };
  EXPECT_ERROR(custom_op_into("mine", x.flip(0), nothing, x), overlap);
  EXPECT_ERROR(custom_op_into("mine", x, nothing, x), overlap);
  EXPECT_ERROR(custom_op_into("mine", Tensor::ones({1}).broadcast_as({4}), nothing, x), overlap);
  EXPECT_EQ(error_of([&] { custom_op_into("mine", x, nothing, x); }).op(), "mine");
  const std::vector<f32> fixed{1, 2, 3, 4};
  const Tensor r = Tensor::from_foreign(const_cast<f32*>(fixed.data()), 16, DType::f32,
                                        Layout::contiguous({4}), nullptr, true);
  EXPECT_ERROR(custom_op_in_place("mine", r, [](const OutputView&) {}), read_only);
  const auto wrong = [](const OutputView& y, const InputView& p) {
    map_elements<f32>(y, [](f64 v) { return static_cast<f32>(v); }, p.as<f64>());
  };
  EXPECT_ERROR(custom_op("mine", {4}, DType::f32, wrong, x), dtype);
  const auto other = [](const OutputView& y, const InputView& p) {
    map_elements<f32>(y, [](f32 v) { return v; }, p.as<f32>());
  };
  EXPECT_ERROR(custom_op("mine", {5}, DType::f32, other, x), shape);
  EXPECT_THROW(
      custom_op(
          "mine", {4}, DType::f32,
          [](const OutputView&, const InputView&) { throw std::runtime_error("theirs"); }, x),
      std::runtime_error);
}

}  // namespace
}  // namespace wick
