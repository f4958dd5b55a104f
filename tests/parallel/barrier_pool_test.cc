// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/barrier_pool.h"

#include <gtest/gtest.h>

#if WICK_WITH_THREADS

#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <set>
#include <thread>

namespace wick {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Waits up to a few seconds for a condition.
template <class F>
bool eventually(F f) {
  for (const auto end = Clock::now() + 5s; Clock::now() < end; std::this_thread::sleep_for(100us))
    if (f()) return true;
  return f();
}

TEST(BarrierPool, AnyClustersRunEveryRankOnce) {
  const std::vector<std::vector<int>> machines = {
      {}, {1}, {2, 2}, {1, 1, 1, 1}, {4, 4}, {3, 1, 2}, {0, 0, 5}, {16}, {2}};
  for (const auto& clusters : machines) {
    for (const int threads : {1, 2, 3, 5, 8}) {
      BarrierPool pool(threads, clusters);
      EXPECT_EQ(pool.threads(), threads);
      for (int ranks = 2; ranks < 20; ++ranks) {
        std::vector<std::atomic<int>> hits(static_cast<std::size_t>(ranks));
        for (int i = 0; i < 5; ++i)
          pool.run(ranks, [&](int rank) { ++hits[static_cast<std::size_t>(rank)]; });
        for (const auto& hit : hits) ASSERT_EQ(hit, 5);
      }
    }
  }
}

TEST(BarrierPool, EveryWorkerTakesPart) {
  BarrierPool pool(4, {2, 2});
  std::set<std::thread::id> ids;
  EXPECT_TRUE(eventually([&] {
    std::mutex mutex;
    ids.clear();
    pool.run(4, [&](int) {
      std::this_thread::sleep_for(5ms);
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
    return ids.size() == 4;
  }));
}

TEST(BarrierPool, ACallerDoesTheWorkOfSleepers) {
  BarrierPool pool(2);
  pool.run(2, [](int) {});
  EXPECT_TRUE(eventually([&] { return !pool.awake(); }));
  int by_caller = 0;
  for (int i = 0; i < 20; ++i) {
    pool.park();
    std::thread::id ids[2];
    pool.run(2, [&](int rank) { ids[rank] = std::this_thread::get_id(); });
    by_caller += ids[0] == ids[1] ? 1 : 0;
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_GT(by_caller, 0);
}

TEST(BarrierPool, IdleWorkersSleep) {
  BarrierPool pool(3);
  pool.run(3, [](int) { std::this_thread::sleep_for(1ms); });
  EXPECT_TRUE(eventually([&] { return !pool.awake(); }));
  const std::clock_t before = std::clock();  // CPU time of the process
  std::this_thread::sleep_for(100ms);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.05);
}

TEST(BarrierPool, ParksAtOnceAndHeats) {
  BarrierPool pool(2);
  pool.run(2, [](int) { std::this_thread::sleep_for(1ms); });
  pool.park();
  EXPECT_TRUE(eventually([&] { return !pool.awake(); }));
  EXPECT_TRUE(eventually([&] {
    pool.heat(true);
    const auto end = Clock::now() + 10ms;
    bool woke = false;
    for (; !woke && Clock::now() < end; std::this_thread::sleep_for(20us)) woke = pool.awake();
    pool.heat(false);
    return woke;
  }));
}

TEST(BarrierPool, SleepersAndSpinnersMixed) {
  BarrierPool pool(3, {2, 1});
  std::atomic<int> ran{0};
  for (int i = 0; i < 300; ++i) {
    pool.run(2 + i % 3, [&](int) { ++ran; });
    if (i % 7 == 0) pool.park();
    if (i % 11 == 0) std::this_thread::sleep_for(300us);
  }
  EXPECT_EQ(ran, 100 * (2 + 3 + 4));
}

TEST(BarrierPool, ResizesAndStops) {
  BarrierPool pool(1);
  for (const int threads : {1, 4, 2, 8, 3}) {
    pool.resize(threads, {2, 2});
    EXPECT_EQ(pool.threads(), threads);
    std::atomic<int> ran{0};
    for (int i = 0; i < 10; ++i) pool.run(6, [&](int) { ++ran; });
    EXPECT_EQ(ran, 60);
    if (threads == 2) pool.stop();
  }
}

TEST(BarrierPool, TryRunRefusesWhileBusy) {
  BarrierPool pool(2);
  std::atomic<bool> inside{false};
  std::atomic<bool> go{false};
  std::thread other([&] {
    pool.run(2, [&](int) {
      inside = true;
      while (!go) std::this_thread::yield();
    });
  });
  while (!inside) std::this_thread::yield();
  EXPECT_FALSE(pool.try_run(2, [](int) { ADD_FAILURE(); }));
  go = true;
  other.join();
  int ran = 0;
  EXPECT_TRUE(pool.try_run(1, [&](int) { ++ran; }));
  EXPECT_EQ(ran, 1);
}

TEST(BarrierPool, MoreThreadsThanCpusMakeProgress) {
  BarrierPool pool(8, {4, 4});
  const auto begin = Clock::now();
  std::atomic<int> ran{0};
  for (int i = 0; i < 500; ++i) pool.run(8, [&](int) { ++ran; });
  EXPECT_EQ(ran, 4000);
  EXPECT_LT(Clock::now() - begin, 10s);
}

}  // namespace
}  // namespace wick

#endif  // WICK_WITH_THREADS
