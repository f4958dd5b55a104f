// SPDX-License-Identifier: Apache-2.0
// Tiny products and batches of them against the packed path, which gemm_test.cc compares with the
// contract: every bit, and every byte beside.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "tests/all_isas.h"
#include "tests/parallel/std_thread_pool.h"
#include "wick/core/convert.h"
#include "wick/gemm.h"
#include "wick/ops/gemm.h"
#include "wick/tensor.h"

namespace wick {
namespace {

using testing::for_each_isa;

Index upto(std::mt19937& rng, Index most) {
  return std::uniform_int_distribution<Index>(0, most)(rng);
}

/// Matrices of a batch somewhere in a buffer that holds exactly what they reach.
template <class T>
struct Operand {
  std::vector<T> data;
  Index offset = 0;
  MatrixRef<T> at{};
  std::array<Index, GemmBatch::kMaxRank> steps{};

  /// `writable`: no element is reached twice.
  Operand(std::mt19937& rng, const GemmBatch& batch, Index rows, Index cols, bool writable) {
    // Dims from the innermost, sometimes padded, turned round or, if only read, without a stride.
    std::vector<std::pair<Index, Index*>> dims{{rows, &at.row}, {cols, &at.col}};
    if (upto(rng, 2) != 0) std::swap(dims[0], dims[1]);
    for (std::size_t i = batch.rank; i-- > 0;) dims.push_back({batch.shape[i], &steps[i]});
    if (upto(rng, 3) == 0) std::shuffle(dims.begin(), dims.end(), rng);
    Index step = upto(rng, 7) == 0 ? 2 : 1, high = 0;
    for (auto& [size, stride] : dims) {
      const Index length = std::max(size, Index{1});
      if (!writable && upto(rng, 7) == 0) {
        *stride = 0;
        continue;
      }
      *stride = step;
      high += (length - 1) * step;
      if (upto(rng, 5) == 0) {
        *stride = -step;
        offset += (length - 1) * step;
      }
      step *= length;
      if (upto(rng, 3) == 0) step += upto(rng, 3);
    }
    data.resize(static_cast<std::size_t>(high + 1));
    for (T& x : data) {
      if constexpr (Int<T>) {
        x = static_cast<T>(std::uniform_int_distribution<i64>(-100000, 100000)(rng));
      } else {
        x = convert<T>(std::uniform_real_distribution<f32>(-1, 1)(rng));
      }
    }
    at.data = data.data() + offset;
  }
};

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T, class Out = T>
void compare(std::mt19937& rng, const GemmBatch& shape, Index m, Index n, Index k,
             Executor& executor) {
  GemmBatch batch = shape;
  const Operand<T> a(rng, batch, m, k, false), b(rng, batch, k, n, false);
  Operand<Out> c(rng, batch, m, n, true);
  batch.a = a.steps;
  batch.b = b.steps;
  batch.c = c.steps;
  GemmProblem<T, Out> p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = {a.at.data, a.at.row, a.at.col};
  p.b = {b.at.data, b.at.row, b.at.col};
  p.c = c.at;
  if (upto(rng, 3) == 0) p.alpha = static_cast<Compute<T>>(3);
  if (upto(rng, 3) == 0) p.beta = static_cast<Compute<T>>(2);
  Operand<Out> want = c;
  auto reference = p;
  reference.c.data = want.data.data() + want.offset;
  SerialExecutor serial;
  GemmTuning packed;
  packed.path = GemmTuning::Path::packed;
  gemm_batch(reference, batch, serial, packed);
  gemm_batch(p, batch, executor);
  ASSERT_TRUE(same_bytes(c.data, want.data))
      << m << " x " << n << " x " << k << ", a " << p.a.row << ' ' << p.a.col << ", b " << p.b.row
      << ' ' << p.b.col << ", c " << p.c.row << ' ' << p.c.col << ", batch of rank " << batch.rank
      << ", alpha " << static_cast<f64>(p.alpha) << " beta " << static_cast<f64>(p.beta);
}

template <class T, class Out = T>
void random_batches(unsigned seed, int count) {
  std::mt19937 rng(seed);
  SerialExecutor serial;
  for (int i = 0; i < count; ++i) {
    GemmBatch batch;
    batch.rank = static_cast<std::size_t>(upto(rng, 3));
    for (std::size_t d = 0; d < batch.rank; ++d)
      batch.shape[d] = upto(rng, 9) == 0 ? 40 : 1 + upto(rng, 3);
    const Index most = upto(rng, 1) == 0 ? 9 : batch.rank > 1 ? 20 : 40;
    compare<T, Out>(rng, batch, upto(rng, most), upto(rng, most), upto(rng, most), serial);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

template <class T>
class GemmTiny : public ::testing::Test {};
using AllTypes = ::testing::Types<u8, u32, i16, i32, i64, bf16, f16, f32, f64, f8e4m3>;
TYPED_TEST_SUITE(GemmTiny, AllTypes);

TYPED_TEST(GemmTiny, AnyStridesAndBatches) {
  for_each_isa([] { random_batches<TypeParam>(1, 250); });
}

TYPED_TEST(GemmTiny, F32Results) {
  if constexpr (SmallFloat<TypeParam>) {
    for_each_isa([] { random_batches<TypeParam, f32>(2, 100); });
  }
}

TEST(GemmTinyF32, EverySmallSize) {
  for_each_isa([] {
    std::mt19937 rng(3);
    SerialExecutor serial;
    GemmBatch batch;
    batch.rank = 1;
    batch.shape[0] = 3;
    for (Index m = 1; m <= 17; ++m)
      for (Index n = 1; n <= 17; ++n) {
        compare<f32>(rng, batch, m, n, 1 + upto(rng, 17), serial);
        compare<f64>(rng, batch, m, n, 1 + upto(rng, 17), serial);
      }
  });
}

TEST(GemmTinyF32, ManyProductsOnThreads) {
  for_each_isa([] {
    std::mt19937 rng(4);
    for (const int threads : {1, 2, 3}) {
      StdThreadPool executor(threads);
      for (const Index count : {5000, 20011}) {
        GemmBatch batch;
        batch.rank = 1;
        batch.shape[0] = count;
        compare<f32>(rng, batch, 3, 3, 3, executor);
        compare<f32>(rng, batch, 4, 1, 4, executor);
        batch.rank = 2;
        batch.shape[1] = 2;
        compare<f64>(rng, batch, 2, 3, 2, executor);
        compare<f16>(rng, batch, 2, 3, 2, executor);
      }
    }
  });
}

TEST(GemmTinyF32, ManyRowsOrColumns) {
  for_each_isa([] {
    std::mt19937 rng(5);
    StdThreadPool executor(2);
    for (const Index many : {129, 640, 5003})
      for (const Index few : {1, 3, 8, 17, 32}) {
        compare<f32>(rng, {}, many, few, few, executor);
        compare<f32>(rng, {}, few, many, few, executor);
        compare<f64>(rng, {}, many, 3, few, executor);
      }
  });
}

TEST(GemmTinyF32, RawPointers) {
  for_each_isa([] {
    std::mt19937 rng(6);
    for (int i = 0; i < 400; ++i) {
      const Index m = upto(rng, 40), n = upto(rng, 40), k = upto(rng, 40);
      const Operand<f32> a(rng, {}, m, k, false), b(rng, {}, k, n, false);
      Operand<f32> c(rng, {}, m, n, true);
      Operand<f32> want = c;
      GemmProblem<f32> p;
      p.m = m, p.n = n, p.k = k;
      p.alpha = upto(rng, 2) == 0 ? 0.5F : 1;
      p.beta = upto(rng, 2) == 0 ? -1.5F : 0;
      p.a = {a.at.data, a.at.row, a.at.col};
      p.b = {b.at.data, b.at.row, b.at.col};
      p.c = {want.data.data() + want.offset, c.at.row, c.at.col};
      SerialExecutor serial;
      GemmTuning packed;
      packed.path = GemmTuning::Path::packed;
      gemm(p, serial, packed);
      gemm<f32>(m, n, k, p.alpha, a.at.data, a.at.row, a.at.col, b.at.data, b.at.row, b.at.col,
                p.beta, c.at.data, c.at.row, c.at.col);
      ASSERT_TRUE(same_bytes(c.data, want.data)) << m << " x " << n << " x " << k;
    }
  });
}

}  // namespace
}  // namespace wick
