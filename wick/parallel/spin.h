// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace wick {

/// Tells the core that this thread spins.
inline void cpu_pause() {
#if defined(__SSE2__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // `yield` takes no time on most cores
#endif
}

/// Calls done() until it is true or `limit` has passed; returns what it said last. The limit is
/// time, not a number of rounds: one pause takes 5 to 140 cycles, depending on the CPU.
template <class Done>
bool spin_until(std::chrono::nanoseconds limit, Done done) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRounds = 16;  // between two looks at the clock
  Clock::time_point end{};
  for (;;) {
    for (int i = 0; i < kRounds; ++i) {
      if (done()) return true;
      cpu_pause();
    }
    const auto now = Clock::now();
    if (end == Clock::time_point{}) {
      end = now + limit;
    } else if (now >= end) {
      return done();
    }
  }
}

}  // namespace wick
