// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace wick::kernels {

/// What multiplies bf16.
enum class Bf16Unit {
  widen,  ///< f32 multiply-adds on widened elements, on every CPU
  dot,    ///< vdpbf16ps of AVX512_BF16
  amx,    ///< tdpbf16ps of AMX-BF16, the tile unit
};

/// The unit in force. It depends on the CPU, the system and WICK_ISA alone: the tile unit where
/// there is one and the system lets this process use it; else vdpbf16ps, unless it is known to be
/// slower than widening (Intel's cores with AVX512_FP16: a quarter of the rate of multiply-adds)
/// and WICK_ISA does not ask for it by name; else widening. The first call asks the system for the
/// tile unit (Linux: arch_prctl, for the whole process; signal frames grow by 8 KiB).
Bf16Unit bf16_unit();

/// Whether this machine has it, whatever is in force.
bool bf16_unit_available(Bf16Unit unit);

/// WICK_ISA's part in the choice: the best unit that is allowed, and whether it was named. Called
/// when the library is loaded.
void cap_bf16_unit(Bf16Unit most, bool named);

/// Puts an available unit in force while it lives; for tests.
class Bf16UnitScope {
 public:
  explicit Bf16UnitScope(Bf16Unit unit);
  ~Bf16UnitScope();
  Bf16UnitScope(const Bf16UnitScope&) = delete;
  Bf16UnitScope& operator=(const Bf16UnitScope&) = delete;

 private:
  int before_;
};

}  // namespace wick::kernels
