// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "wick/kernels/bf16_unit.h"
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

/// Runs body once for every instruction set that was compiled and that this machine has, the units
/// for bf16 among them. Look kernels up inside the body.
template <class F>
void for_each_isa(F&& body) {
  // The baseline is always there, whether or not the list of what the CPU has names it.
  using kernels::Bf16Unit;
  const std::int64_t all = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
  for (std::int64_t left = all; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    const IsaScope scope(target);
    const kernels::Bf16UnitScope unit(Bf16Unit::widen);
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, hwy::TargetName(target));
    body();
  }
  for (const Bf16Unit unit : {Bf16Unit::dot, Bf16Unit::amx}) {
    if ((all & HWY_AVX3) == 0 || !kernels::bf16_unit_available(unit)) continue;
    const kernels::Bf16UnitScope scope(unit);
    const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                       unit == Bf16Unit::dot ? "vdpbf16ps" : "tdpbf16ps");
    body();
  }
}

}  // namespace wick::testing
