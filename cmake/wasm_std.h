// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the C++20 library of emscripten 3.1.6 lacks; included before every file of the wasm build.
#include <version>

#if !defined(__cpp_lib_bit_cast)
namespace std {
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
}  // namespace std
#endif
