// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/pools.h"

#if WICK_WITH_THREADS

#include <algorithm>
#include <atomic>
#include <memory>

#include "wick/base/env.h"
#include "wick/base/made_once.h"
#include "wick/parallel/barrier_pool.h"
#include "wick/parallel/fork.h"
#include "wick/parallel/tbb_pool.h"
#include "wick/parallel/topology.h"

namespace wick {
namespace {

// Thread counts; 0: not known yet.
constinit std::atomic<int> chosen{0};    // by set_num_threads
constinit std::atomic<int> standard{0};  // WICK_NUM_THREADS or the machine's
constinit std::atomic<int> barrier{0};   // WICK_BARRIER_THREADS, or -1: none
constinit std::atomic<bool> checked{false};

/// Reads the variables once, cheaply: the machine is looked at only when a region needs threads.
void check_environment() {
  if (checked.load(std::memory_order_acquire)) return;
  const auto threads = env_index("WICK_NUM_THREADS", 1, kMaxThreads);
  const auto short_threads = env_index("WICK_BARRIER_THREADS", 1, kMaxThreads);
  if (threads) standard = static_cast<int>(*threads);
  barrier = static_cast<int>(short_threads.value_or(-1));
  checked.store(true, std::memory_order_release);
}

/// The two sets of threads, and the rule that only one of them is awake: `home_`. A region that
/// wants the other set while home is awake runs at home: regions that alternate would else wake one
/// set and put the other to sleep each time. After a few such in a row the other set becomes home.
class Pools {
 public:
  BarrierPool& barrier_pool() { return barrier_; }

  void run_default(int ranks, FunctionRef<void(int)> f) {
    const int threads = num_threads();
    if (!kTbb || threads == 1 || fork_generation() > 0) return run_on_barrier(threads, ranks, f);
    if (home_.load(std::memory_order_relaxed) == kBarrier) {
      if (barrier_.awake() && threads == num_barrier_threads() && stays() &&
          barrier_.try_run(ranks, f))
        return;
      move(kArena);
      barrier_.park();
    }
    strangers_.store(0, std::memory_order_relaxed);
    tbb_.run(threads, ranks, f);
  }

  void run_barrier(int ranks, FunctionRef<void(int)> f) {
    const int threads = num_barrier_threads();
    if (!kTbb || fork_generation() > 0) return run_on_barrier(threads, ranks, f);
    if (home_.load(std::memory_order_relaxed) == kArena) {
      if (thread_state().contexts == 0 && tbb_.awake() && threads == num_threads() && stays())
        return tbb_.run(threads, ranks, f);
      move(kBarrier);  // oneTBB's workers have no switch: they go to sleep by themselves
    }
    strangers_.store(0, std::memory_order_relaxed);
    run_on_barrier(threads, ranks, f);
  }

  void stop() {
    barrier_.stop();
    if (fork_generation() == 0) tbb_.stop();
  }

 private:
  void run_on_barrier(int threads, int ranks, FunctionRef<void(int)> f) {
    if (threads == 1) {
      for (int rank = 0; rank < ranks; ++rank) f(rank);
      return;
    }
    if (barrier_.threads() != threads) barrier_.resize(threads, topology().clusters());
    barrier_.run_ranks(ranks, f);
  }

  enum Home { kArena, kBarrier };
  void move(Home home) { home_.store(home, std::memory_order_relaxed); }

  /// Whether a region that wants the other set runs at home.
  bool stays() { return strangers_.fetch_add(1, std::memory_order_relaxed) < kPatience; }

  static constexpr bool kTbb = WICK_WITH_TBB;
  static constexpr int kPatience = 4;
  BarrierPool barrier_{1};
  TbbPool tbb_;
  std::atomic<Home> home_{kArena};
  std::atomic<int> strangers_{0};
};

constinit std::atomic<Pools*> pools_made{nullptr};

/// Made without a lock, which a child of fork() might inherit locked; leaked, since ops may run in
/// destructors of static objects.
Pools& pools() {
  Pools* made = pools_made.load(std::memory_order_acquire);
  if (made != nullptr) return *made;
  auto fresh = std::make_unique<Pools>();
  if (pools_made.compare_exchange_strong(made, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *made;
}

class DefaultExecutor final : public Executor {
 public:
  int threads() const override { return num_threads(); }

 private:
  void run_ranks(int ranks, FunctionRef<void(int)> f) override { pools().run_default(ranks, f); }
};

class BarrierExecutor final : public Executor {
 public:
  int threads() const override { return num_barrier_threads(); }

 private:
  void run_ranks(int ranks, FunctionRef<void(int)> f) override { pools().run_barrier(ranks, f); }
};

}  // namespace

Executor& default_executor() {
  check_environment();
  static constinit MadeOnce<DefaultExecutor> executor;
  return executor.get();
}

Executor& barrier_executor() {
  check_environment();
  static constinit MadeOnce<BarrierExecutor> executor;
  return executor.get();
}

int num_threads() {
  if (const int n = chosen.load(std::memory_order_relaxed)) return n;
  check_environment();
  if (const int n = standard.load(std::memory_order_relaxed)) return n;
  const int n = std::min(topology().default_threads(), kMaxThreads);
  standard = n;
  return n;
}

void set_num_threads(int threads) {
  if (threads < 1 || threads > kMaxThreads)
    throw Error(ErrorKind::argument, "set_num_threads",
                str("wanted 1 to ", kMaxThreads, " threads, got ", threads));
  chosen = threads;
}

int num_barrier_threads() {
  check_environment();
  const int n = barrier.load(std::memory_order_relaxed);
  return n > 0 ? n : num_threads();
}

void park_workers() {
  if (Pools* made = pools_made.load(std::memory_order_acquire)) made->barrier_pool().park();
}

void make_room_for(const Executor& executor) {
  if (dynamic_cast<const DefaultExecutor*>(&executor) == nullptr &&
      dynamic_cast<const BarrierExecutor*>(&executor) == nullptr && executor.threads() > 1)
    park_workers();
}

void heat_workers(bool on) {
  if (on || pools_made.load(std::memory_order_acquire) != nullptr) pools().barrier_pool().heat(on);
}

void shutdown() {
  if (thread_state().regions > 0)
    throw Error(ErrorKind::argument, "shutdown", "called inside a parallel region");
  if (Pools* made = pools_made.load(std::memory_order_acquire)) made->stop();
}

}  // namespace wick

#endif  // WICK_WITH_THREADS
