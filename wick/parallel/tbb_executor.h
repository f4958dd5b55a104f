// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "wick/parallel/executor.h"

namespace wick {

/// Runs regions in a oneTBB arena of the application, which must outlive it. The work is isolated:
/// a thread that waits for a region takes no other task of the application meanwhile. For
/// applications that use oneTBB; not part of wick.h, which needs the standard library alone.
class TbbExecutor final : public Executor {
 public:
  explicit TbbExecutor(tbb::task_arena& arena) : arena_(arena) {}

  int threads() const override { return arena_.max_concurrency(); }

  void run_ranks(int ranks, FunctionRef<void(int rank)> f) override {
    arena_.execute([&] {
      tbb::this_task_arena::isolate([&] {
        tbb::parallel_for(0, ranks, [&](int rank) { f(rank); }, tbb::simple_partitioner());
      });
    });
  }

 private:
  tbb::task_arena& arena_;
};

}  // namespace wick
