// SPDX-License-Identifier: Apache-2.0
#include "bench/harness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wick/base/error.h"

namespace wick::bench {
namespace {

/// A machine whose time passes only in calls and limit runs, and whose speed follows a script.
class FakeMachine final : public LimitSource {
 public:
  double now() const { return time_; }
  void pass(double seconds) { time_ += seconds; }

  double measure(Limit, int threads) override {
    EXPECT_EQ(threads, threads_);
    const double rate = script_.empty() ? 1e9 : script_[runs_ % script_.size()];
    ++runs_;
    time_ += 1e-3;
    order_ += "|";
    best_ = std::max(best_, rate);
    return rate;
  }
  double best(Limit, int) const override { return best_; }
  bool two_threads_scale() const override { return scale_; }

  Candidate candidate(const std::string& name, double seconds) {
    return {.engine = name, .call = [this, name, seconds] {
              pass(seconds);
              order_ += name;
            }};
  }
  std::vector<Row> measure_all(std::span<const Candidate> candidates, Pace pace = {},
                               double work = 1e6) {
    Case what{.op = "test", .threads = threads_, .work = work};
    return bench::measure(what, candidates, *this, pace, [] {}, [this] { return now(); });
  }

  std::vector<double> script_;
  std::string order_;
  double best_ = 0;
  std::size_t runs_ = 0;
  int threads_ = 1;
  bool scale_ = true;

 private:
  double time_ = 0;
};

TEST(Harness, NineBatchesOfAQuietMachineAreEnough) {
  FakeMachine machine;
  const Candidate one = machine.candidate("a", 2e-3);
  const Row row = machine.measure_all({&one, 1}).front();
  EXPECT_EQ(row.kept, 9);
  EXPECT_EQ(row.dropped, 0);
  EXPECT_FALSE(row.noisy);
  EXPECT_NEAR(*row.median_ms, 2, 1e-9);
  EXPECT_NEAR(*row.rate, 0.5, 1e-9);  // 1e6 operations in 2 ms, in units of 1e9
  EXPECT_NEAR(*row.share_of_limit, 0.5, 1e-9);
  EXPECT_EQ(machine.runs_, 10U);
}

TEST(Harness, CandidatesTakeTurnsBetweenLimitRuns) {
  FakeMachine machine;
  const Candidate both[] = {machine.candidate("a", 5e-3), machine.candidate("b", 5e-3)};
  machine.measure_all(both);
  EXPECT_THAT(machine.order_, ::testing::StartsWith("aabb|a|b|a|b|"));
}

TEST(Harness, ShortCallsAreRepeated) {
  FakeMachine machine;
  const Candidate one = machine.candidate("", 1e-5);
  int calls = 0;
  Candidate counted = one;
  counted.call = [&] {
    ++calls;
    one.call();
  };
  const Row row = machine.measure_all({&counted, 1}).front();
  EXPECT_NEAR(*row.median_ms, 0.01, 1e-9);
  EXPECT_GE(calls, 9 * 200);  // batches of 2 ms
}

TEST(Harness, BatchesBesideASlowLimitRunAreDropped) {
  FakeMachine machine;
  machine.script_ = {1e9, 1e9, 0.9e9, 1e9};  // of four batches, two touch the slow run
  const Candidate one = machine.candidate("a", 2e-3);
  const Row row = machine.measure_all({&one, 1}).front();
  EXPECT_EQ(row.kept, 9);
  EXPECT_GE(row.dropped, 7);
  EXPECT_FALSE(row.noisy);
}

TEST(Harness, ABetterLimitLaterDropsWhatWasKept) {
  FakeMachine machine;
  machine.script_ = std::vector<double>(8, 0.9e9);
  machine.script_.insert(machine.script_.end(), 100, 1e9);
  const Candidate one = machine.candidate("a", 2e-3);
  const Row row = machine.measure_all({&one, 1}).front();
  EXPECT_EQ(row.kept, 9);
  EXPECT_EQ(row.dropped, 8);
}

TEST(Harness, GivesUpOnANoisyMachine) {
  FakeMachine machine;
  machine.best_ = 2e9;
  const Candidate one = machine.candidate("a", 2e-3);
  Pace pace;
  pace.most_batches = 12;
  const Row row = machine.measure_all({&one, 1}, pace).front();
  EXPECT_TRUE(row.noisy);
  EXPECT_EQ(row.kept, 0);
  EXPECT_EQ(row.dropped, 12);
  EXPECT_TRUE(row.median_ms.has_value());
}

TEST(Harness, ASecondCoreThatAddsNothingMakesTwoThreadsNoisy) {
  FakeMachine machine;
  machine.threads_ = 2;
  machine.scale_ = false;
  const Candidate one = machine.candidate("a", 2e-3);
  EXPECT_TRUE(machine.measure_all({&one, 1}).front().noisy);
  machine.threads_ = 1;
  EXPECT_FALSE(machine.measure_all({&one, 1}).front().noisy);
}

TEST(Harness, AnErrorBecomesARow) {
  FakeMachine machine;
  Candidate bad = machine.candidate("bad", 1);
  bad.call = [] { throw Error(ErrorKind::unsupported_dtype, "matmul", "f4 is not supported"); };
  const Candidate both[] = {bad, machine.candidate("a", 2e-3)};
  const auto rows = machine.measure_all(both);
  EXPECT_EQ(rows[0].error, "matmul: f4 is not supported");
  EXPECT_FALSE(rows[0].median_ms.has_value());
  EXPECT_EQ(rows[1].kept, 9);
}

TEST(Harness, ACandidateMayKeepItsOwnTime) {
  FakeMachine machine;
  const Candidate other{.engine = "a",
                        .timed =
                            [&](int calls) {
                              machine.pass(1);  // the way there is not counted
                              return 3e-3 * calls;
                            },
                        .note = "version 1"};
  const Row row = machine.measure_all({&other, 1}).front();
  EXPECT_EQ(row.kept, 9);
  EXPECT_NEAR(*row.median_ms, 3, 1e-9);
  EXPECT_EQ(row.result, "version 1");
}

TEST(Harness, BatchesThatWaitedForACpuAreDropped) {
  FakeMachine machine;
  Candidate one = machine.candidate("a", 2e-3);
  double waited = 0;
  one.waited = [&, call = 0]() mutable {
    if (++call % 4 == 0) waited += 1e-3;  // in every second batch
    return waited;
  };
  const Row row = machine.measure_all({&one, 1}).front();
  EXPECT_EQ(row.kept, 9);
  EXPECT_GE(row.dropped, 8);
}

TEST(Harness, AnErrorInABatchBecomesARow) {
  FakeMachine machine;
  int calls = 0;
  const Candidate bad{.engine = "a", .timed = [&](int) {
                        if (++calls > 4) throw Error(ErrorKind::io, "a", "the other process ended");
                        return 1.0;
                      }};
  const Row row = machine.measure_all({&bad, 1}).front();
  EXPECT_EQ(row.error, "a: the other process ended");
  EXPECT_FALSE(row.median_ms.has_value());
}

TEST(Harness, WithoutWorkThereIsNoRate) {
  FakeMachine machine;
  const Candidate one = machine.candidate("a", 2e-3);
  const Row row = machine.measure_all({&one, 1}, {}, 0).front();
  EXPECT_NEAR(*row.median_ms, 2, 1e-9);
  EXPECT_FALSE(row.rate.has_value());
}

TEST(Harness, SingleCallsAreTimedOneByOne) {
  FakeMachine machine;
  Pace pace;
  pace.calls_per_timing = 1;
  pace.timings = 23;
  double seconds = 0;
  Candidate odd{.engine = "a", .call = [&] { machine.pass(seconds += 1e-6); }};
  const Row row = machine.measure_all({&odd, 1}, pace).front();
  EXPECT_EQ(row.kept, 9);
  EXPECT_GT(*row.median_ms, 0);
}

TEST(Harness, BatchesRunInTheirSurroundings) {
  FakeMachine machine;
  Candidate one = machine.candidate("a", 5e-3);
  one.around = [&](FunctionRef<void()> batch) {
    machine.order_ += "(";
    batch();
    machine.order_ += ")";
  };
  machine.measure_all({&one, 1});
  EXPECT_THAT(machine.order_, ::testing::StartsWith("(aa)|(a)|(a)|"));
}

}  // namespace
}  // namespace wick::bench
