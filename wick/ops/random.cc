// SPDX-License-Identifier: Apache-2.0
#include "wick/random.h"

#include <Random123/philox.h>

#include <array>
#include <limits>

#include "wick/base/made_once.h"
#include "wick/core/dispatch.h"
#include "wick/kernels/unary.h"
#include "wick/nn.h"
#include "wick/ops/check.h"
#include "wick/ops/reduce.h"
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

/// Whole numbers of [low, low + range) (a range of 0 is 2^64): the high part of the product of the
/// range and 128 random bits.
i64 whole_number(std::uint64_t seed, std::uint64_t block, i64 low, std::uint64_t range) {
  const r123::Philox4x32::key_type key{
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const r123::Philox4x32::ctr_type counter{
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}};
  const auto r = r123::Philox4x32()(counter, key);
  std::uint64_t drawn = std::uint64_t{r[0]} << 32 | r[1];
  if (range != 0) {
    // From the lowest of the four digits to the highest; a digit's product and carry fit.
    const std::uint64_t high = range >> 32, bottom = range & 0xFFFFFFFF;
    std::uint64_t carry = 0;  // of the product so far, without the digits that are done with
    for (const std::uint32_t digit : {r[3], r[2], r[1], r[0]}) {
      const std::uint64_t one = digit * bottom, two = digit * high;
      const std::uint64_t sum = (carry & 0xFFFFFFFF) + (one & 0xFFFFFFFF);
      carry = (carry >> 32) + (one >> 32) + two + (sum >> 32);
    }
    drawn = carry;
  }
  return static_cast<i64>(static_cast<std::uint64_t>(low) + drawn);
}

/// Fills `out` by chunks: fill(seed, number of the chunk's first block, values) makes one, of which
/// each takes `blocks` blocks. Elements are numbered in row-major order.
template <Element T, class Fill>
void fill_chunks(const Tensor& out, Generator& generator, Index blocks, Fill&& fill) {
  const Index n = out.element_count(), chunks = ceil_div(n, kChunk);
  if (n == 0) return;
  const std::uint64_t seed = generator.seed();
  const std::uint64_t first = generator.take(static_cast<std::uint64_t>(chunks * blocks));
  const ReducePlan plan =
      plan_reduction("random", out.layout(), all_dims(out.rank()), false, ReduceOrder::row_major);
  T* y = std::get_if<Buffer<T>>(&out.storage())->data() + out.layout().offset;
  parallel_for(chunks, kGrain, [&](Index begin, Index end) {
    std::array<T, kChunk> values;
    kernels::ReduceLoop loop = plan.loop;
    loop.begin = begin * kChunk;
    kernels::ReduceCursor cursor(loop);
    for (Index chunk = begin; chunk < end; ++chunk) {
      fill(seed, first + static_cast<std::uint64_t>(chunk * blocks), values.data());
      const Index count = std::min(kChunk, n - chunk * kChunk);
      for (Index done = 0; done < count;) {
        Index offset = 0;
        const Index run = cursor.next(count - done, &offset);
        for (Index i = 0; i < run; ++i)
          y[offset + i * loop.strides[0]] = values[static_cast<std::size_t>(done + i)];
        done += run;
      }
    }
  });
}

template <class C>
constexpr Index kBlocks = kChunk / kPerBlock<C>;

void check_finite(std::string_view op, f64 a, f64 b, DType dtype) {
  // The f32 that the small floats and f32 compute in must hold the difference too.
  const f64 most =
      dtype == DType::f64 ? std::numeric_limits<f64>::max() : f64{std::numeric_limits<f32>::max()};
  if (!(std::fabs(a) <= most && std::fabs(b) <= most && std::fabs(b - a) <= most))
    throw Error(ErrorKind::argument, op,
                str("wanted finite numbers within ", name(dtype), ", got ", a, " and ", b));
}

void fill_uniform(const Tensor& out, f64 low, f64 high, Generator& generator) {
  dispatch(out.dtype(), "rand", [&]<Float T>(std::type_identity<T>) {
    using C = Compute<T>;
    const auto from = static_cast<C>(low), width = static_cast<C>(high - low);
    fill_chunks<T>(out, generator, kBlocks<C>, [=](std::uint64_t seed, std::uint64_t block, T* y) {
      const Words<C> random(seed, block);
      constexpr int kBits = kUniformBits<T>;
      constexpr int kDrop = static_cast<int>(sizeof(random.words[0])) * 8 - kBits;
      for (std::size_t i = 0; i < kChunk; ++i) {
        const C u = static_cast<C>(random.words[i] >> kDrop) * std::ldexp(C{1}, -kBits);
        y[i] = convert<T>(from + width * u);
        if (convert<f64>(y[i]) >= high) y[i] = convert<T>(from);
      }
    });
  });
}

void fill_normal(const Tensor& out, f64 mean, f64 deviation, Generator& generator) {
  dispatch(out.dtype(), "randn", [&]<Float T>(std::type_identity<T>) {
    using C = Compute<T>;
    const auto centre = static_cast<C>(mean), scale = static_cast<C>(deviation);
    fill_chunks<T>(out, generator, kBlocks<C>, [=](std::uint64_t seed, std::uint64_t block, T* y) {
      std::array<C, kChunk> values;
      normal_chunk<C>(Words<C>(seed, block), values.data());
      for (std::size_t i = 0; i < kChunk; ++i) y[i] = convert<T>(centre + scale * values[i]);
    });
  });
}

void check_uniform(DType dtype, f64 low, f64 high) {
  if (!is_float(dtype)) throw_unsupported(dtype, "rand");
  check_finite("rand", low, high, dtype);
  if (!(low <= high))
    throw Error(ErrorKind::argument, "rand", str("wanted low <= high, got ", low, " and ", high));
}
void check_normal(DType dtype, f64 mean, f64 deviation) {
  if (!is_float(dtype)) throw_unsupported(dtype, "randn");
  check_finite("randn", mean, deviation, dtype);
  if (!(deviation >= 0))
    throw Error(ErrorKind::argument, "randn", str("wanted a deviation >= 0, got ", deviation));
}

void check_range(Index low, Index high, DType dtype) {
  constexpr std::string_view kOp = "randint";
  if (is_raw(dtype)) throw_unsupported(dtype, kOp);
  if (low >= high)
    throw Error(ErrorKind::argument, kOp, str("wanted low < high, got ", low, " and ", high));
  dispatch(dtype, kOp, [&]<Element T>(std::type_identity<T>) {
    const auto holds = [](Index v) {
      if constexpr (Int<T>) return convert<i64>(convert<T>(v)) == v;
      const f64 back = convert<f64>(convert<T>(v));
      return std::isfinite(back) &&
             std::fabs(back - static_cast<f64>(v)) <= std::fabs(static_cast<f64>(v)) / 8;
    };
    if (!holds(low) || !holds(high - 1))
      throw Error(ErrorKind::argument, kOp,
                  str("wanted a range within ", name(dtype), ", got ", low, " to ", high - 1));
  });
}

void fill_whole(const Tensor& out, Index low, Index high, Generator& generator) {
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  dispatch(out.dtype(), "randint", [&]<Element T>(std::type_identity<T>) {
    fill_chunks<T>(out, generator, kChunk, [=](std::uint64_t seed, std::uint64_t block, T* y) {
      for (Index i = 0; i < kChunk; ++i)
        y[i] = convert<T>(whole_number(seed, block + static_cast<std::uint64_t>(i), low, range));
    });
  });
}

}  // namespace

void Generator::reseed(std::uint64_t seed) {
  seed_.store(seed, std::memory_order_relaxed);
  next_.store(0, std::memory_order_relaxed);
}

Generator& current_generator() {
  if (Generator* const scoped = current_context().generator) return *scoped;
  static constinit MadeOnce<Generator> generator;
  return generator.get();
}

void set_seed(std::uint64_t seed) { current_generator().reseed(seed); }
std::uint64_t get_seed() { return current_generator().seed(); }

Tensor rand_uniform(const Dims& shape, DType dtype, Generator& generator) {
  return rand_uniform(shape, 0, 1, dtype, generator);
}
Tensor rand_uniform(const Dims& shape, f64 low, f64 high, DType dtype) {
  return rand_uniform(shape, low, high, dtype, current_generator());
}
Tensor rand_uniform(const Dims& shape, f64 low, f64 high, DType dtype, Generator& generator) {
  check_uniform(dtype, low, high);
  Tensor out = Tensor::empty(shape, dtype);
  fill_uniform(out, low, high, generator);
  return out;
}
void rand_uniform_into(const Tensor& out, f64 low, f64 high, Generator& generator) {
  check_uniform(out.dtype(), low, high);
  check_out("rand", out, out.shape(), out.dtype());
  fill_uniform(out, low, high, generator);
}

Tensor rand_normal(const Dims& shape, DType dtype, Generator& generator) {
  return rand_normal(shape, 0, 1, dtype, generator);
}
Tensor rand_normal(const Dims& shape, f64 mean, f64 deviation, DType dtype) {
  return rand_normal(shape, mean, deviation, dtype, current_generator());
}
Tensor rand_normal(const Dims& shape, f64 mean, f64 deviation, DType dtype, Generator& generator) {
  check_normal(dtype, mean, deviation);
  Tensor out = Tensor::empty(shape, dtype);
  fill_normal(out, mean, deviation, generator);
  return out;
}
void rand_normal_into(const Tensor& out, f64 mean, f64 deviation, Generator& generator) {
  check_normal(out.dtype(), mean, deviation);
  check_out("randn", out, out.shape(), out.dtype());
  fill_normal(out, mean, deviation, generator);
}

Tensor randint(Index low, Index high, const Dims& shape, DType dtype) {
  return randint(low, high, shape, dtype, current_generator());
}
Tensor randint(Index low, Index high, const Dims& shape, DType dtype, Generator& generator) {
  check_range(low, high, dtype);
  Tensor out = Tensor::empty(shape, dtype);
  fill_whole(out, low, high, generator);
  return out;
}
void randint_into(const Tensor& out, Index low, Index high, Generator& generator) {
  check_range(low, high, out.dtype());
  check_out("randint", out, out.shape(), out.dtype());
  fill_whole(out, low, high, generator);
}

Tensor randperm(Index n) { return randperm(n, current_generator()); }
Tensor randperm(Index n, Generator& generator) {
  if (n < 0) throw Error(ErrorKind::argument, "randperm", str("wanted n >= 0, got ", n));
  Tensor out = Tensor::arange(0, n, 1, DType::i64);
  i64* y = out.data<i64>();
  const std::uint64_t seed = generator.seed();
  const std::uint64_t first = generator.take(static_cast<std::uint64_t>(n));
  for (Index i = n - 1; i > 0; --i)
    std::swap(y[i], y[whole_number(seed, first + static_cast<std::uint64_t>(i), 0,
                                   static_cast<std::uint64_t>(i) + 1)]);
  return out;
}

Tensor dropout(const Tensor& x, f64 p) { return dropout(x, p, current_generator()); }
Tensor dropout(const Tensor& x, f64 p, Generator& generator) {
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  dropout_into(out, x, p, generator);
  return out;
}
void dropout_into(const Tensor& out, const Tensor& x, f64 p, Generator& generator) {
  if (!is_float(x.dtype())) throw_unsupported(x.dtype(), "dropout");
  if (!(p >= 0 && p <= 1))
    throw Error(ErrorKind::argument, "dropout", str("wanted 0 <= p <= 1, got ", p));
  check_out("dropout", out, x.shape(), x.dtype());
  check_overlap("dropout", out, x);
  const Tensor kept = Tensor::empty(x.shape(), DType::u8);
  const auto limit = static_cast<std::uint64_t>(std::ldexp(p, 32));
  fill_chunks<u8>(kept, generator, kBlocks<f32>,
                  [limit](std::uint64_t seed, std::uint64_t block, u8* y) {
                    const Words<f32> random(seed, block);
                    for (std::size_t i = 0; i < kChunk; ++i)
                      y[i] = random.words[i] >= limit ? 1 : 0;
                  });
  affine_into(out, x, p < 1 ? 1 / (1 - p) : 0, 0);
  where_into(out, kept, out, Tensor::zeros({}, x.dtype()));
}

Tensor Tensor::rand(const Dims& shape, DType dtype) {
  return rand_uniform(shape, dtype, current_generator());
}
Tensor Tensor::randn(const Dims& shape, DType dtype) {
  return rand_normal(shape, dtype, current_generator());
}

}  // namespace wick
