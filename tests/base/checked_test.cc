// SPDX-License-Identifier: Apache-2.0
#include "wick/base/checked.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/views.h"

namespace wick {
namespace {

using ::testing::HasSubstr;

constexpr Index kMax = std::numeric_limits<Index>::max();
constexpr Index kMin = std::numeric_limits<Index>::min();

TEST(Checked, Products) {
  EXPECT_EQ(checked_mul(3, -4, "op", "size"), -12);
  EXPECT_EQ(checked_mul(kMax, 1, "op", "size"), kMax);
  EXPECT_EQ(checked_mul(kMin, 1, "op", "size"), kMin);
  EXPECT_ERROR(checked_mul(kMin, -1, "op", "size"), overflow);
  EXPECT_ERROR(checked_mul(Index{1} << 32, Index{1} << 31, "op", "size"), overflow);
  const Error e = testing::error_of([] { checked_mul(kMax, 2, "conv", "size of the padding"); });
  EXPECT_EQ(e.op(), "conv");
  EXPECT_THAT(e.what(), HasSubstr("size of the padding"));
  EXPECT_THAT(e.what(), HasSubstr("9223372036854775807"));
}

TEST(Checked, Sums) {
  EXPECT_EQ(checked_add(kMax, kMin, "op", "size"), -1);
  EXPECT_ERROR(checked_add(kMax, 1, "op", "size"), overflow);
  EXPECT_ERROR(checked_add(kMin, -1, "op", "size"), overflow);
}

TEST(Checked, Rounding) {
  EXPECT_EQ(ceil_div(0, 4), 0);
  EXPECT_EQ(ceil_div(1, 4), 1);
  EXPECT_EQ(ceil_div(4, 4), 1);
  EXPECT_EQ(ceil_div(kMax, 2), kMax / 2 + 1);  // no overflow on the way
  EXPECT_EQ(round_up(65, 64), 128);
  EXPECT_EQ(round_up(0, 64), 0);
}

TEST(ByteSize, PackedFormatsAndOverflow) {
  EXPECT_EQ(byte_size(DType::f64, 3), 24);
  EXPECT_EQ(byte_size(DType::f4, 3), 2);
  for (Index n = 0; n < 20; ++n) {
    EXPECT_EQ(byte_size(DType::f6e2m3, n), (n * 6 + 7) / 8) << n;
    EXPECT_EQ(byte_size(DType::f4, n), (n + 1) / 2) << n;
  }
  EXPECT_EQ(byte_size(DType::u8, kMax), kMax);
  EXPECT_EQ(byte_size(DType::f4, kMax), kMax / 2 + 1);
  EXPECT_EQ(byte_size(DType::f6e3m2, kMax), kMax / 4 * 3 + 3);
  EXPECT_ERROR(byte_size(DType::i16, kMax), overflow);
  EXPECT_ERROR(byte_size(DType::f64, Index{1} << 60), overflow);
}

}  // namespace
}  // namespace wick
