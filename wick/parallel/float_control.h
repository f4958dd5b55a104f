// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace wick {

/// How the calling thread rounds and treats subnormals: the control bits of MXCSR (x86) or FPCR
/// (AArch64), without status flags. Elsewhere there is nothing to read and it is 0.
inline std::uint64_t float_control() {
#if defined(__SSE2__)
  return _mm_getcsr() & 0xFFC0U;
#elif defined(__aarch64__)
  std::uint64_t bits = 0;
  asm volatile("mrs %0, fpcr" : "=r"(bits));
  return bits;
#else
  return 0;
#endif
}

/// Sets what float_control() reads.
inline void set_float_control(std::uint64_t bits) {
#if defined(__SSE2__)
  _mm_setcsr((_mm_getcsr() & ~0xFFC0U) | static_cast<unsigned>(bits));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(bits) : "memory");
#else
  (void)bits;
#endif
}

/// Puts a floating-point control in force for a scope and restores the one before. Registers are
/// written only where they differ: writing them is slow.
class FloatControlScope {
 public:
  explicit FloatControlScope(std::uint64_t bits)
      : before_(float_control()), changed_(bits != before_) {
    if (changed_) set_float_control(bits);
  }
  ~FloatControlScope() {
    if (changed_) set_float_control(before_);
  }
  FloatControlScope(const FloatControlScope&) = delete;
  FloatControlScope& operator=(const FloatControlScope&) = delete;

 private:
  std::uint64_t before_;
  bool changed_;
};

}  // namespace wick
