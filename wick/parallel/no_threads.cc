// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/pools.h"

// The whole of a build without threads: stands for pools.cc and what is below it.
#if !WICK_WITH_THREADS

#include "wick/base/env.h"

namespace wick {
namespace {

/// A bad value is an Error here too; once the variables are good they are not read again.
void check_environment() {
  [[maybe_unused]] static const bool good = [] {
    env_index("WICK_NUM_THREADS", 1, kMaxThreads);
    env_index("WICK_BARRIER_THREADS", 1, kMaxThreads);
    return true;
  }();
}

}  // namespace

Executor& default_executor() {
  static SerialExecutor& executor = *new SerialExecutor;
  check_environment();
  return executor;
}

Executor& barrier_executor() { return default_executor(); }

int num_threads() {
  check_environment();
  return 1;
}

int num_barrier_threads() { return num_threads(); }

void set_num_threads(int threads) {
  if (threads < 1 || threads > kMaxThreads)
    throw Error(ErrorKind::argument, "set_num_threads",
                str("wanted 1 to ", kMaxThreads, " threads, got ", threads));
}

void make_room_for(const Executor&) {}
void heat_workers(bool) {}
void park_workers() {}

void shutdown() {
  if (thread_state().regions > 0)
    throw Error(ErrorKind::argument, "shutdown", "called inside a parallel region");
}

}  // namespace wick

#endif  // !WICK_WITH_THREADS
