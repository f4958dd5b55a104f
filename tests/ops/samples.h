// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "tests/parallel/std_thread_pool.h"
#include "tests/views.h"

namespace wick::testing {

inline constexpr DType kFloats[] = {DType::bf16, DType::f16, DType::f32, DType::f64, DType::f8e4m3};
inline constexpr DType kInts[] = {DType::u8, DType::u32, DType::i16, DType::i32, DType::i64};

/// Samples of a normal distribution, rounded to a dtype.
inline Tensor normal(const Dims& shape, DType dtype, std::uint64_t seed, double scale = 1) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> draw(0, scale);
  std::vector<f64> values(static_cast<std::size_t>(element_count(shape)));
  for (f64& v : values) v = draw(engine);
  return Tensor::from_vector(values, shape).to_dtype(dtype);
}

/// f under 1, 2, 3 and 8 threads must give the same bits.
inline void expect_same_bits_for_any_threads(const std::function<Tensor()>& f) {
  SerialExecutor serial;
  const Tensor expected = [&] {
    const ExecutorScope scope(serial);
    return f();
  }();
  for (const int threads : {2, 3, 8}) {
    StdThreadPool pool(threads);
    const ExecutorScope scope(pool);
    EXPECT_TRUE(same_bits(f(), expected)) << threads << " threads";
  }
}

/// Half the distance between neighbouring numbers near 1.
inline double rounding_error(DType t) {
  switch (t) {
    case DType::bf16: return 0x1p-8;
    case DType::f16: return 0x1p-11;
    case DType::f8e4m3: return 0x1p-4;
    case DType::f32: return 0x1p-24;
    default: return 0x1p-53;
  }
}

}  // namespace wick::testing
