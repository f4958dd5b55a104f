// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/test_files.h"

namespace wick {
namespace {

/// The README shows the example that is compiled and run, to the letter.
TEST(Readme, ShowsTheExample) {
  const std::string readme = testing::read_text(testing::source_root() / "README.md");
  std::string example = testing::read_text(testing::source_root() / "examples" / "quickstart.cc");
  example.erase(0, example.find("#include"));
  EXPECT_NE(readme.find(example), std::string::npos);
}

}  // namespace
}  // namespace wick
