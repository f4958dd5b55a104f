// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/fill.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace wick::kernels {
namespace {

template <class U>
void fill_elements(void* y, std::uint64_t bits, const Loop2<1>& loop) {
  const U value = static_cast<U>(bits);
  auto* base = static_cast<unsigned char*>(y);
  constexpr Index kBytes = sizeof(U);
  for (Index r = 0; r < loop.m; ++r) {
    unsigned char* p = base + r * loop.outer[0] * kBytes;
    if (loop.inner[0] == 1) {
      // A constant stride lets the compiler make vector stores of it.
      for (Index i = 0; i < loop.n; ++i) std::memcpy(p + i * kBytes, &value, sizeof(U));
    } else {
      for (Index i = 0; i < loop.n; ++i)
        std::memcpy(p + i * loop.inner[0] * kBytes, &value, sizeof(U));
    }
  }
}

}  // namespace

FillFn fill(int element_bytes) {
  switch (element_bytes) {
    case 1: return &fill_elements<std::uint8_t>;
    case 2: return &fill_elements<std::uint16_t>;
    case 4: return &fill_elements<std::uint32_t>;
    case 8: return &fill_elements<std::uint64_t>;
    default: return nullptr;
  }
}

}  // namespace wick::kernels
