// SPDX-License-Identifier: Apache-2.0
#include "wick/ops/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/all_isas.h"
#include "tests/ops/bf16_model.h"
#include "tests/parallel/std_thread_pool.h"
#include "wick/core/convert.h"
#include "wick/kernels/gemm.h"

namespace wick {
namespace {

using testing::for_each_isa;

/// Whether the instruction set in force fuses multiply and add.
bool has_fma() {
  return (hwy::SupportedTargets() & (HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL | HWY_NEON)) != 0;
}

/// A matrix somewhere in a buffer, with strides of every kind.
enum class Pattern {
  row_major,
  col_major,
  padded_rows,
  padded_cols,
  reversed,
  odd,
  repeat_row,
  repeat_col
};
constexpr Pattern kPatterns[] = {Pattern::row_major,   Pattern::col_major, Pattern::padded_rows,
                                 Pattern::padded_cols, Pattern::reversed,  Pattern::odd,
                                 Pattern::repeat_row,  Pattern::repeat_col};
constexpr int kWritable = 6;  // the first six never repeat an element

template <class T>
struct Matrix {
  std::vector<T> data;
  Index offset = 0, row = 0, col = 0;
  Matrix(Index rows, Index cols, Pattern pattern) {
    const Index r = std::max(rows, Index{1}), c = std::max(cols, Index{1});
    switch (pattern) {
      case Pattern::row_major: row = c, col = 1; break;
      case Pattern::col_major: row = 1, col = r; break;
      case Pattern::padded_rows: row = c + 5, col = 1; break;
      case Pattern::padded_cols: row = 1, col = r + 3; break;
      case Pattern::reversed: row = -(c + 1), col = 1; break;
      case Pattern::odd: row = 2 * c + 1, col = -2; break;
      case Pattern::repeat_row: row = 0, col = 1; break;
      case Pattern::repeat_col: row = 1, col = 0; break;
    }
    offset = (row < 0 ? -row * (r - 1) : 0) + (col < 0 ? -col * (c - 1) : 0);
    data.resize(static_cast<std::size_t>(offset + std::max(row, Index{0}) * (r - 1) +
                                         std::max(col, Index{0}) * (c - 1) + 1));
  }
  T* at(Index i, Index j) { return data.data() + offset + i * row + j * col; }
  MatrixRef<T> ref() { return {data.data() + offset, row, col}; }
  MatrixRef<const T> view() const { return {data.data() + offset, row, col}; }
};

template <class T>
T random_element(std::mt19937& rng) {
  if constexpr (Int<T>) {
    return static_cast<T>(std::uniform_int_distribution<i64>(-100000, 100000)(rng));
  } else {
    return convert<T>(std::uniform_real_distribution<f32>(-1, 1)(rng));
  }
}
template <class T>
void fill(Matrix<T>& x, std::mt19937& rng) {
  for (auto& e : x.data) e = random_element<T>(rng);
}
template <class T>
T poison() {
  if constexpr (Int<T>) {
    return static_cast<T>(77);
  } else {
    return convert<T>(std::numeric_limits<f32>::quiet_NaN());
  }
}

template <class T>
auto widen(T x) {
  using Acc = kernels::GemmAcc<T>;
  if constexpr (SmallFloat<T>) {
    return to_f32(x);
  } else {
    return static_cast<Acc>(x);
  }
}

/// The contract, word for word.
template <class T, class Out>
Out expected(const GemmProblem<T, Out>& p, Index i, Index j, bool fma) {
  using Acc = kernels::GemmAcc<T>;
  const auto step = [&](Acc a, Acc b, Acc c) {
    if constexpr (Int<T>) {
      return static_cast<Acc>(c + a * b);
    } else {
      if (fma) return std::fma(a, b, c);
      volatile Acc product = a * b;
      return product + c;
    }
  };
  Acc sum = 0;
  const bool native = std::is_same_v<T, bf16> && kernels::bf16_unit() != kernels::Bf16Unit::widen;
  if constexpr (std::is_same_v<T, bf16>) {
    if (native)
      sum = testing::bf16_sum(
          kernels::bf16_unit(), p.k,
          [&](Index r) { return r < p.k ? widen(p.a.data[i * p.a.row + r * p.a.col]) : 0.0F; },
          [&](Index r) { return r < p.k ? widen(p.b.data[r * p.b.row + j * p.b.col]) : 0.0F; });
  }
  for (Index q = 0; q < p.k && !native; q += kGemmChunk<T>) {
    Acc chunk = 0;
    for (Index r = q; r < std::min(p.k, q + kGemmChunk<T>); ++r)
      chunk = step(widen(p.a.data[i * p.a.row + r * p.a.col]),
                   widen(p.b.data[r * p.b.row + j * p.b.col]), chunk);
    sum = q == 0 ? chunk : static_cast<Acc>(sum + chunk);
  }
  const auto alpha = static_cast<Acc>(p.alpha), beta = static_cast<Acc>(p.beta);
  if (alpha != Acc{1} && p.k > 0) sum = static_cast<Acc>(alpha * sum);
  if (beta != Acc{0}) sum = step(beta, widen(p.c.data[i * p.c.row + j * p.c.col]), sum);
  if constexpr (Int<T>) {
    return static_cast<Out>(sum);
  } else {
    return convert<Out>(sum);
  }
}

template <class T>
bool same(T a, T b) {
  if constexpr (SmallFloat<T>) {
    if (std::isnan(to_f32(a))) return std::isnan(to_f32(b));
  } else if constexpr (Float<T>) {
    if (std::isnan(a)) return std::isnan(b);
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Runs one product and compares every element, and every byte that is none, with the contract.
template <class T, class Out = T>
void check(Index m, Index n, Index k, Pattern pa, Pattern pb, Pattern pc, f64 alpha, f64 beta,
           Executor& executor, const GemmTuning& tuning, std::mt19937& rng) {
  Matrix<T> a(m, k, pa), b(k, n, pb);
  fill(a, rng);
  fill(b, rng);
  Matrix<Out> c(m, n, pc);
  if (beta == 0) {
    std::fill(c.data.begin(), c.data.end(), poison<Out>());
  } else {
    fill(c, rng);
  }
  const auto before = c;
  GemmProblem<T, Out> p;
  p.m = m;
  p.n = n;
  p.k = k;
  if constexpr (Int<T>) {  // -2 wraps
    p.alpha = static_cast<T>(static_cast<Index>(alpha));
    p.beta = static_cast<T>(static_cast<Index>(beta));
  } else {
    p.alpha = static_cast<Compute<T>>(alpha);
    p.beta = static_cast<Compute<T>>(beta);
  }
  p.a = a.view();
  p.b = b.view();
  p.c = c.ref();
  auto old = before;
  auto reference = p;
  reference.c = old.ref();
  auto want = before;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) *want.at(i, j) = expected(reference, i, j, has_fma());
  gemm(p, executor, tuning);
  int wrong = 0;
  for (std::size_t i = 0; i < c.data.size(); ++i)
    if (!same(c.data[i], want.data[i])) ++wrong;
  ASSERT_EQ(wrong, 0) << m << " x " << n << " x " << k << " patterns " << static_cast<int>(pa)
                      << ' ' << static_cast<int>(pb) << ' ' << static_cast<int>(pc) << " alpha "
                      << alpha << " beta " << beta << " path " << static_cast<int>(tuning.path)
                      << " ranks " << tuning.ranks;
}

Pattern pick(std::mt19937& rng, int below) {
  return kPatterns[std::uniform_int_distribution<int>(0, below - 1)(rng)];
}

GemmTuning random_tuning(std::mt19937& rng, Index mr, Index nr) {
  const auto upto = [&](int n) { return std::uniform_int_distribution<int>(0, n)(rng); };
  GemmTuning t;
  if (upto(1) == 0) return t;
  t.mc = mr * (1 + upto(3));
  t.nb = nr * (1 + upto(2));
  t.whole_a = upto(2);
  t.whole_b = upto(2);
  t.ranks = 1 + upto(5);
  t.path = static_cast<GemmTuning::Path>(upto(5));
  return t;
}

template <class T, class Out = T>
void random_cases(unsigned seed, int count) {
  std::mt19937 rng(seed);
  StdThreadPool threads(2);
  SerialExecutor serial;
  const auto table = kernels::gemm<T>();
  const f64 alphas[] = {1, 1, 1, 2, -3, 0.5}, betas[] = {0, 0, 0, 1, -2, 0.25};
  for (int i = 0; i < count; ++i) {
    const auto upto = [&](Index n) { return std::uniform_int_distribution<Index>(0, n)(rng); };
    const auto size = [&](Index block) {
      return upto(3) != 0 ? upto(70) : std::max(Index{0}, block * (1 + upto(2)) + upto(2) - 1);
    };
    const Index m = upto(4) == 0 ? 1 + upto(3) : size(table.mr);
    const Index n = upto(4) == 0 ? 1 + upto(3) : size(table.nr);
    const Index k = upto(5) == 0 ? kGemmChunk<T> * (1 + upto(2)) + upto(2) - 1 : upto(70);
    const auto s = static_cast<std::size_t>(upto(5)), t = static_cast<std::size_t>(upto(5));
    Executor& executor = upto(9) == 0 ? static_cast<Executor&>(threads) : serial;
    check<T, Out>(m, n, k, pick(rng, 8), pick(rng, 8), pick(rng, kWritable), alphas[s], betas[t],
                  executor, random_tuning(rng, table.mr, table.nr), rng);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

template <class T>
class GemmTyped : public ::testing::Test {};
using AllTypes = ::testing::Types<u8, u32, i16, i32, i64, bf16, f16, f32, f64, f8e4m3>;
TYPED_TEST_SUITE(GemmTyped, AllTypes);

TYPED_TEST(GemmTyped, EveryPathEveryStride) {
  for_each_isa([] { random_cases<TypeParam>(1, 400); });
}

template <class T>
class GemmWide : public ::testing::Test {};
using SmallTypes = ::testing::Types<bf16, f16, f8e4m3>;
TYPED_TEST_SUITE(GemmWide, SmallTypes);

TYPED_TEST(GemmWide, F32Results) {
  for_each_isa([] { random_cases<TypeParam, f32>(2, 200); });
}

TEST(Gemm, EverySmallSize) {
  for_each_isa([] {
    std::mt19937 rng(3);
    SerialExecutor serial;
    for (Index m = 0; m <= 34; m += 1 + m / 18)
      for (Index n = 0; n <= 70; n += 1 + n / 6)
        for (Index k = 0; k <= 9; k += 3) {
          check<f32>(m, n, k, Pattern::row_major, Pattern::row_major, Pattern::row_major, 1, 0,
                     serial, {}, rng);
          check<f32>(m, n, k, Pattern::col_major, Pattern::col_major, Pattern::col_major, 1, 0,
                     serial, {}, rng);
        }
  });
}

TEST(Gemm, ThreadCounts) {
  for_each_isa([] {
    for (const int threads : {1, 2, 3, 8}) {
      std::mt19937 rng(4);
      StdThreadPool executor(threads);
      for (const auto& [m, n, k] : {std::array<Index, 3>{1, 900, 800},
                                    {130, 140, 800},
                                    {700, 1, 700},
                                    {5, 333, 500},
                                    {150, 30, 400},
                                    {3, 3, 2000}}) {
        check<f32>(m, n, k, Pattern::row_major, Pattern::row_major, Pattern::row_major, 1, 0,
                   executor, {}, rng);
        check<f32>(m, n, k, Pattern::row_major, Pattern::col_major, Pattern::padded_rows, 2, 1,
                   executor, {}, rng);
        check<bf16>(m, n, k, Pattern::row_major, Pattern::col_major, Pattern::row_major, 1, 0,
                    executor, {}, rng);
      }
    }
  });
}

TEST(Gemm, CloseToF64) {
  std::mt19937 rng(5);
  SerialExecutor serial;
  const Index m = 33, n = 45, k = 1500;
  Matrix<f32> a(m, k, Pattern::row_major), b(k, n, Pattern::row_major), c(m, n, Pattern::row_major);
  fill(a, rng);
  fill(b, rng);
  GemmProblem<f32> p{m, n, k, 1, a.view(), b.view(), 0, c.ref()};
  gemm(p, serial);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      f64 sum = 0, size = 0;
      for (Index q = 0; q < k; ++q) {
        const f64 product = f64{*a.at(i, q)} * f64{*b.at(q, j)};
        sum += product;
        size += std::fabs(product);
      }
      // A chunk of c products has an error of at most c u |a|.|b|; the sums of chunks add theirs.
      const f64 u = std::numeric_limits<f32>::epsilon() / 2;
      EXPECT_NEAR(f64{*c.at(i, j)}, sum, (kGemmChunk<f32> + 4) * u * size);
    }
}

TEST(Gemm, NanAndInfinityFollowTheRules) {
  for_each_isa([] {
    SerialExecutor serial;
    const f32 inf = std::numeric_limits<f32>::infinity();
    for (const Index n : {1, 3, 33, 70}) {
      const Index m = 5, k = 7;
      Matrix<f32> a(m, k, Pattern::row_major), b(k, n, Pattern::row_major),
          c(m, n, Pattern::row_major);
      std::fill(a.data.begin(), a.data.end(), 1.0F);
      std::fill(b.data.begin(), b.data.end(), 1.0F);
      *a.at(2, 3) = 0;
      *b.at(3, n - 1) = inf;
      gemm(GemmProblem<f32>{m, n, k, 1, a.view(), b.view(), 0, c.ref()}, serial);
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) {
          const f32 x = *c.at(i, j);
          if (j == n - 1) {
            EXPECT_TRUE(i == 2 ? std::isnan(x) : x == inf) << i << ' ' << j;
          } else {
            EXPECT_EQ(x, i == 2 ? 6.0F : 7.0F);
          }
        }
    }
  });
}

TEST(Gemm, BatchIsManyProducts) {
  for_each_isa([] {
    std::mt19937 rng(6);
    for (const int threads : {1, 2, 3, 8})
      for (const Index k : {5, 40, 900}) {
        StdThreadPool executor(threads);
        const Index m = 6, n = 37, outer = 3, inner = 4;
        std::vector<f32> a(static_cast<std::size_t>(inner * m * k)),
            b(static_cast<std::size_t>(outer * k * n)),
            c(static_cast<std::size_t>(outer * inner * m * n), NAN);
        for (auto& x : a) x = random_element<f32>(rng);
        for (auto& x : b) x = random_element<f32>(rng);
        GemmBatch batch;
        batch.rank = 2;
        batch.shape = {outer, inner};
        batch.a = {0, m * k};
        batch.b = {k * n, 0};
        batch.c = {inner * m * n, m * n};
        GemmProblem<f32> p{m, n, k, 1, {a.data(), k, 1}, {b.data(), n, 1}, 0, {c.data(), n, 1}};
        gemm_batch(p, batch, executor);
        for (Index o = 0; o < outer; ++o)
          for (Index i = 0; i < inner; ++i) {
            auto one = p;
            one.a.data += i * m * k;
            one.b.data += o * k * n;
            const f32* got = c.data() + (o * inner + i) * m * n;
            for (Index r = 0; r < m; ++r)
              for (Index s = 0; s < n; ++s)
                ASSERT_TRUE(same(expected(one, r, s, has_fma()), got[r * n + s]));
          }
      }
  });
}

}  // namespace
}  // namespace wick
