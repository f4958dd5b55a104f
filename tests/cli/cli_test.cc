// SPDX-License-Identifier: Apache-2.0
#ifdef WICK_CLI
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/run_cli.h"
#include "wick/core/isa.h"

namespace wick::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

TEST(Cli, HelpAndVersion) {
  const CliResult help = run_cli("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("info"));
  EXPECT_EQ(run_cli("info --help").code, 0);
  const CliResult version = run_cli("--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, HasSubstr("wick "));
}

TEST(Cli, WrongUsageIsTwo) {
  for (const char* arguments : {"", "nonsense", "info --nonsense", "info too many", "--json"}) {
    EXPECT_EQ(run_cli(arguments).code, 2) << arguments;
    EXPECT_THAT(run_cli(arguments).out, IsEmpty()) << arguments;
  }
}

TEST(Cli, FailureIsOneAndSaysWhy) {
  const CliResult bad = run_cli("info", "WICK_ISA=pentium", "2>&1 >/dev/null");
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, HasSubstr("wick: WICK_ISA: wanted one of "));
  EXPECT_THAT(bad.out, HasSubstr("got \"pentium\""));
  EXPECT_EQ(run_cli("info", "WICK_NUM_THREADS=none").code, 1);
  EXPECT_EQ(run_cli("info", "WICK_MEMORY_LIMIT=lots").code, 1);
}

TEST(Cli, InfoJson) {
  const CliResult info = run_cli("info --json");
  ASSERT_EQ(info.code, 0);
  const Json json = Json::parse(info.out);
  EXPECT_FALSE(json["isa"]["chosen"].get<std::string>().empty());
  EXPECT_GE(json["cores"].get<int>(), 1);
  EXPECT_GE(json["threads"]["default"].get<int>(), 1);
  EXPECT_GT(json["memory"]["limit"].get<double>(), 0);
  for (const char* field : {"cpu", "performance_cores", "clusters", "caches", "quota", "blas"})
    EXPECT_TRUE(json.contains(field)) << field;
  EXPECT_EQ(run_cli("info").code, 0);
}

TEST(Cli, IsaIsCapped) {
  for (const std::string_view name : isa_compiled()) {
    const CliResult info = run_cli("info --json", "WICK_ISA=" + std::string(name));
    ASSERT_EQ(info.code, 0) << name;
    const Json isa = Json::parse(info.out)["isa"];
    const auto available = isa_available();
    if (std::find(available.begin(), available.end(), name) != available.end()) {
      EXPECT_EQ(isa["chosen"], name);
    }
    EXPECT_EQ(isa["available"].size(), available.size());
  }
  const std::string lowest(isa_compiled().back());
  std::string loud = lowest;
  for (char& c : loud) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const CliResult info = run_cli("info --json", "WICK_ISA=" + loud);
  ASSERT_EQ(info.code, 0);
  EXPECT_EQ(Json::parse(info.out)["isa"]["chosen"], lowest);
}

TEST(Cli, NumberOfThreadsFromTheEnvironment) {
  const CliResult info = run_cli("info --json", "WICK_NUM_THREADS=3 WICK_BARRIER_THREADS=2");
  ASSERT_EQ(info.code, 0);
  const Json threads = Json::parse(info.out)["threads"];
  EXPECT_EQ(threads["default"], 3);
  EXPECT_EQ(threads["barrier"], 2);
}

}  // namespace
}  // namespace wick::testing
#endif
