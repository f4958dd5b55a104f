// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/index.h"

#include <cstdint>
#include <cstring>

namespace wick::kernels {
namespace {

template <class T>
void select(void* to, const void* from, const Loop2<2>& l, const Index* ids, Index count,
            Index y_step, Index x_step) {
  T* y = static_cast<T*>(to);
  const T* x = static_cast<const T*>(from);
  const bool rows = l.inner[0] == 1 && l.inner[1] == 1 && l.n > 1;
  if (rows) {
    const auto bytes = static_cast<std::size_t>(l.n) * sizeof(T);
    for (Index k = 0; k < count; ++k)
      for (Index j = 0; j < l.m; ++j)
        std::memcpy(y + k * y_step + j * l.outer[0], x + ids[k] * x_step + j * l.outer[1], bytes);
    return;
  }
  for (Index j = 0; j < l.m; ++j) {
    T* yj = y + j * l.outer[0];
    const T* xj = x + j * l.outer[1];
    if (y_step == 1 || l.n == 1) {  // entries side by side: along them
      for (Index i = 0; i < l.n; ++i)
        for (Index k = 0; k < count; ++k)
          yj[i * l.inner[0] + k * y_step] = xj[i * l.inner[1] + ids[k] * x_step];
    } else {
      for (Index k = 0; k < count; ++k)
        for (Index i = 0; i < l.n; ++i)
          yj[i * l.inner[0] + k * y_step] = xj[i * l.inner[1] + ids[k] * x_step];
    }
  }
}

}  // namespace

IndexSelectFn index_select(int element_bytes) {
  switch (element_bytes) {
    case 1: return &select<std::uint8_t>;
    case 2: return &select<std::uint16_t>;
    case 4: return &select<std::uint32_t>;
    case 8: return &select<std::uint64_t>;
    default: return nullptr;
  }
}

}  // namespace wick::kernels
