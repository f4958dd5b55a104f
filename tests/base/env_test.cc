// SPDX-License-Identifier: Apache-2.0
#include "wick/base/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

namespace wick {
namespace {

using ::testing::HasSubstr;

constexpr const char* kVariable = "WICK_TEST_VARIABLE";

class Env : public ::testing::Test {
 protected:
  ~Env() override { ::unsetenv(kVariable); }
  static void set(const char* value) { ::setenv(kVariable, value, 1); }
};

TEST_F(Env, UnsetAndEmptyAreNothing) {
  ::unsetenv(kVariable);
  EXPECT_EQ(env_text(kVariable), std::nullopt);
  set("");
  EXPECT_EQ(env_text(kVariable), std::nullopt);
  EXPECT_EQ(env_index(kVariable, 0, 9), std::nullopt);
  EXPECT_EQ(env_bytes(kVariable), std::nullopt);
}

TEST_F(Env, WholeNumbers) {
  set("8");
  EXPECT_EQ(env_index(kVariable, 1, 8), 8);
  for (const char* bad : {"9", "0", "-1", "8x", " 8", "1e3", "99999999999999999999"}) {
    set(bad);
    try {
      env_index(kVariable, 1, 8);
      FAIL() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::environment);
      EXPECT_THAT(e.what(), HasSubstr(kVariable));
      EXPECT_THAT(e.what(), HasSubstr(bad));
    }
  }
}

TEST_F(Env, Bytes) {
  const struct {
    const char* text;
    Index bytes;
  } good[] = {{"0", 0},           {"4096", 4096},      {"12b", 12},
              {"3K", 3 << 10},    {"512M", 512 << 20}, {"2GiB", 2LL << 30},
              {"2gb", 2LL << 30}, {"1t", 1LL << 40}};
  for (const auto& g : good) {
    set(g.text);
    EXPECT_EQ(env_bytes(kVariable), g.bytes) << g.text;
  }
  for (const char* bad : {"-1", "M", "1X", "1 G", "1Gi", "1.5G", "9999999T"}) {
    set(bad);
    EXPECT_THROW(env_bytes(kVariable), Error) << bad;
  }
}

}  // namespace
}  // namespace wick
