// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "wick/core/context.h"
#include "wick/tensor.h"

namespace wick {

/// A counter-based random generator: Philox4x32-10 (Salmon, Moraes, Dror & Shaw, "Parallel random
/// numbers: as easy as 1, 2, 3", 2011). A number depends on the seed and its place in the sequence
/// alone, so results do not depend on threads. Safe to use from many threads at once; each call
/// takes its own stretch of the sequence.
class WICK_API Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) : seed_(seed) {}
  std::uint64_t seed() const { return seed_.load(std::memory_order_relaxed); }
  /// Starts the sequence of `seed` anew.
  void reseed(std::uint64_t seed);
  /// Takes `blocks` blocks of four 32-bit numbers; returns the number of the first.
  std::uint64_t take(std::uint64_t blocks) {
    return next_.fetch_add(blocks, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> seed_;
  std::atomic<std::uint64_t> next_{0};
};

/// The generator behind Tensor::rand and Tensor::randn: that of the thread's Context, else one for
/// the process.
WICK_API Generator& current_generator();

/// Samples of the uniform distribution on [0, 1): every multiple of 2^-24 is equally likely (f64:
/// 2^-53; small floats: as many bits as they hold). Floats only.
WICK_API Tensor rand_uniform(const Dims& shape, DType dtype, Generator& generator);
/// Samples of the normal distribution with mean 0 and variance 1, by Box & Muller's method (1958).
WICK_API Tensor rand_normal(const Dims& shape, DType dtype, Generator& generator);

}  // namespace wick
