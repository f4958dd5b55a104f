// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/bf16_unit.h"

#include <atomic>
#include <cstdint>

#include "wick/base/made_once.h"
#include "wick/kernels/targets.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/bf16_unit.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

/// Whether the set in force is one of those that the units come with.
bool HasAvx512() { return HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL; }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(HasAvx512);

namespace {

/// What the machine has, and WICK_ISA's cap. Plain numbers, set before anything runs.
struct Machine {
  bool dot = false, amx = false, slow_dot = false;
};

#if defined(__x86_64__)
constexpr std::int64_t kCompiled = HWY_TARGETS;

std::uint64_t enabled_state() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

bool tiles_permitted() {
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

Machine look() {
  Machine machine;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if ((kCompiled & HWY_AVX3) == 0 || __builtin_cpu_supports("avx512f") == 0) return machine;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return machine;
  const unsigned subleaves = a, features = d;
  if (subleaves < 1 || __get_cpuid_count(7, 1, &a, &b, &c, &d) == 0) return machine;
  machine.dot = ((a >> 5) & 1) != 0;
  __cpuid(0, a, b, c, d);
  const bool intel = b == signature_INTEL_ebx;
  machine.slow_dot = intel && ((features >> 23) & 1) != 0;
  constexpr unsigned kAmx = (1U << 22) | (1U << 24);  // AMX-BF16, AMX-TILE
  constexpr std::uint64_t kTileState = std::uint64_t{3} << 17;
  machine.amx = (features & kAmx) == kAmx && (enabled_state() & kTileState) == kTileState &&
                tiles_permitted();
  return machine;
}
#else
Machine look() { return {}; }
#endif

const Machine& machine() {
  static constinit MadeOnce<const Machine> found;
  return found.get([] { return std::make_unique<const Machine>(look()); });
}

Bf16Unit most = Bf16Unit::amx;
bool named = false;
std::atomic<int> forced = -1;

}  // namespace

bool bf16_unit_available(Bf16Unit unit) {
  switch (unit) {
    case Bf16Unit::widen: return true;
    case Bf16Unit::dot: return machine().dot;
    case Bf16Unit::amx: return machine().amx;
  }
  return false;
}

Bf16Unit bf16_unit() {
  if (const int unit = forced.load(std::memory_order_relaxed); unit >= 0)
    return static_cast<Bf16Unit>(unit);
  if (most == Bf16Unit::widen || !HWY_DYNAMIC_DISPATCH(HasAvx512)()) return Bf16Unit::widen;
  if (most == Bf16Unit::amx && machine().amx) return Bf16Unit::amx;
  const bool worth = !machine().slow_dot || (named && most == Bf16Unit::dot);
  return machine().dot && worth ? Bf16Unit::dot : Bf16Unit::widen;
}

void cap_bf16_unit(Bf16Unit unit, bool by_name) {
  most = unit;
  named = by_name;
}

Bf16UnitScope::Bf16UnitScope(Bf16Unit unit) : before_(forced.exchange(static_cast<int>(unit))) {}
Bf16UnitScope::~Bf16UnitScope() { forced = before_; }

}  // namespace wick::kernels
#endif
