// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/parallel/std_thread_pool.h"
#include "wick/parallel/barrier_pool.h"
#include "wick/parallel/pools.h"

#if WICK_WITH_TBB && WICK_WITH_THREADS
#include <oneapi/tbb/global_control.h>

#include <algorithm>

#include "wick/parallel/tbb_executor.h"
#endif

namespace wick {

struct NamedExecutor {
  std::string name;
  std::shared_ptr<Executor> executor;
};

/// One of every kind of executor of this build, with `threads` threads where that can be chosen.
inline std::vector<NamedExecutor> all_executors([[maybe_unused]] int threads) {
  const auto borrow = [](Executor& e) { return std::shared_ptr<Executor>(&e, [](Executor*) {}); };
  std::vector<NamedExecutor> all;
  all.push_back({"serial", std::make_shared<SerialExecutor>()});
  all.push_back({"default", borrow(default_executor())});
  all.push_back({"barrier", borrow(barrier_executor())});
#if WICK_WITH_THREADS
  all.push_back({"std::thread", std::make_shared<StdThreadPool>(threads)});
  all.push_back({"own barrier pool", std::make_shared<BarrierPool>(threads)});
#if WICK_WITH_TBB
  struct Arena {
    // oneTBB warns on stderr about arenas beyond its limit.
    explicit Arena(int n) : arena(std::min(n, limit())), executor(arena) {}
    static int limit() {
      using tbb::global_control;
      return static_cast<int>(
          global_control::active_value(global_control::max_allowed_parallelism));
    }
    tbb::task_arena arena;
    TbbExecutor executor;
  };
  const auto arena = std::make_shared<Arena>(threads);
  all.push_back({"tbb arena", std::shared_ptr<Executor>(arena, &arena->executor)});
#endif
#endif
  return all;
}

/// Sets the thread count of the process and restores it.
class ThreadCountScope {
 public:
  explicit ThreadCountScope(int threads) : before_(num_threads()) { set_num_threads(threads); }
  ~ThreadCountScope() { set_num_threads(before_); }
  ThreadCountScope(const ThreadCountScope&) = delete;
  ThreadCountScope& operator=(const ThreadCountScope&) = delete;

 private:
  int before_;
};

}  // namespace wick
