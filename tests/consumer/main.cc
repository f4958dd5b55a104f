// SPDX-License-Identifier: Apache-2.0
// Uses a little of each part, and an error that crosses the border of a shared library.
#include <cstdio>

#include "wick/wick.h"

int main() {
  const wick::Tensor x = wick::Tensor::arange(0, 6).reshape({2, 3});
  const wick::Tensor y = wick::softmax(x.matmul(x.t()) + 1, -1).sum();
  if (y.item<int>() != 2 || wick::num_threads() < 1 || wick::memory_stats().in_use < 24) return 1;
  try {
    (void)x.matmul(x);
  } catch (const wick::Error& error) {
    std::printf("%s\n", error.what());
    return 0;
  }
  return 1;
}
