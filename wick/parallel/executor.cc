// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/executor.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>

#include "wick/base/made_once.h"
#include "wick/parallel/float_control.h"
#include "wick/parallel/pools.h"

namespace wick {
namespace {

constinit thread_local ThreadState tls_state;

/// Marks the calling thread as a rank of a region.
class RegionMark {
 public:
  RegionMark() : state_(thread_state()) { ++state_.regions; }
  ~RegionMark() { --state_.regions; }
  RegionMark(const RegionMark&) = delete;
  RegionMark& operator=(const RegionMark&) = delete;

 private:
  ThreadState& state_;
};

/// Keeps the exception of the lowest rank, so that an error does not depend on timing.
class FirstError {
 public:
  void keep(int rank) {
    const std::lock_guard lock(mutex_);
    if (rank >= rank_) return;
    rank_ = rank;
    error_ = std::current_exception();
  }
  void rethrow() {
    if (error_) std::rethrow_exception(std::move(error_));
  }

 private:
  std::mutex mutex_;
  int rank_ = std::numeric_limits<int>::max();
  std::exception_ptr error_;
};

SerialExecutor& serial_executor() {
  static constinit MadeOnce<SerialExecutor> executor;  // used until the very end
  return executor.get();
}

}  // namespace

ThreadState& thread_state() { return tls_state; }

Executor::~Executor() = default;

void Executor::run(int ranks, FunctionRef<void(int)> f) {
  if (ranks < 2 || thread_state().regions > 0) {
    for (int rank = 0; rank < ranks; ++rank) f(rank);
    return;
  }
  FirstError error;
  const std::uint64_t control = float_control();
  run_ranks(ranks, [&](int rank) {
    const RegionMark mark;
    const FloatControlScope floats(control);
    try {
      f(rank);
    } catch (...) {
      error.keep(rank);
    }
  });
  error.rethrow();
}

void SerialExecutor::run_ranks(int ranks, FunctionRef<void(int)> f) {
  for (int rank = 0; rank < ranks; ++rank) f(rank);
}

namespace {

Context with_executor(Executor& executor) {
  make_room_for(executor);
  Context context = current_context();
  context.executor = &executor;
  return context;
}

}  // namespace

ExecutorScope::ExecutorScope(Executor& executor) : scope_(with_executor(executor)) {}

ExecutorScope::~ExecutorScope() = default;

Executor& current_executor() {
  const ThreadState& state = thread_state();
  if (state.regions > 0) return serial_executor();
  if (Executor* const executor = current_context().executor) return *executor;
  return state.contexts > 0 ? barrier_executor() : default_executor();
}

Executor& short_executor() {
  if (thread_state().regions > 0 || current_context().executor != nullptr)
    return current_executor();
  return barrier_executor();
}

void parallel_for(Index n, Index grain, FunctionRef<void(Index, Index)> f) {
  if (n <= 0) return;
  Executor& executor = current_executor();
  const Index most = n / std::max<Index>(grain, 1);
  const Index pieces = most < 2 ? 1 : std::min<Index>(most, executor.threads());
  if (pieces < 2) {
    f(0, n);
    return;
  }
  const Index size = n / pieces;
  const Index longer = n % pieces;  // so many pieces get one more
  executor.run(static_cast<int>(pieces), [&](int rank) {
    const Index begin = rank * size + std::min<Index>(rank, longer);
    f(begin, begin + size + (rank < longer ? 1 : 0));
  });
}

HotPoolScope::HotPoolScope() {
  ThreadState& state = thread_state();
  hot_ = state.contexts == 0 && current_context().executor == nullptr && state.regions == 0;
  if (hot_) heat_workers(true);
  ++state.contexts;
}

HotPoolScope::~HotPoolScope() {
  --thread_state().contexts;
  if (hot_) heat_workers(false);
}

}  // namespace wick
