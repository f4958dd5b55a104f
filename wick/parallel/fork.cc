// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/fork.h"

#if WICK_WITH_THREADS

#include <atomic>
#include <mutex>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace wick {
namespace {

constinit std::atomic<unsigned> generation{0};
constinit std::atomic<bool> watching{false};
constinit std::mutex first_uses;

void watch() {
#if defined(__unix__) || defined(__APPLE__)
  pthread_atfork([] { first_uses.lock(); }, [] { first_uses.unlock(); },
                 [] {
                   generation.fetch_add(1, std::memory_order_relaxed);
                   first_uses.unlock();
                 });
#endif
}

/// As the program starts: a first use that began to watch while another thread is inside fork()
/// would be too late.
[[maybe_unused]] const bool kWatchedFromTheStart = [] {
  fork_generation();
  return true;
}();

}  // namespace

unsigned fork_generation() {
  if (!watching.load(std::memory_order_relaxed) && !watching.exchange(true)) watch();
  return generation.load(std::memory_order_relaxed);
}

NoForkScope::NoForkScope() {
  fork_generation();
  first_uses.lock();
}
NoForkScope::~NoForkScope() { first_uses.unlock(); }

}  // namespace wick

#else  // no thread could hold a lock

namespace wick {
NoForkScope::NoForkScope() = default;
NoForkScope::~NoForkScope() = default;
}  // namespace wick

#endif  // WICK_WITH_THREADS
