// SPDX-License-Identifier: Apache-2.0
#include "wick/core/op_table.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

namespace wick {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

TEST(OpTable, EveryOpHasItsOwnNameAndAText) {
  std::set<std::string_view> names;
  int ops = 0;
  const auto look = [&](const auto& table) {
    for (const OpInfo& op : table) {
      ++ops;
      EXPECT_TRUE(names.insert(op.name).second) << op.name;
      EXPECT_THAT(op.doc, Not(IsEmpty())) << op.name;
    }
  };
  look(kUnaryOps);
  look(kParamOps);
  look(kBinaryOps);
  look(kCompareOps);
  EXPECT_EQ(info(UnaryOp::exp).name, "exp");
  EXPECT_EQ(info(BinaryOp::rem).name, "rem");
  EXPECT_EQ(info(ParamOp::clamp).name, "clamp");
  EXPECT_EQ(info(CompareOp::ge).name, "ge");
  EXPECT_EQ(info(UnaryOp::gelu_erf).domain, Domain::floats);
  EXPECT_EQ(info(UnaryOp::abs).domain, Domain::numbers);
  EXPECT_GE(ops, 39);
}

double unary(UnaryOp op, double x) {
  switch (op) {
#define WICK_UNARY(name, domain, meaning, doc) \
  case UnaryOp::name: return meaning;
#include "wick/core/ops.inc"
  }
  return NAN;
}

// The oracle itself against values worked out elsewhere: C127, C131, C132, C134, C135, C137.
TEST(OpTable, MeaningsOfKnownValues) {
  EXPECT_TRUE(std::isnan(unary(UnaryOp::sign, NAN)));
  EXPECT_TRUE(std::signbit(unary(UnaryOp::sign, -0.0)));
  EXPECT_EQ(unary(UnaryOp::round, 2.5), 2);
  EXPECT_EQ(unary(UnaryOp::round, -1.5), -2);
  EXPECT_EQ(unary(UnaryOp::relu, -3), 0);
  EXPECT_TRUE(std::isnan(unary(UnaryOp::relu, NAN)));
  EXPECT_EQ(unary(UnaryOp::sigmoid, -1662.7), 0);
  EXPECT_EQ(unary(UnaryOp::silu, -1000), 0);
  EXPECT_EQ(unary(UnaryOp::silu, INFINITY), INFINITY);
  EXPECT_EQ(unary(UnaryOp::silu, -INFINITY), 0);
  EXPECT_NEAR(unary(UnaryOp::gelu, 0.5), 0.34571400982514394, 1e-16);
  EXPECT_NEAR(unary(UnaryOp::gelu, 21.657723), 21.657723, 1e-14);
  EXPECT_EQ(unary(UnaryOp::gelu, -INFINITY), 0);
  EXPECT_NEAR(unary(UnaryOp::gelu_erf, -9) / -1.0157e-18, 1, 1e-4);
  EXPECT_NEAR(unary(UnaryOp::gelu_erf, -5), -1.4332579e-06, 1e-13);
  EXPECT_NEAR(unary(UnaryOp::gelu_erf, -1), -0.15865525, 1e-8);
  EXPECT_EQ(unary(UnaryOp::gelu_erf, -65504), 0);
  EXPECT_EQ(unary(UnaryOp::gelu_erf, -INFINITY), 0);
  EXPECT_NEAR(unary(UnaryOp::erf, 0.5), 0.52049988, 1e-8);
}

// C129, C143.
TEST(OpTable, MeaningsOfPairs) {
  using meaning::clamp, meaning::maximum, meaning::minimum, meaning::rem;
  EXPECT_TRUE(std::isnan(clamp(NAN, 0, 1)));
  EXPECT_EQ(clamp(2, 3, 1), 1);
  EXPECT_TRUE(std::isnan(clamp(0, NAN, 1)));
  EXPECT_TRUE(std::isnan(clamp(0, -1, NAN)));
  EXPECT_TRUE(std::isnan(maximum(1, NAN)));
  EXPECT_TRUE(std::isnan(maximum(NAN, 1)));
  EXPECT_TRUE(std::isnan(minimum(1, NAN)));
  EXPECT_EQ(maximum(-1, 2), 2);
  const double a[] = {-7, 7, -7, 7, -1, 1, -5, 5}, b[] = {2, 2, -2, -2, 3, -3, 3, -3};
  const double r[] = {1, 1, -1, -1, 2, -2, 1, -1};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(rem(a[i], b[i]), r[i]) << i;
  EXPECT_TRUE(std::signbit(rem(4, -2)));
  EXPECT_FALSE(std::signbit(rem(-4, 2)));
}

}  // namespace
}  // namespace wick
