// SPDX-License-Identifier: Apache-2.0
// Few rows against a large matrix: every layout, bit for bit against the packed way.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/all_isas.h"
#include "tests/parallel/std_thread_pool.h"
#include "wick/core/convert.h"
#include "wick/ops/gemm.h"

namespace wick {
namespace {

using testing::for_each_isa;
using Path = GemmTuning::Path;

template <class T>
T element(std::mt19937& rng) {
  return convert<T>(std::uniform_real_distribution<f32>(-1, 1)(rng));
}

template <class T>
std::vector<T> elements(Index n, std::mt19937& rng) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (auto& e : x) e = element<T>(rng);
  return x;
}

/// Any NaN equals any other: which payload survives is the processor's affair.
template <class T>
bool same(T a, T b) {
  if constexpr (SmallFloat<T>) {
    if (std::isnan(to_f32(a))) return std::isnan(to_f32(b));
  } else {
    if (std::isnan(a)) return std::isnan(b);
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

struct Case {
  Index m, n, k;
  bool a_columns = false, b_columns = false, c_columns = false;  // column by column in memory
  Index a_pad = 0, b_pad = 0, c_pad = 0;
  f32 alpha = 1, beta = 0;
};

/// One product the thin way and the packed way.
template <class T, class Out>
void check(const Case& s, Executor& executor, Index ranks, std::mt19937& rng,
           bool special = false) {
  const auto strides = [](Index rows, Index cols, bool by_columns, Index pad) {
    return by_columns ? std::array{Index{1}, rows + pad} : std::array{cols + pad, Index{1}};
  };
  const auto size = [](Index rows, Index cols, std::array<Index, 2> at) {
    return (rows - 1) * at[0] + (cols - 1) * at[1] + 1;
  };
  const auto at_a = strides(s.m, s.k, s.a_columns, s.a_pad);
  const auto at_b = strides(s.k, s.n, s.b_columns, s.b_pad);
  const auto at_c = strides(s.m, s.n, s.c_columns, s.c_pad);
  auto a = elements<T>(size(s.m, s.k, at_a), rng);
  auto b = elements<T>(size(s.k, s.n, at_b), rng);
  if (special) {
    const auto any = [&](std::vector<T>& x) -> T& {
      return x[std::uniform_int_distribution<std::size_t>(0, x.size() - 1)(rng)];
    };
    for (int i = 0; i < 3; ++i) {
      any(b) = convert<T>(std::numeric_limits<f32>::infinity());
      any(a) = convert<T>(0.0F);
      any(b) = convert<T>(std::numeric_limits<f32>::quiet_NaN());
    }
  }
  std::vector<Out> c(static_cast<std::size_t>(size(s.m, s.n, at_c)));
  for (auto& x : c)
    x = s.beta == 0 ? convert<Out>(std::numeric_limits<f32>::quiet_NaN()) : element<Out>(rng);
  auto want = c;
  GemmProblem<T, Out> p;
  p.m = s.m;
  p.n = s.n;
  p.k = s.k;
  p.alpha = static_cast<Compute<T>>(s.alpha);
  p.beta = static_cast<Compute<T>>(s.beta);
  p.a = {a.data(), at_a[0], at_a[1]};
  p.b = {b.data(), at_b[0], at_b[1]};
  p.c = {want.data(), at_c[0], at_c[1]};
  SerialExecutor serial;
  GemmTuning tuning;
  tuning.path = Path::packed;
  gemm(p, serial, tuning);
  p.c.data = c.data();
  tuning.path = Path::thin;
  tuning.ranks = ranks;
  gemm(p, executor, tuning);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < c.size(); ++i)
    if (!same(c[i], want[i])) ++wrong;
  ASSERT_EQ(wrong, 0U) << s.m << " x " << s.n << " x " << s.k << " columns " << s.a_columns
                       << s.b_columns << s.c_columns << " pads " << s.a_pad << ' ' << s.b_pad << ' '
                       << s.c_pad << " alpha " << s.alpha << " beta " << s.beta << " ranks "
                       << ranks;
}

template <class T, class Out = T>
void random_cases(unsigned seed, int count) {
  std::mt19937 rng(seed);
  StdThreadPool threads(3);
  SerialExecutor serial;
  for (int i = 0; i < count; ++i) {
    const auto upto = [&](Index n) { return std::uniform_int_distribution<Index>(0, n)(rng); };
    const Index ks[] = {1 + upto(40), kGemmChunk<T> - 1 + upto(2), 2 * kGemmChunk<T> + upto(40),
                        9 * kGemmChunk<T> + upto(700), 100 + upto(400)};
    const Index ns[] = {1 + upto(6), 1 + upto(40), 60 + upto(80), 300 + upto(600)};
    Case s{};
    s.m = upto(1) == 0 ? 1 + upto(4) : 1 + upto(34);
    s.n = ns[upto(3)];
    s.k = ks[upto(s.n < 60 ? 4 : 2)];
    if (upto(2) == 0) std::swap(s.m, s.n);
    s.a_columns = upto(1) == 0;
    s.b_columns = upto(1) == 0;
    s.c_columns = upto(3) == 0;
    s.a_pad = upto(1) * upto(9);
    s.b_pad = upto(1) * upto(9);
    s.c_pad = upto(1) * upto(9);
    if (upto(2) == 0) s.alpha = -2.5F;
    if (upto(2) == 0) s.beta = 0.75F;
    Executor& executor = upto(2) == 0 ? static_cast<Executor&>(threads) : serial;
    check<T, Out>(s, executor, upto(1) * (1 + upto(4)), rng, upto(7) == 0);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

template <class T>
class GemmThin : public ::testing::Test {};
using Floats = ::testing::Types<f32, f64, f16, bf16, f8e4m3>;
TYPED_TEST_SUITE(GemmThin, Floats);

TYPED_TEST(GemmThin, SameBitsAsPacked) {
  for_each_isa([] { random_cases<TypeParam>(1, 250); });
}

TYPED_TEST(GemmThin, SameBitsAsPackedInTheTypeOfSums) {
  if constexpr (SmallFloat<TypeParam>) {
    for_each_isa([] { random_cases<TypeParam, f32>(2, 100); });
  }
}

/// Large enough for lines to be asked for ahead, rows of B a power of two apart or not.
TYPED_TEST(GemmThin, FromMemory) {
  for_each_isa([] {
    std::mt19937 rng(3);
    StdThreadPool threads(2);
    const Index row = 4096 / static_cast<Index>(sizeof(TypeParam));
    const Index n = sizeof(TypeParam) < 4 ? 70 : 290;  // k is longer for the small types
    for (const Index m : {1, 2, 4, 5, 16})
      for (const bool columns : {false, true}) {
        Case s{m, n, row, false, columns, false, 0, columns ? 0 : row - n, 0};
        check<TypeParam, TypeParam>(s, threads, 2, rng);
        s.b_pad += 3;
        check<TypeParam, TypeParam>(s, threads, 1, rng);
        if (::testing::Test::HasFatalFailure()) return;
      }
  });
}

TYPED_TEST(GemmThin, LongSums) {
  for_each_isa([] {
    std::mt19937 rng(4);
    StdThreadPool threads(2);
    for (const auto& [m, n, k] :
         {std::array<Index, 3>{1, 1, 100003}, {2, 3, 30001}, {1, 16, 9999}, {4, 40, 5000}})
      for (const bool columns : {false, true})
        for (const Index ranks : {0, 1, 2, 3}) {
          check<TypeParam, TypeParam>({m, n, k, false, columns}, threads, ranks, rng);
          check<TypeParam, TypeParam>({m, n, k, true, columns}, threads, ranks, rng);
          if (::testing::Test::HasFatalFailure()) return;
        }
  });
}

}  // namespace
}  // namespace wick
