// SPDX-License-Identifier: Apache-2.0
#include "wick/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace wick {
namespace {

using ::testing::ElementsAre;
using ::testing::StrEq;

TEST(Error, WhatIsOpAndMessage) {
  EXPECT_THAT(Error(ErrorKind::shape, "add", "wanted [2], got [3]").what(),
              StrEq("add: wanted [2], got [3]"));
  EXPECT_THAT(Error(ErrorKind::io, "", "no such file").what(), StrEq("no such file"));
}

TEST(Error, CopiesShareUntilOneChanges) {
  Error a(ErrorKind::index, "narrow", "wanted an axis below 2, got 5");
  const Error b = a;
  a.context("while loading x").operand("f32", {2, 3});
  EXPECT_THAT(a.what(), StrEq("narrow: wanted an axis below 2, got 5\n  while loading x"));
  EXPECT_THAT(b.what(), StrEq("narrow: wanted an axis below 2, got 5"));
  ASSERT_EQ(a.operands().size(), 1U);
  EXPECT_EQ(a.operands()[0].dtype, "f32");
  EXPECT_THAT(a.operands()[0].shape, ElementsAre(2, 3));
  EXPECT_TRUE(b.operands().empty());
}

TEST(Error, ContextIsAddedOnTheWayOut) {
  try {
    with_error_context([] { return std::string("outer"); },
                       []() -> int { throw Error(ErrorKind::argument, "op", "bad"); });
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_THAT(e.contexts(), ElementsAre("outer"));
    EXPECT_EQ(e.kind(), ErrorKind::argument);
  }
  EXPECT_EQ(with_error_context([] { return std::string("unused"); }, [] { return 7; }), 7);
}

TEST(Error, EveryKindHasAName) {
  for (int k = 0; k <= static_cast<int>(ErrorKind::internal); ++k)
    EXPECT_NE(name(static_cast<ErrorKind>(k)), "unknown") << k;
}

}  // namespace
}  // namespace wick
