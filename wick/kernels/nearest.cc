// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>

#include "wick/kernels/upsample.h"

namespace wick::kernels {
namespace {

template <class U>
void line(void* y, Index y_place, const void* x, Index x_place, Index inner, const Index* from,
          Index n, bool doubled) {
  auto* to = static_cast<U*>(y);
  const auto* in = static_cast<const U*>(x);
  if (inner > 1) {
    for (Index i = 0; i < n; ++i)
      std::memcpy(to + i * y_place, in + from[i] * x_place,
                  static_cast<std::size_t>(inner) * sizeof(U));
  } else if (doubled && y_place == 1 && x_place == 1) {
    for (Index i = 0; i < n / 2; ++i) to[2 * i] = to[2 * i + 1] = in[i];
  } else if (y_place == 1 && x_place == 1) {
    for (Index i = 0; i < n; ++i) to[i] = in[from[i]];
  } else {
    for (Index i = 0; i < n; ++i) to[i * y_place] = in[from[i] * x_place];
  }
}

}  // namespace

NearestFn nearest(int element_bytes) {
  switch (element_bytes) {
    case 1: return &line<std::uint8_t>;
    case 2: return &line<std::uint16_t>;
    case 4: return &line<std::uint32_t>;
    case 8: return &line<std::uint64_t>;
    default: return nullptr;
  }
}

}  // namespace wick::kernels
