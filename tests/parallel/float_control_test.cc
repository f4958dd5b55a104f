// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/float_control.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <thread>

#include "tests/parallel/executors.h"
#include "wick/parallel/flush_subnormals.h"

namespace wick {
namespace {

/// Half of the smallest normal number, computed at run time: 0 where subnormals are flushed.
float subnormal() {
  volatile float smallest = 1.17549435e-38F;
  return smallest * 0.5F;
}

#if defined(__SSE2__) || defined(__aarch64__)

TEST(FlushSubnormals, HoldsOnEveryThreadAndEnds) {
  const ThreadCountScope scope(3);
  for (const auto& [name, executor] : all_executors(3)) {
    std::atomic<int> kept{0};
    const auto count = [&](int) {
      if (subnormal() != 0) ++kept;
      std::this_thread::sleep_for(std::chrono::microseconds(200));  // so that workers take part
    };
    for (int i = 0; i < 20; ++i) {
      {
        const FlushSubnormals flush;
        EXPECT_EQ(subnormal(), 0);
        executor->run(4, count);
        EXPECT_EQ(kept, 0) << name;
      }
      EXPECT_NE(subnormal(), 0);
      executor->run(4, count);
      EXPECT_EQ(kept, 4) << name;
      kept = 0;
    }
  }
}

TEST(FloatControl, RoundingReachesWorkers) {
  const ThreadCountScope scope(2);
  for (const auto& [name, executor] : all_executors(2)) {
    for (const int mode : {FE_DOWNWARD, FE_UPWARD, FE_TONEAREST}) {
      std::fesetround(mode);
      const std::uint64_t control = float_control();
      std::atomic<int> other{0};
      executor->run(4, [&](int) {
        if (float_control() != control) ++other;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      });
      EXPECT_EQ(other, 0) << name;
    }
  }
}

TEST(FloatControl, RanksKeepTheCallersAndHostThreadsTheirs) {
  const ThreadCountScope scope(2);
  const std::uint64_t before = float_control();
  {
    const FlushSubnormals flush;
    const FlushSubnormals again;
    barrier_executor().run(2, [](int) {});
  }
  EXPECT_EQ(float_control(), before);
}

#endif

}  // namespace
}  // namespace wick
