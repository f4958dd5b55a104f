// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "wick/kernels/targets.h"

#include "hwy/highway.h"

namespace wick::testing {

/// Restricts kernel look-ups to one instruction set while it lives.
class IsaScope {
 public:
  explicit IsaScope(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
  }
  ~IsaScope() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
  IsaScope(const IsaScope&) = delete;
  IsaScope& operator=(const IsaScope&) = delete;
};

/// Runs body once for every instruction set that was compiled and that this machine has. Look
/// kernels up inside the body.
template <class F>
void for_each_isa(F&& body) {
  // The baseline is always there, whether or not the list of what the CPU has names it.
  std::int64_t left = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
  while (left != 0) {
    const std::int64_t target = left & -left;
    left ^= target;
    const IsaScope scope(target);
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, hwy::TargetName(target));
    body();
  }
}

}  // namespace wick::testing
