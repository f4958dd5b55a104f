// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "wick/base/function_ref.h"

namespace wick {

/// The oneTBB arenas of the process, one per thread count that was asked for: a count may change
/// while other threads are in a region.
class TbbPool {
 public:
  TbbPool();
  ~TbbPool();

  /// Calls f(rank) for each rank in [0, ranks) in an arena of `threads`, isolated.
  void run(int threads, int ranks, FunctionRef<void(int rank)> f);
  /// Whether oneTBB's workers are in one of the arenas, working or spinning.
  bool awake() const { return inside_.load(std::memory_order_relaxed) > 0; }
  /// Joins the threads, unless other parts of the process use oneTBB.
  void stop();

 private:
  class Arena;
  Arena& arena(int threads);

  std::atomic<int> inside_{0};
  std::atomic<Arena*> last_{nullptr};
  std::mutex making_;
  std::map<int, std::unique_ptr<Arena>> arenas_;
  std::shared_mutex stopping_;  // shared by regions
};

}  // namespace wick
