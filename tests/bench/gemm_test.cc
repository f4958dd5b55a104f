// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "bench/gemm_calls.h"
#include "bench/gemm_cases.h"
#include "bench/gemm_operands.h"
#include "bench/gemm_peer.h"
#include "bench/report.h"
#include "tests/test_files.h"
#include "wick/base/error.h"

namespace wick::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(GemmCases, Names) {
  EXPECT_EQ(gemm_name({.m = 16, .n = 16, .k = 16}), "f32 16;16;16");
  EXPECT_EQ(gemm_name({.m = 512, .n = 64, .k = 512, .batch = 12}), "f32 12 x 512;64;512");
  Gemm row{.dtype = DType::bf16, .m = 16, .n = 4096, .k = 4096, .transposed = true, .packed = true};
  row.bound_by_memory = true;
  EXPECT_EQ(gemm_name(row), "bf16 16;4096;4096 T packed, warm");
  row.cold = true;
  EXPECT_EQ(gemm_name(row), "bf16 16;4096;4096 T packed, from memory");
}

TEST(GemmCases, NamesTellRowsApart) {
  std::set<std::string> names;
  const std::vector<Gemm> rows = gemm_rows();
  for (const Gemm& row : rows) names.insert(gemm_name(row));
  EXPECT_THAT(names, SizeIs(rows.size()));
}

TEST(GemmCases, Filter) {
  const std::vector<Gemm> rows = gemm_rows();
  EXPECT_EQ(select_rows(rows, ""), rows);
  const auto one = select_rows(rows, "f32 1024");
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(one[0].k, 1024);
  EXPECT_THAT(select_rows(rows, "f32 1024,f64 1024"), SizeIs(2));
  for (const Gemm& row : select_rows(rows, "4096 T")) EXPECT_TRUE(row.transposed);
  EXPECT_THROW(select_rows(rows, "f32 1025"), Error);
}

TEST(GemmCases, OperationsAndBytes) {
  const Gemm row{.dtype = DType::f64, .m = 2, .n = 3, .k = 5, .batch = 7};
  EXPECT_EQ(row.flops(), 2 * 2 * 3 * 5 * 7);
  EXPECT_EQ(row.bytes(), 8 * 7 * (10 + 15 + 6));
  EXPECT_EQ((Gemm{.m = 3, .n = 3, .k = 3, .batch = 10}).bytes(), 1080);
  const Case read = gemm_case(row, 2, Limit::read), fma = gemm_case(row, 1, Limit::fma_f64);
  EXPECT_EQ(read.work, row.bytes());
  EXPECT_EQ(fma.work, row.flops());
  EXPECT_THAT(read.shape, ::testing::ElementsAre(7, 2, 3, 5));
  EXPECT_FALSE(read.peers_only);
  EXPECT_TRUE(
      gemm_case({.m = 1, .n = 2, .k = 3, .bound_by_memory = true}, 1, Limit::read).peers_only);
}

TEST(GemmCases, WrongResultsAreFound) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    const Gemm row{.dtype = dtype, .m = 3, .n = 40, .k = 100, .batch = 2};
    std::vector<double> values = gemm_samples(row);
    EXPECT_EQ(find_wrong_sample(row, values), "");
    // As B read by the wrong stride gives it.
    Gemm other = row;
    other.transposed = true;
    EXPECT_NE(find_wrong_sample(other, values), "");
    values[5] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(find_wrong_sample(row, values), "");
    values.pop_back();
    EXPECT_THAT(find_wrong_sample(row, values), HasSubstr("elements"));
  }
  std::vector<double> values = gemm_samples({.m = 64, .n = 64, .k = 64});
  values[63] += 1e-3;
  EXPECT_NE(find_wrong_sample({.m = 64, .n = 64, .k = 64}, values), "");
}

TEST(GemmCalls, AreRight) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16})
    for (const bool transposed : {false, true})
      for (const Index batch : {1, 3}) {
        Gemm row{.dtype = dtype, .m = 5, .n = 7, .k = 70, .batch = batch};
        row.transposed = transposed;
        row.cold = true;
        GemmCalls calls(100000);
        calls.set(row);
        EXPECT_GT(calls.sets(), 2);
        if (batch == 1) {
          calls.raw()();
          EXPECT_EQ(find_wrong_sample(row, calls.samples()), "");
        }
        calls.set(row);
        calls.into()();
        EXPECT_EQ(find_wrong_sample(row, calls.samples()), "");
        calls.set(row);
        calls.allocating()();
        EXPECT_EQ(find_wrong_sample(row, calls.samples()), "");
      }
}

TEST(GemmCalls, PackedIsTheSame) {
  for (const bool transposed : {true, false})
    for (const bool cold : {false, true}) {
      Gemm row{.m = 5, .n = 70, .k = 70};
      row.transposed = transposed;
      row.packed = true;
      row.cold = cold;
      GemmCalls calls(100000);
      calls.set(row);
      EXPECT_EQ(calls.sets() > 1, cold);
      calls.into()();
      EXPECT_EQ(find_wrong_sample(row, calls.samples()), "");
      row.packed = false;
      calls.set(row);
      calls.packed()();
      EXPECT_EQ(find_wrong_sample(row, calls.samples()), "");
    }
}

TEST(GemmCalls, FirstCall) { EXPECT_GT(first_call_ratio(8, 2), 0); }

TEST(GemmEngines, WhoEntersWhat) {
  const Gemm square{.m = 512, .n = 512, .k = 512}, small{.m = 8, .n = 8, .k = 8, .batch = 9};
  Gemm row{.m = 1, .n = 4096, .k = 4096, .bound_by_memory = true};
  EXPECT_TRUE(engine_takes("openblas", square));
  EXPECT_FALSE(engine_takes("openblas-gemv", square));
  EXPECT_TRUE(engine_takes("openblas-gemv", row));
  EXPECT_TRUE(engine_takes("onednn-packed", square));
  EXPECT_FALSE(engine_takes("onednn-packed", row));
  row.packed = true;
  EXPECT_TRUE(engine_takes("onednn-packed", row));
  row.cold = true;
  EXPECT_FALSE(engine_takes("openblas", row));
  EXPECT_TRUE(engine_takes("mkl-jit", small));
  EXPECT_FALSE(engine_takes("mkl-jit", square));
}

TEST(GemmEngines, EachHasItsSettings) {
  for (const GemmEngine& engine : gemm_engines(2)) {
    EXPECT_THAT(engine.settings, ::testing::Contains("OMP_NUM_THREADS=2")) << engine.name;
    EXPECT_THAT(engine.settings, Not(::testing::Contains(HasSubstr("=1,")))) << engine.name;
  }
}

class GemmPeerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import sys' >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  }
  /// The lines with which a right library answers, in Python.
  GemmPeer peer(const std::string& text, std::vector<std::string> settings = {}) {
    const auto path = folder_ / "peer.py";
    std::ofstream(path) << "import os, sys\n" << text;
    return GemmPeer({"python3", path.string()}, "fake", {0}, std::move(settings));
  }

 private:
  testing::ScratchFolder folder_;
};

/// Answers each case with the samples given, or refuses f64.
std::string fake_for(const Gemm& row, double off) {
  std::string values;
  for (const double v : gemm_samples(row)) values += fmt::format(" {:.17g}", v + off);
  return "print('ready fake', sys.argv[1], sys.argv[2], os.environ.get('WICK_X'),"
         " os.environ.get('OPENBLAS_CORETYPE'), flush=True)\n"
         "for line in sys.stdin:\n"
         "    if line.startswith('case f64'): print('refused no', line.strip(), flush=True)\n"
         "    elif line.startswith('case'): print('values 0.5" +
         values +
         "', flush=True)\n"
         "    elif line.startswith('run 3'): print('seconds 0.75 0.125', flush=True)\n"
         "    else: print('error what?', flush=True)\n";
}

TEST_F(GemmPeerTest, SpeaksTheProtocol) {
  const Gemm row{.m = 4, .n = 5, .k = 6};
  ::setenv("OPENBLAS_CORETYPE", "Haswell", 0);
  GemmPeer fake = peer(fake_for(row, 0), {"WICK_X=7"});
  EXPECT_EQ(fake.missing(), "");
  EXPECT_EQ(fake.version(), "fake fake 1 7 None");
  fake.ask(row);
  const GemmPeer::Answer right = fake.answer(row);
  EXPECT_EQ(right.refused, "");
  EXPECT_EQ(right.wrong, "");
  EXPECT_EQ(right.seconds, 0.5);
  EXPECT_EQ(fake.run(3), 0.75);
  EXPECT_EQ(fake.waited(), 0.125);
  EXPECT_THROW(fake.run(4), Error);
  const Gemm other{.dtype = DType::f64, .m = 4, .n = 5, .k = 6, .batch = 2, .transposed = true};
  fake.ask(other);
  EXPECT_EQ(fake.answer(other).refused, "no case f64 4 5 6 2 T");
}

TEST_F(GemmPeerTest, WrongResultsAreNoticed) {
  const Gemm row{.m = 4, .n = 5, .k = 6};
  GemmPeer fake = peer(fake_for(row, 0.5));
  fake.ask(row);
  EXPECT_THAT(fake.answer(row).wrong, HasSubstr("wanted"));
}

TEST_F(GemmPeerTest, TheScriptMakesTheSameOperands) {
  const auto own = testing::source_root() / "build/peers-venv/bin/python";
  const std::string python = std::filesystem::exists(own) ? own.string() : "python3";
  GemmPeer torch({python, (testing::source_root() / "bench/peers/gemm_torch.py").string()},
                 "pytorch", {0});
  if (!torch.missing().empty()) GTEST_SKIP() << torch.missing();
  for (const bool transposed : {false, true})
    for (const Index batch : {1, 3}) {
      Gemm row{.m = 30, .n = 20, .k = 10, .batch = batch};
      row.transposed = transposed;
      torch.ask(row);
      const GemmPeer::Answer answer = torch.answer(row);
      EXPECT_EQ(answer.refused, "");
      EXPECT_EQ(answer.wrong, "");
      EXPECT_GT(torch.run(2), 0);
    }
}

Row timed(std::string engine, double ms) {
  Row row;
  row.what = gemm_case({.m = 1000, .n = 1000, .k = 500}, 1, Limit::fma_f32);
  row.engine = std::move(engine);
  row.median_ms = ms;
  row.kept = 9;
  return row;
}

TEST(GemmReport, Lines) {
  std::vector<Row> rows{timed("wick", 10), timed("wick-matmul", 10.0001), timed("blis", 11),
                        timed("eigen", 20)};
  rows[0].share_of_limit = 0.5;
  rows[0].best_peer = "blis";
  rows[0].ratio = 1.1;
  const std::string text = gemm_lines(rows);
  EXPECT_THAT(text, HasSubstr("100.0 GFLOP/s   50 % of f32 FMA peak  1.10 x blis 90.9"));
  EXPECT_THAT(text, HasSubstr("Tensor API:  matmul +100 ns"));
  EXPECT_THAT(text, HasSubstr("eigen 50.0"));
  EXPECT_THAT(text, Not(HasSubstr("noisy")));
  rows[2].noisy = true;
  EXPECT_THAT(gemm_lines(rows), HasSubstr("noisy: the peer's"));
}

}  // namespace
}  // namespace wick::bench
