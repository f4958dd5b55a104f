// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/parallel/executor.h"

// What executor.cc needs from the threads of this build: pools.cc, or no_threads.cc without them.

namespace wick {

/// What surrounds a call on this thread; the executor in force is in its Context.
struct ThreadState {
  int contexts = 0;  ///< HotPoolScopes around
  int regions = 0;   ///< regions this thread is a rank of
};

ThreadState& thread_state();

/// The oneTBB executor of the process (the barrier pool where there is no oneTBB).
Executor& default_executor();
/// The barrier pool of the process.
Executor& barrier_executor();

/// An ExecutorScope begins: only one set of threads may spin, so ours sleep if another comes.
void make_room_for(const Executor& executor);

/// A HotPoolScope begins (true) or ends on a thread that had none.
void heat_workers(bool on);

}  // namespace wick
