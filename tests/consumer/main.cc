// SPDX-License-Identifier: Apache-2.0
// Uses a little of each public header, and an error that crosses the border of a shared library.
#include <cstdio>

#include "wick/tensor.h"

int main() {
  const wick::Layout layout = wick::Layout::contiguous({2, 3}).transpose(0, 1);
  wick::Buffer<wick::f32> buffer(layout.size(), "consumer");
  for (wick::Index i = 0; i < layout.size(); ++i) buffer.data()[i] = 1.0f;
  if (layout.is_contiguous() || wick::memory_stats().in_use < 24) return 1;
  try {
    (void)layout.narrow(0, 2, 5);
  } catch (const wick::Error& error) {
    std::printf("%s\n", error.what());
    return 0;
  }
  return 1;
}
