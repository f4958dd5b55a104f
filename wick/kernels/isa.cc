// SPDX-License-Identifier: Apache-2.0
#include "wick/core/isa.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "wick/base/env.h"
#include "wick/base/error.h"
#include "wick/base/str.h"
#include "wick/kernels/bf16_unit.h"
#include "wick/kernels/targets.h"

#include "hwy/highway.h"

namespace wick {
namespace {

using kernels::Bf16Unit;

struct Set {
  std::string_view name;
  std::int64_t target;  ///< Highway's bit; 0 is the baseline, which is always there
  /// Not widen: a unit for bf16 beside the sets of Highway; target is what must be compiled for it.
  Bf16Unit unit = Bf16Unit::widen;
};

// Best first.
#if HWY_ARCH_X86
constexpr std::array kSets{Set{"amx_bf16", HWY_AVX3, Bf16Unit::amx},
                           Set{"avx512_bf16", HWY_AVX3, Bf16Unit::dot},
                           Set{"avx512_dl", HWY_AVX3_DL},
                           Set{"avx512", HWY_AVX3},
                           Set{"avx2", HWY_AVX2},
                           Set{"baseline", 0}};
#elif HWY_ARCH_ARM
constexpr std::array kSets{Set{"neon", HWY_NEON}, Set{"baseline", 0}};
#elif HWY_ARCH_WASM
constexpr std::array kSets{Set{"wasm", HWY_WASM}, Set{"baseline", 0}};
#else
constexpr std::array kSets{Set{"baseline", 0}};
#endif

constexpr std::int64_t kTargets = HWY_TARGETS;

bool compiled(const Set& set) {
  // Where the compiler's own baseline has a name (NEON on 64-bit Arm), there is nothing below it.
  return set.target == 0 ? (kTargets & (HWY_EMU128 | HWY_SCALAR)) != 0
                         : (kTargets & set.target) != 0;
}

/// What the CPU had before the cap; 0 where there is no cap.
std::int64_t uncapped = 0;

const Set* find(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto at =
      std::find_if(kSets.begin(), kSets.end(), [&](const Set& set) { return set.name == name; });
  return at == kSets.end() ? nullptr : &*at;
}

/// Runs when the library is loaded, before the first kernel is looked up: Highway then never sees
/// the sets above the cap. A bad value is left for check_isa(), which can throw.
[[gnu::constructor(101)]] void cap_isa() {
  const char* value = std::getenv("WICK_ISA");
  if (value == nullptr || *value == '\0') return;
  const Set* cap = find(value);
  if (cap == nullptr) return;
  kernels::cap_bf16_unit(cap->unit, true);
  if (cap->unit != Bf16Unit::widen) return;
  std::int64_t above = 0;
  for (const Set& set : kSets) {
    if (&set == cap) break;
    if (set.unit == Bf16Unit::widen) above |= set.target;
  }
  uncapped = hwy::SupportedTargets();
  // Not DisableTargets: with it every later call of SupportedTargets(), ours or the host's, would
  // choose among all sets again (Highway 1.0.3).
  hwy::SetSupportedTargetsForTest(uncapped & ~above);
  hwy::GetChosenTarget().DeInit();
}

std::vector<std::string_view> names(std::int64_t targets) {
  std::vector<std::string_view> result;
  for (const Set& set : kSets)
    if (set.unit == Bf16Unit::widen && compiled(set) &&
        (set.target == 0 || (targets & set.target) != 0))
      result.push_back(set.name);
  return result;
}

}  // namespace

void check_isa() {
  const auto value = env_text("WICK_ISA");
  if (!value || find(*value) != nullptr) return;
  std::string wanted;
  for (const Set& set : kSets) wanted += str(wanted.empty() ? "" : ", ", set.name);
  throw Error(ErrorKind::environment, "WICK_ISA",
              str("wanted one of ", wanted, ", got \"", *value, "\""));
}

std::string_view isa_chosen() {
  check_isa();
  const Bf16Unit unit = kernels::bf16_unit();
  if (unit != Bf16Unit::widen)
    return std::find_if(kSets.begin(), kSets.end(), [&](const Set& s) { return s.unit == unit; })
        ->name;
  // Highway's static target stands in where nothing else is left.
  return names(hwy::SupportedTargets() | HWY_STATIC_TARGET).front();
}

std::vector<std::string_view> isa_available() {
  auto result = names((uncapped != 0 ? uncapped : hwy::SupportedTargets()) | HWY_STATIC_TARGET);
  auto at = result.begin();
  for (const Set& set : kSets)
    if (set.unit != Bf16Unit::widen && kernels::bf16_unit_available(set.unit))
      at = result.insert(at, set.name) + 1;
  return result;
}

std::vector<std::string_view> isa_compiled() {
  std::vector<std::string_view> result;
  for (const Set& set : kSets)
    if (compiled(set)) result.push_back(set.name);
  return result;
}

}  // namespace wick
