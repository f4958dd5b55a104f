// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/tbb_pool.h"

#if WICK_WITH_TBB && WICK_WITH_THREADS

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <algorithm>
#include <new>
#include <optional>

#include "wick/parallel/fork.h"
#include "wick/parallel/guest.h"
#include "wick/parallel/tbb_executor.h"

namespace wick {
namespace {

/// oneTBB's workers serve the whole process: they take no signals only while they are in our arena.
class Manners final : public tbb::task_scheduler_observer {
 public:
  Manners(tbb::task_arena& arena, std::atomic<int>& inside)
      : task_scheduler_observer(arena), inside_(inside) {
    observe(true);
  }
  ~Manners() override { observe(false); }

  void on_scheduler_entry(bool is_worker) override {
    if (!is_worker) return;
    no_signals.emplace();
    inside_.fetch_add(1, std::memory_order_relaxed);
  }
  void on_scheduler_exit(bool is_worker) override {
    if (!is_worker) return;
    inside_.fetch_sub(1, std::memory_order_relaxed);
    no_signals.reset();
  }

 private:
  static thread_local std::optional<SignalBlock> no_signals;
  std::atomic<int>& inside_;
};

thread_local std::optional<SignalBlock> Manners::no_signals;

}  // namespace

class TbbPool::Arena {
 public:
  Arena(int threads, std::atomic<int>& inside)
      : threads_(threads),
        arena_(std::min(threads, allowed())),
        manners_(arena_, inside),
        executor_(arena_) {
    // oneTBB starts its threads in the first region: they inherit the mask of this one.
    const SignalBlock no_signals;
    executor_.run_ranks(threads, [](int) {});
  }
  int threads() const { return threads_; }
  void run(int ranks, FunctionRef<void(int)> f) { executor_.run_ranks(ranks, f); }

 private:
  /// The application may have set a limit, and to ask for more makes oneTBB print a warning.
  static int allowed() {
    using tbb::global_control;
    return static_cast<int>(std::min<std::size_t>(
        global_control::active_value(global_control::max_allowed_parallelism), kMaxThreads));
  }

  int threads_;
  tbb::task_arena arena_;
  Manners manners_;
  TbbExecutor executor_;
};

TbbPool::TbbPool() = default;
TbbPool::~TbbPool() = default;

void TbbPool::run(int threads, int ranks, FunctionRef<void(int)> f) {
  const std::shared_lock lock(stopping_);
  Arena* arena = last_.load(std::memory_order_acquire);
  if (arena == nullptr || arena->threads() != threads) arena = &this->arena(threads);
  arena->run(ranks, f);
}

TbbPool::Arena& TbbPool::arena(int threads) {
  const std::lock_guard lock(making_);
  std::unique_ptr<Arena>& arena = arenas_[threads];
  if (!arena) {
    const NoForkScope no_fork;
    arena = std::make_unique<Arena>(threads, inside_);
  }
  last_.store(arena.get(), std::memory_order_release);
  return *arena;
}

void TbbPool::stop() {
  const std::unique_lock lock(stopping_);
  if (arenas_.empty()) return;
  tbb::task_scheduler_handle scheduler{tbb::attach{}};
  last_ = nullptr;
  arenas_.clear();
  tbb::finalize(scheduler, std::nothrow);
}

}  // namespace wick

#elif WICK_WITH_THREADS  // never called

namespace wick {

class TbbPool::Arena {};
TbbPool::TbbPool() = default;
TbbPool::~TbbPool() = default;
void TbbPool::run(int, int, FunctionRef<void(int)>) {}
void TbbPool::stop() {}

}  // namespace wick

#endif  // WICK_WITH_TBB
