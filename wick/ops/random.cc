// SPDX-License-Identifier: Apache-2.0
#include "wick/random.h"

#include <Random123/philox.h>

#include <array>

#include "wick/core/dispatch.h"
#include "wick/kernels/unary.h"
#include "wick/parallel/executor.h"

namespace wick {
namespace {

constexpr Index kChunk = 256;  // elements made at a time
constexpr Index kGrain = 8 * 1024 / kChunk;

/// Bits of precision of the uniform numbers of a type.
template <Float T>
constexpr int kUniformBits = std::same_as<T, f64>    ? 53
                             : std::same_as<T, f32>  ? 24
                             : std::same_as<T, f16>  ? 11
                             : std::same_as<T, bf16> ? 8
                                                     : 4;

/// An f64 takes two of the 32-bit numbers of a block, everything else one.
template <class C>
constexpr Index kPerBlock = std::same_as<C, f64> ? 2 : 4;

/// The random words for one chunk, as numbers of the width that C draws from.
template <class C>
struct Words {
  using Word = std::conditional_t<std::same_as<C, f64>, std::uint64_t, std::uint32_t>;
  std::array<Word, kChunk> words;

  Words(std::uint64_t seed, std::uint64_t block) {
    const r123::Philox4x32::key_type key{
        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
    for (std::size_t i = 0; i < kChunk; ++block) {
      const r123::Philox4x32::ctr_type counter{
          {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}};
      const auto r = r123::Philox4x32()(counter, key);
      if constexpr (std::same_as<C, f64>) {
        words[i++] = std::uint64_t{r[0]} << 32 | r[1];
        words[i++] = std::uint64_t{r[2]} << 32 | r[3];
      } else {
        for (std::size_t k = 0; k < 4; ++k) words[i++] = r[k];
      }
    }
  }
};

template <class C>
void apply(UnaryOp op, std::array<C, kChunk / 2>& values) {
  kernels::unary<C>(op)(values.data(), values.data(), {kChunk / 2, 1, {1, 1}, {0, 0}});
}

/// Normal numbers from pairs of uniform ones.
template <class C>
void normal_chunk(const Words<C>& random, C* out) {
  constexpr int kBits = std::same_as<C, f64> ? 64 : 32;
  std::array<C, kChunk / 2> radius, cosine, sine;
  for (std::size_t i = 0; i < kChunk / 2; ++i) {
    // In (0, 1]: half a step above the multiple, so that the logarithm is finite.
    const C scale = std::ldexp(C{1}, -kBits);
    radius[i] = static_cast<C>(random.words[2 * i]) * scale + scale / 2;
    sine[i] = static_cast<C>(random.words[2 * i + 1]) * (scale * static_cast<C>(6.283185307179586));
  }
  cosine = sine;
  apply(UnaryOp::log, radius);
  for (C& r : radius) r *= C{-2};
  apply(UnaryOp::sqrt, radius);
  apply(UnaryOp::cos, cosine);
  apply(UnaryOp::sin, sine);
  for (std::size_t i = 0; i < kChunk / 2; ++i) {
    out[2 * i] = radius[i] * cosine[i];
    out[2 * i + 1] = radius[i] * sine[i];
  }
}

template <Float T, class Fill>
Tensor make(const Dims& shape, Generator& generator, Fill&& fill) {
  using C = Compute<T>;
  Tensor out = Tensor::empty(shape, dtype_of<T>);
  const Index n = out.element_count(), chunks = ceil_div(n, kChunk);
  constexpr Index kBlocks = kChunk / kPerBlock<C>;
  const std::uint64_t seed = generator.seed();
  const std::uint64_t first = generator.take(static_cast<std::uint64_t>(chunks * kBlocks));
  T* y = out.data<T>();
  parallel_for(chunks, kGrain, [&](Index begin, Index end) {
    std::array<T, kChunk> values;
    for (Index chunk = begin; chunk < end; ++chunk) {
      fill(Words<C>(seed, first + static_cast<std::uint64_t>(chunk * kBlocks)), values.data());
      const Index at = chunk * kChunk;
      std::copy_n(values.data(), std::min(kChunk, n - at), y + at);
    }
  });
  return out;
}

}  // namespace

void Generator::reseed(std::uint64_t seed) {
  seed_.store(seed, std::memory_order_relaxed);
  next_.store(0, std::memory_order_relaxed);
}

Generator& current_generator() {
  if (Generator* const scoped = current_context().generator) return *scoped;
  static Generator* const generator = new Generator;
  return *generator;
}

void set_seed(std::uint64_t seed) { current_generator().reseed(seed); }
std::uint64_t get_seed() { return current_generator().seed(); }

Tensor rand_uniform(const Dims& shape, DType dtype, Generator& generator) {
  return dispatch<Tensor>(dtype, "rand", [&]<Float T>(std::type_identity<T>) {
    using C = Compute<T>;
    return make<T>(shape, generator, [](const Words<C>& random, T* out) {
      constexpr int kBits = kUniformBits<T>;
      constexpr int kDrop = static_cast<int>(sizeof(random.words[0])) * 8 - kBits;
      for (std::size_t i = 0; i < kChunk; ++i)
        out[i] = convert<T>(static_cast<C>(random.words[i] >> kDrop) * std::ldexp(C{1}, -kBits));
    });
  });
}

Tensor rand_normal(const Dims& shape, DType dtype, Generator& generator) {
  return dispatch<Tensor>(dtype, "randn", [&]<Float T>(std::type_identity<T>) {
    using C = Compute<T>;
    return make<T>(shape, generator, [](const Words<C>& random, T* out) {
      if constexpr (std::same_as<T, C>) {
        normal_chunk<C>(random, out);
      } else {
        std::array<C, kChunk> values;
        normal_chunk<C>(random, values.data());
        for (std::size_t i = 0; i < kChunk; ++i) out[i] = convert<T>(values[i]);
      }
    });
  });
}

Tensor Tensor::rand(const Dims& shape, DType dtype) {
  return rand_uniform(shape, dtype, current_generator());
}
Tensor Tensor::randn(const Dims& shape, DType dtype) {
  return rand_normal(shape, dtype, current_generator());
}

}  // namespace wick
