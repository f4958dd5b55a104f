// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/pools.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/parallel/executors.h"
#include "wick/parallel/barrier_pool.h"

namespace wick {
namespace {

int count_ranks(Executor& executor, int ranks) {
  std::atomic<int> ran{0};
  executor.run(ranks, [&](int) { ++ran; });
  return ran;
}

TEST(Pools, BadThreadCountIsAnError) {
  for (const int bad : {-1, 0, kMaxThreads + 1}) {
    try {
      set_num_threads(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::argument);
      EXPECT_NE(std::string(e.what()).find(std::to_string(bad)), std::string::npos) << e.what();
    }
  }
}

TEST(Pools, AlternatingRegionsAllRun) {
  const ThreadCountScope scope(2);
  std::atomic<int> ran{0};
  for (int i = 0; i < 20000; ++i)
    (i % 2 == 0 ? default_executor() : barrier_executor()).run(2, [&](int) { ++ran; });
  EXPECT_EQ(ran, 40000);
}

TEST(Pools, LongStretchesChangeOver) {
  const ThreadCountScope scope(2);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(count_ranks(default_executor(), 3), 3);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(count_ranks(barrier_executor(), 3), 3);
    with_context([] { EXPECT_EQ(count_ranks(current_executor(), 3), 3); });
  }
}

TEST(Pools, CountChangesWhileOthersRun) {
  const ThreadCountScope scope(2);
  std::atomic<bool> stop{false};
  std::atomic<int> errors{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 2; ++c)
    callers.emplace_back([&, c] {
      while (!stop) {
        Executor& executor = c == 0 ? default_executor() : short_executor();
        if (count_ranks(executor, 7) != 7) ++errors;
      }
    });
  for (int i = 0; i < 60; ++i) {
    set_num_threads(1 + i % 4);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (i % 10 == 9) shutdown();
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(errors, 0);
}

TEST(Pools, ComeBackAfterShutdown) {
  const ThreadCountScope scope(2);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(count_ranks(default_executor(), 4), 4);
    EXPECT_EQ(count_ranks(barrier_executor(), 4), 4);
    with_context([] {
      EXPECT_EQ(count_ranks(current_executor(), 4), 4);
      shutdown();
      EXPECT_EQ(count_ranks(current_executor(), 4), 4);
    });
    shutdown();
    shutdown();
  }
}

TEST(Pools, ShutdownInsideARegionIsAnError) {
  const ThreadCountScope scope(2);
  EXPECT_THROW(default_executor().run(2, [](int) { shutdown(); }), Error);
  EXPECT_THROW(barrier_executor().run(2, [](int) { shutdown(); }), Error);
}

TEST(Pools, ParkWorkersIsHarmlessAtAnyTime) {
  const ThreadCountScope scope(2);
  for (int i = 0; i < 200; ++i) {
    park_workers();
    EXPECT_EQ(count_ranks(barrier_executor(), 2), 2);
  }
}

}  // namespace
}  // namespace wick
