// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "wick/parallel/executor.h"

namespace wick {

/// What an application with threads of its own writes: a pool with one queue, in plain C++.
class StdThreadPool final : public Executor {
 public:
  explicit StdThreadPool(int threads) {
    for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~StdThreadPool() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    change_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  int threads() const override { return static_cast<int>(threads_.size()) + 1; }

 private:
  void run_ranks(int ranks, FunctionRef<void(int)> f) override {
    const std::lock_guard one_region(caller_);
    std::unique_lock lock(mutex_);
    f_ = &f;
    next_ = 0;
    end_ = left_ = ranks;
    change_.notify_all();
    while (left_ > 0)
      if (!run_one(lock)) change_.wait(lock);
  }
  bool run_one(std::unique_lock<std::mutex>& lock) {
    if (next_ == end_) return false;
    const int rank = next_++;
    lock.unlock();
    (*f_)(rank);
    lock.lock();
    if (--left_ == 0) change_.notify_all();
    return true;
  }
  void work() {
    for (std::unique_lock lock(mutex_); !stop_;)
      if (!run_one(lock)) change_.wait(lock);
  }

  std::mutex caller_, mutex_;
  std::condition_variable change_;
  const FunctionRef<void(int)>* f_ = nullptr;
  int next_ = 0, end_ = 0, left_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace wick
