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

/// The same over [low, high), and with a mean and a standard deviation: low + (high - low) u and
/// mean + deviation z, computed in f32 (f64 for f64). low <= high and deviation >= 0, all finite; a
/// sum that rounds up to high becomes the number below it. Without a generator: the thread's
/// current one. `out` may be any strided view; elements are numbered in row-major order.
WICK_API Tensor rand_uniform(const Dims& shape, f64 low, f64 high, DType dtype = DType::f32);
WICK_API Tensor rand_uniform(const Dims& shape, f64 low, f64 high, DType dtype,
                             Generator& generator);
WICK_API void rand_uniform_into(const Tensor& out, f64 low, f64 high, Generator& generator);
WICK_API Tensor rand_normal(const Dims& shape, f64 mean, f64 deviation, DType dtype = DType::f32);
WICK_API Tensor rand_normal(const Dims& shape, f64 mean, f64 deviation, DType dtype,
                            Generator& generator);
WICK_API void rand_normal_into(const Tensor& out, f64 mean, f64 deviation, Generator& generator);

/// Whole numbers of [low, high), all equally likely (to 1 part in 2^32 or better). low < high, both
/// within the dtype. Integers and floats; floats are rounded.
WICK_API Tensor randint(Index low, Index high, const Dims& shape, DType dtype = DType::i64);
WICK_API Tensor randint(Index low, Index high, const Dims& shape, DType dtype,
                        Generator& generator);
WICK_API void randint_into(const Tensor& out, Index low, Index high, Generator& generator);

/// The numbers 0 to n - 1 in random order, as i64: all orders are equally likely. Shuffle of Fisher
/// and Yates.
WICK_API Tensor randperm(Index n);
WICK_API Tensor randperm(Index n, Generator& generator);

}  // namespace wick
