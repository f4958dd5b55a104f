// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The operands of `wick bench gemm`, by a formula: every process that takes part makes the same
// ones and shows the same few elements of its result. Nothing of wick, so that peers can use it.

namespace wick::bench {

inline constexpr int kSamples = 64;

/// Thirty-two well-mixed bits for place i of the sequence `seed`.
constexpr std::uint32_t mixed_bits(std::uint32_t seed, std::uint32_t i) {
  std::uint32_t x = i * 0x9E3779B1U + seed * 0x7F4A7C15U;
  x ^= x >> 15;
  x *= 0x85EBCA6BU;
  return x ^ (x >> 13);
}

/// Element i of A (seed 1) or B (seed 2) as it lies in memory: a multiple of 1/128 in [-1, 1),
/// which every float dtype down to bf16 holds.
constexpr double operand_value(std::uint32_t seed, std::int64_t i) {
  return (static_cast<double>(mixed_bits(seed, static_cast<std::uint32_t>(i)) & 255U) - 128) / 128;
}

/// Which element of a result of `total` sample s is: the first, the last, others anywhere.
constexpr std::int64_t sample_place(int s, std::int64_t total) {
  if (s == 0) return 0;
  if (s == 1) return total - 1;
  return static_cast<std::int64_t>(mixed_bits(3, static_cast<std::uint32_t>(s))) % total;
}

}  // namespace wick::bench
