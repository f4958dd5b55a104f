// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <vector>

#include "wick/parallel/executor.h"

namespace wick {

/// Threads for very many very short regions. The caller signals one leader per cluster of cores,
/// leaders pass the signal on, and completion returns the same way. Between regions workers spin
/// for a bounded time, then sleep. The caller is the last worker; ranks beyond the number of
/// threads are dealt out in stripes.
///
/// A worker that has not begun when the caller is through (it is still waking up, or the machine is
/// busy) loses its ranks to the caller: no region waits for a sleeping thread.
///
/// Callers on several threads take turns. Threads start with the first region. In a child of fork()
/// the pool starts afresh.
class WICK_API BarrierPool final : public Executor {
 public:
  /// A pool of `threads` >= 1, the caller included. `clusters` are the numbers of cores that share
  /// a last-level cache, the caller's first; none: one cluster.
  explicit BarrierPool(int threads, std::vector<int> clusters = {});
  /// Joins the workers.
  ~BarrierPool() override;

  int threads() const override;

  /// Changes what the constructor was given; workers are replaced at the next region.
  void resize(int threads, std::vector<int> clusters);

  /// As run_ranks, but false, and nothing done, while another thread has a region.
  bool try_run(int ranks, FunctionRef<void(int rank)> f);
  void run_ranks(int ranks, FunctionRef<void(int rank)> f) override;

  /// Whether workers spin.
  bool awake() const;
  /// Spinning workers go to sleep at once.
  void park();
  /// true: wakes the workers and lets them spin longer until as many calls with false have come.
  void heat(bool on);
  /// Joins the workers; the next region starts new ones.
  void stop();

 private:
  class Team;
  Team& team() const;  // of this process
  mutable std::atomic<Team*> team_;
};

}  // namespace wick
