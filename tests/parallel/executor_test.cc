// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/parallel/executors.h"

namespace wick {
namespace {

using namespace std::chrono_literals;

TEST(Executor, RunsEachRankOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    const ThreadCountScope scope(threads);
    for (const auto& [name, executor] : all_executors(threads)) {
      for (const int ranks : {0, 1, 2, 3, 7, 8, 33}) {
        std::vector<std::atomic<int>> hits(static_cast<std::size_t>(ranks));
        for (int i = 0; i < 50; ++i)
          executor->run(ranks, [&](int rank) { ++hits[static_cast<std::size_t>(rank)]; });
        for (const auto& hit : hits) EXPECT_EQ(hit, 50) << name << ", " << threads << " threads";
      }
    }
  }
}

TEST(Executor, SeesWritesOfAllRanks) {
  for (const auto& [name, executor] : all_executors(3)) {
    std::vector<int> plain(64);
    for (int i = 0; i < 1000; ++i)
      executor->run(64, [&](int rank) { plain[static_cast<std::size_t>(rank)] += rank; });
    for (std::size_t i = 0; i < plain.size(); ++i)
      EXPECT_EQ(plain[i], 1000 * static_cast<int>(i)) << name;
  }
}

TEST(Executor, RethrowsTheErrorOfTheLowestRank) {
  const ThreadCountScope scope(4);
  for (const auto& [name, executor] : all_executors(4)) {
    for (int i = 0; i < 200; ++i) {
      std::string message;
      try {
        executor->run(8, [](int rank) {
          if (rank >= 5) throw std::runtime_error(std::to_string(rank));
        });
      } catch (const std::runtime_error& e) {
        message = e.what();
      }
      EXPECT_EQ(message, "5") << name;
    }
    std::atomic<int> ran{0};
    executor->run(8, [&](int) { ++ran; });
    EXPECT_EQ(ran, 8) << name;
  }
}

TEST(Executor, NestedRegionsRunInline) {
  const ThreadCountScope scope(2);
  for (const auto& [outer_name, outer] : all_executors(2)) {
    for (const auto& [inner_name, inner] : all_executors(2)) {
      std::atomic<int> hits{0};
      std::atomic<int> strangers{0};
      std::atomic<int> wide{0};
      outer->run(4, [&](int) {
        const auto self = std::this_thread::get_id();
        inner->run(3, [&](int) {
          ++hits;
          if (std::this_thread::get_id() != self) ++strangers;
        });
        if (current_executor().threads() != 1) ++wide;
      });
      EXPECT_EQ(hits, 12) << outer_name << " around " << inner_name;
      EXPECT_EQ(strangers, 0) << outer_name << " around " << inner_name;
      EXPECT_EQ(wide, 0) << outer_name;
    }
  }
}

TEST(Executor, ServesCallersOnFourThreads) {
  const ThreadCountScope scope(3);
  for (const auto& [name, executor] : all_executors(3)) {
    std::vector<std::thread> callers;
    std::atomic<int> errors{0};
    for (int c = 0; c < 4; ++c)
      callers.emplace_back([&, e = executor.get()] {
        for (int i = 0; i < 500; ++i) {
          std::atomic<int> sum{0};
          e->run(5, [&](int rank) { sum += rank; });
          if (sum != 10) ++errors;
          try {
            e->run(2, [&](int rank) {
              if (rank == 1) throw std::runtime_error("one");
            });
            ++errors;
          } catch (const std::runtime_error&) {
          }
        }
      });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(errors, 0) << name;
  }
}

TEST(Executor, UsesItsThreads) {
  const ThreadCountScope scope(2);
  for (const auto& [name, executor] : all_executors(2)) {
    if (executor->threads() == 1) continue;
    bool two = false;
    for (int i = 0; i < 100 && !two; ++i) {
      std::thread::id ids[2];
      executor->run(2, [&](int rank) {
        ids[rank] = std::this_thread::get_id();
        std::this_thread::sleep_for(2ms);
      });
      two = ids[0] != ids[1];
    }
    EXPECT_TRUE(two) << name;
  }
}

TEST(ExecutorScope, NestsAndBelongsToItsThread) {
  Executor& outside = current_executor();
  SerialExecutor a;
  SerialExecutor b;
  {
    const ExecutorScope outer(a);
    EXPECT_EQ(&current_executor(), &a);
    {
      const ExecutorScope inner(b);
      EXPECT_EQ(&current_executor(), &b);
      EXPECT_EQ(&short_executor(), &b);
      with_context([&] { EXPECT_EQ(&current_executor(), &b); });
      std::thread([&] { EXPECT_EQ(&current_executor(), &outside); }).join();
    }
    EXPECT_EQ(&current_executor(), &a);
  }
  EXPECT_EQ(&current_executor(), &outside);
  EXPECT_EQ(&current_executor(), &default_executor());
  EXPECT_EQ(&short_executor(), &barrier_executor());
}

TEST(WithContext, UsesTheBarrierPool) {
  EXPECT_EQ(with_context([] { return &current_executor(); }), &barrier_executor());
  with_context([] {
    with_context([] { EXPECT_EQ(&current_executor(), &barrier_executor()); });
    EXPECT_EQ(&current_executor(), &barrier_executor());
    SerialExecutor serial;
    const ExecutorScope scope(serial);
    EXPECT_EQ(&current_executor(), &serial);
  });
  EXPECT_THROW(with_context([] { throw std::runtime_error("x"); }), std::runtime_error);
  EXPECT_EQ(&current_executor(), &default_executor());
  int local = 0;
  int& reference = with_context([&]() -> int& { return local; });
  EXPECT_EQ(&reference, &local);
}

TEST(ParallelFor, CoversTheRangeInEvenPieces) {
  for (const int threads : {1, 2, 3, 8}) {
    StdThreadPool pool(threads);
    const ExecutorScope scope(pool);
    for (const Index n : {Index{0}, Index{1}, Index{7}, Index{64}, Index{1001}}) {
      for (const Index grain : {Index{-1}, Index{1}, Index{10}, Index{2000}}) {
        std::vector<std::atomic<int>> hits(static_cast<std::size_t>(n));
        std::atomic<Index> least{n};
        std::atomic<Index> most{0};
        std::atomic<int> pieces{0};
        std::mutex mutex;
        parallel_for(n, grain, [&](Index begin, Index end) {
          for (Index i = begin; i < end; ++i) ++hits[static_cast<std::size_t>(i)];
          const std::lock_guard lock(mutex);
          ++pieces;
          least = std::min<Index>(least, end - begin);
          most = std::max<Index>(most, end - begin);
        });
        for (const auto& hit : hits) EXPECT_EQ(hit, 1);
        EXPECT_LE(pieces, threads);
        EXPECT_LE(most - least, n == 0 ? 0 : 1);
        if (pieces > 1) {
          EXPECT_GE(least, grain);
        }
      }
    }
  }
}

TEST(ParallelFor, SplitsTheLargestRange) {
  StdThreadPool pool(3);
  const ExecutorScope scope(pool);
  constexpr Index kMost = std::numeric_limits<Index>::max();
  std::atomic<std::uint64_t> sum{0};
  parallel_for(kMost, 1, [&](Index begin, Index end) {
    EXPECT_LT(begin, end);
    sum += static_cast<std::uint64_t>(end - begin);
  });
  EXPECT_EQ(sum, static_cast<std::uint64_t>(kMost));
}

}  // namespace
}  // namespace wick
