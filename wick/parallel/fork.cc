// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/fork.h"

#if WICK_WITH_THREADS

#include <atomic>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace wick {
namespace {

constinit std::atomic<unsigned> generation{0};
constinit std::atomic<bool> watching{false};

void watch() {
#if defined(__unix__) || defined(__APPLE__)
  pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
#endif
}

}  // namespace

unsigned fork_generation() {
  if (!watching.load(std::memory_order_relaxed) && !watching.exchange(true)) watch();
  return generation.load(std::memory_order_relaxed);
}

}  // namespace wick

#endif  // WICK_WITH_THREADS
