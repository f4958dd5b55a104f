// SPDX-License-Identifier: Apache-2.0
#ifdef WICK_CLI
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <string>

#include "tests/cli/run_cli.h"
#include "tests/test_files.h"

namespace wick::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(CliBench, WrongUsage) {
  EXPECT_EQ(run_cli("bench nonsense").code, 2);
  EXPECT_EQ(run_cli("bench --budget -1").code, 2);
  EXPECT_EQ(run_cli("bench --json /nonexistent/folder/x.json").code, 1);
}

void check_number(const Json& value, bool wanted, const char* what) {
  if (wanted)
    EXPECT_TRUE(value.is_number() && value.get<double>() >= 0) << what << ": " << value;
  else
    EXPECT_TRUE(value.is_null()) << what << ": " << value;
}

void check_row(const Json& row) {
  const bool worked = row["error"].is_null();
  EXPECT_TRUE(worked || row["error"].is_string());
  check_number(row["median_ms"], worked, "median_ms");
  check_number(row["rate"], worked, "rate");
  check_number(row["share_of_limit"], worked, "share_of_limit");
  EXPECT_TRUE(row["op"].is_string());
  EXPECT_TRUE(row["dtype"].is_string());
  EXPECT_TRUE(row["shape"].is_array());
  EXPECT_GE(row["threads"].get<int>(), 1);
  EXPECT_TRUE(row["context"].is_boolean());
  EXPECT_TRUE(row["unit"] == "GFLOP/s" || row["unit"] == "GB/s");
}

TEST(CliBench, AllExperimentsInJsonHtmlAndText) {
  const ScratchFolder folder;
  const std::string json = (folder / "b.json").string(), html = (folder / "b.html").string();
  // Nothing is said about speed here, so no time is spent on it.
  const CliResult run = run_cli("bench --quick --budget 0.004 --json " + json + " --html " + html);
  ASSERT_EQ(run.code, 0);
  for (int i = 1; i <= 5; ++i) EXPECT_THAT(run.out, HasSubstr("== " + std::to_string(i) + "."));
  EXPECT_THAT(read_text(html), HasSubstr("<svg"));

  const Json result = Json::parse(read_text(json));
  const Json& machine = result["machine"];
  EXPECT_TRUE(machine["cpu"].is_string());
  EXPECT_TRUE(machine["isa"].is_string());
  EXPECT_GE(machine["cores"].get<int>(), 1);
  for (const char* dtype : {"f32", "f64", "f16", "bf16"})
    for (const char* threads : {"1", "all"})
      EXPECT_GT(machine["limits"]["fma_gflops"][dtype][threads].get<double>(), 0);
  for (const char* limit : {"copy_gbs", "read_gbs"})
    for (const char* threads : {"1", "all"})
      EXPECT_GT(machine["limits"][limit][threads].get<double>(), 0);

  std::map<int, int> rows;
  std::set<std::string> dtypes;
  for (const Json& row : result["rows"]) {
    check_row(row);
    ++rows[row["experiment"].get<int>()];
    if (row["experiment"] == 4) dtypes.insert(row["dtype"].get<std::string>());
    if (row["experiment"] == 4 && row["error"].is_null()) {
      EXPECT_EQ(row["result"], "[[2, 2], [2, 2]]") << row["dtype"];
    }
  }
  EXPECT_EQ(rows[1], 9);
  EXPECT_GE(rows[2], 9);
  EXPECT_GE(rows[3], 2);
  EXPECT_EQ(rows[4], 14);
  EXPECT_EQ(dtypes.size(), 14U);
  EXPECT_EQ(rows[5], 6);
}

}  // namespace
}  // namespace wick::testing
#endif
