// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "wick/base/checked.h"
#include "wick/base/export.h"
#include "wick/base/function_ref.h"
#include "wick/core/context.h"

namespace wick {

/// Threads that ops run on. An application that has threads of its own derives from this class and
/// puts the object in force with ExecutorScope.
///
/// A region is one call of run(). Its ranks may run at once or one after the other, in any order,
/// and no rank waits for another. Executors of wick may be used from several threads.
class WICK_API Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor();

  /// How many ranks may run at once, at least 1.
  virtual int threads() const = 0;

  /// Calls f(rank) once for each rank in [0, ranks) and returns when all are done.
  ///
  /// Every rank sees the caller's floating-point control (rounding, subnormals). If ranks throw,
  /// all ranks are still run and the exception of the lowest rank is rethrown. Fewer than two
  /// ranks, and every region that starts inside another one, run on the calling thread.
  void run(int ranks, FunctionRef<void(int rank)> f);

 private:
  /// The part that differs: calls f(rank) for each rank in [0, ranks), ranks >= 2, on any threads,
  /// and returns when all calls have returned. f does not throw.
  virtual void run_ranks(int ranks, FunctionRef<void(int rank)> f) = 0;
};

/// Runs every rank on the calling thread.
class WICK_API SerialExecutor final : public Executor {
 public:
  int threads() const override { return 1; }

 private:
  void run_ranks(int ranks, FunctionRef<void(int rank)> f) override;
};

/// While it lives, ops called by this thread run on `executor`: a ContextScope that changes nothing
/// else. Scopes nest; the executor must outlive the scope.
class WICK_API ExecutorScope {
 public:
  explicit ExecutorScope(Executor& executor);
  ~ExecutorScope();
  ExecutorScope(const ExecutorScope&) = delete;
  ExecutorScope& operator=(const ExecutorScope&) = delete;

 private:
  ContextScope scope_;
};

/// The executor ops of this thread run on: a serial one inside a region, else the one of the
/// innermost ExecutorScope, else the barrier pool inside with_context, else the default executor.
/// A bad value of WICK_NUM_THREADS or WICK_BARRIER_THREADS is an `environment` Error.
WICK_API Executor& current_executor();

/// The executor for very many very short regions: as current_executor(), but the barrier pool where
/// that would give the default executor.
WICK_API Executor& short_executor();

/// Splits [0, n) into pieces of at least `grain` (if n allows), evenly, at most one per thread of
/// current_executor(), and calls f(begin, end) for each. One piece runs on the calling thread.
WICK_API void parallel_for(Index n, Index grain, FunctionRef<void(Index begin, Index end)> f);

/// Threads of the default executor: the value of set_num_threads, else WICK_NUM_THREADS, else the
/// physical cores (performance cores where there are two kinds) that the affinity mask and the CPU
/// quota of this process allow.
WICK_API int num_threads();

/// Sets num_threads() for the process, at any time: later regions use it. Outside [1, kMaxThreads]
/// it is an `argument` Error.
WICK_API void set_num_threads(int threads);

/// Threads of the barrier pool: WICK_BARRIER_THREADS, else num_threads().
WICK_API int num_barrier_threads();

/// The largest thread count that is accepted.
inline constexpr int kMaxThreads = 1024;

/// Makes the idle workers of wick sleep at once instead of spinning for a moment. For an
/// application that is about to start threads of another library.
WICK_API void park_workers();

/// Stops and joins the threads of wick; waits for regions of other threads to end. The next region
/// that needs threads starts them again. Inside a region it is an `argument` Error. oneTBB threads
/// that other parts of the process use stay.
WICK_API void shutdown();

/// While it lives, ops called by this thread run on the barrier pool, whose workers wait hot: each
/// op costs one signal and one barrier. An ExecutorScope, around it or inside, has precedence.
class WICK_API HotPoolScope {
 public:
  HotPoolScope();
  ~HotPoolScope();
  HotPoolScope(const HotPoolScope&) = delete;
  HotPoolScope& operator=(const HotPoolScope&) = delete;

 private:
  bool hot_;
};

/// Runs f in a HotPoolScope and returns its result. For a stretch of many ops, such as a model's
/// forward pass. Calls nest; exceptions pass through.
template <class F>
decltype(auto) with_context(F&& f) {
  const HotPoolScope scope;
  return std::forward<F>(f)();
}

}  // namespace wick
