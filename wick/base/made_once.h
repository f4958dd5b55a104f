// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

namespace wick {

/// An object of the whole process, made at its first use and never destroyed. Unlike a static in a
/// function it holds no lock while it is made, which a child of fork() might inherit taken: threads
/// that come at the same time make one each, and all but one are thrown away. Declare it constinit.
template <class T>
class MadeOnce {
 public:
  /// `make` returns a std::unique_ptr<T>.
  template <class Make>
  T& get(Make make) {
    T* made = made_.load(std::memory_order_acquire);
    if (made == nullptr) {
      std::unique_ptr<T> fresh = make();
      if (made_.compare_exchange_strong(made, fresh.get(), std::memory_order_acq_rel,
                                        std::memory_order_acquire))
        made = fresh.release();
    }
    return *made;
  }
  T& get() {
    return get([] { return std::make_unique<T>(); });
  }

 private:
  std::atomic<T*> made_{nullptr};
};

}  // namespace wick
