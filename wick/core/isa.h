// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "wick/base/export.h"

// The instruction sets of the kernels, by name: "baseline", "avx2", "avx512", "avx512_dl" (with
// VNNI and its kin), "avx512_bf16" and "amx_bf16" (the same, and products of bf16 by vdpbf16ps or
// by the tile unit), "neon", "wasm". WICK_ISA caps the choice; it is read when the library is
// loaded, before any kernel is looked up. Capitals do not matter, and a set beyond what the CPU has
// caps nothing.

namespace wick {

/// The set that kernels use. A value of WICK_ISA that names no set of this architecture is an
/// `environment` Error.
WICK_API std::string_view isa_chosen();

/// The compiled sets that this CPU has, best first, whatever WICK_ISA says.
WICK_API std::vector<std::string_view> isa_available();

/// All compiled sets, best first.
WICK_API std::vector<std::string_view> isa_compiled();

/// Throws the Error of isa_chosen() if WICK_ISA is bad.
WICK_API void check_isa();

}  // namespace wick
