// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/copy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace wick::kernels {
namespace {

using Byte = unsigned char;

template <class U>
void move(Byte* y, const Byte* x) {
  U value;
  std::memcpy(&value, x, sizeof(U));
  std::memcpy(y, &value, sizeof(U));
}

// y is contiguous along runs, x across them. By square tiles, one cache line wide, so that every
// line read or written is used whole while it is in the L1 cache. The tile is turned in a buffer:
// both memories are walked in their own order.
template <class U>
void transpose(Byte* y, const Byte* x, Index n, Index m, Index x_inner, Index y_outer) {
  constexpr Index kBytes = sizeof(U);
  constexpr Index kTile = std::max<Index>(64 / kBytes, 16);
  constexpr auto kSide = static_cast<std::size_t>(kTile);
  U tile[kSide][kSide];
  for (Index r0 = 0; r0 < m; r0 += kTile) {
    const Index rows = std::min(kTile, m - r0);
    for (Index i0 = 0; i0 < n; i0 += kTile) {
      const Index columns = std::min(kTile, n - i0);
      const Byte* from = x + (i0 * x_inner + r0) * kBytes;
      Byte* to = y + (r0 * y_outer + i0) * kBytes;
      if (rows == kTile && columns == kTile) {  // known counts: vector loads and stores
        for (Index i = 0; i < kTile; ++i) {
          U line[kSide];
          std::memcpy(line, from + i * x_inner * kBytes, sizeof(line));
          for (Index r = 0; r < kTile; ++r) tile[r][i] = line[r];
        }
        for (Index r = 0; r < kTile; ++r)
          std::memcpy(to + r * y_outer * kBytes, tile[r], sizeof(tile[r]));
        continue;
      }
      for (Index r = 0; r < rows; ++r)
        for (Index i = 0; i < columns; ++i)
          move<U>(to + (r * y_outer + i) * kBytes, from + (i * x_inner + r) * kBytes);
    }
  }
}

template <class U>
void copy_elements(void* y, const void* x, const Loop2<2>& loop) {
  constexpr Index kBytes = sizeof(U);
  auto* to = static_cast<Byte*>(y);
  const auto* from = static_cast<const Byte*>(x);
  if (loop.n <= 0 || loop.m <= 0) return;
  if (to == from && loop.inner[0] == loop.inner[1] && loop.outer[0] == loop.outer[1]) return;
  Loop2<2> l = loop;
  if (l.n == 1 || (l.m > l.n && l.n < 8 && l.outer[0] == 1 && l.outer[1] == 1)) {
    std::swap(l.n, l.m);
    std::swap(l.inner, l.outer);
  }
  if (l.inner[0] == 1 && l.outer[1] == 1 && l.inner[1] != 1 && l.m > 1)
    return transpose<U>(to, from, l.n, l.m, l.inner[1], l.outer[0]);
  if (l.outer[0] == 1 && l.inner[1] == 1 && l.inner[0] != 1 && l.m > 1)
    return transpose<U>(to, from, l.m, l.n, l.outer[1], l.inner[0]);
  for (Index r = 0; r < l.m; ++r) {
    Byte* t = to + r * l.outer[0] * kBytes;
    const Byte* f = from + r * l.outer[1] * kBytes;
    if (l.inner[0] == 1 && l.inner[1] == 1) {
      if (l.n <= 16) {
        for (Index i = 0; i < l.n; ++i) move<U>(t + i * kBytes, f + i * kBytes);
      } else {
        std::memcpy(t, f, static_cast<std::size_t>(l.n * kBytes));
      }
    } else if (l.inner[0] == 1 && l.inner[1] == 2) {  // a known stride: vector code
      for (Index i = 0; i < l.n; ++i) move<U>(t + i * kBytes, f + 2 * i * kBytes);
    } else if (l.inner[0] == 1 && l.inner[1] == 0) {
      U value;
      std::memcpy(&value, f, sizeof(U));
      for (Index i = 0; i < l.n; ++i) std::memcpy(t + i * kBytes, &value, sizeof(U));
    } else {
      for (Index i = 0; i < l.n; ++i)
        move<U>(t + i * l.inner[0] * kBytes, f + i * l.inner[1] * kBytes);
    }
  }
}

}  // namespace

CopyFn copy(int element_bytes) {
  switch (element_bytes) {
    case 1: return &copy_elements<std::uint8_t>;
    case 2: return &copy_elements<std::uint16_t>;
    case 4: return &copy_elements<std::uint32_t>;
    case 8: return &copy_elements<std::uint64_t>;
    default: return nullptr;
  }
}

}  // namespace wick::kernels
