// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included before every file of the wasm build. What the C++20 library of emscripten 3.1.6 lacks:
#include <version>

#if !defined(__cpp_lib_bit_cast)
namespace std {
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
}  // namespace std
#endif

// Random123 refuses processors that it does not know; its portable code, which it takes for RISC-V,
// is right for wasm32.
#define __riscv 1
#include <Random123/features/compilerfeatures.h>
#undef __riscv
