// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "wick/base/function_ref.h"

namespace wick::bench {

/// The CPUs this process may use, one of each core that computes first, then the others. Empty
/// where the system does not tell.
std::vector<int> usable_cpu_list();

/// Seconds for which the threads of this process could run but had no CPU, since they started. 0
/// where the system does not tell.
double waited_seconds();

/// While it lives, the calling thread stays on the first CPU of the list and all other threads of
/// the process (pools of wick and of its peers) on the next threads - 1; one thread: the others are
/// left alone. What cannot be pinned runs unpinned.
class PinScope {
 public:
  PinScope(const std::vector<int>& cpus, int threads);
  ~PinScope();
  PinScope(const PinScope&) = delete;
  PinScope& operator=(const PinScope&) = delete;

  /// Also pins threads that started since.
  void refresh();

 private:
  const std::vector<int>& cpus_;
  int threads_;
};

/// While it lives, the calling thread may run on these CPUs only, and what it starts inherits that;
/// none: nothing changes.
class RunOn {
 public:
  explicit RunOn(const std::vector<int>& cpus);
  ~RunOn();
  RunOn(const RunOn&) = delete;
  RunOn& operator=(const RunOn&) = delete;

 private:
  std::vector<int> before_;
};

/// Threads of the benchmark's own for the limit loops: each on its own CPU, asleep between runs.
class Team {
 public:
  explicit Team(const std::vector<int>& cpus);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Calls f(rank) for each rank in [0, threads), all at once, rank 0 on the calling thread, and
  /// returns the seconds from when the first starts until the last is done.
  double run(int threads, FunctionRef<void(int rank)> f);

 private:
  void work(int rank);
  void call(int rank, int threads, const FunctionRef<void(int)>& f);

  const std::vector<int>& cpus_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const FunctionRef<void(int)>* job_ = nullptr;
  int wanted_ = 0;   ///< threads of the present run
  int running_ = 0;  ///< workers that have not finished it
  long number_ = 0;  ///< of the run
  bool stop_ = false;
  std::atomic<int> ready_{0};
  struct Times {
    double start = 0, end = 0;
  };
  std::vector<Times> times_;  ///< of each rank: a thread that got no CPU must not hide its share
};

}  // namespace wick::bench
