// SPDX-License-Identifier: Apache-2.0
// Products of bf16 by native instructions: every path against the model, with every kind of value.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/all_isas.h"
#include "tests/ops/bf16_model.h"
#include "tests/parallel/std_thread_pool.h"
#include "wick/core/convert.h"
#include "wick/ops/gemm.h"

namespace wick {
namespace {

using kernels::Bf16Unit;

/// Values of one kind: 0 ordinary, 1 tiny (products and sums fall below the normal range), 2 any
/// bits at all.
bf16 value(std::mt19937& rng, int kind) {
  const auto bits = static_cast<std::uint16_t>(rng());
  if (kind == 2) return bf16{bits};
  const unsigned exponent = (kind == 0 ? 120U : 60U) + static_cast<unsigned>(rng() % 8U);
  return bf16{static_cast<std::uint16_t>((bits & 0x807FU) | (exponent << 7U))};
}

template <class Out>
bool same(Out a, Out b) {
  if constexpr (std::is_same_v<Out, bf16>) {
    return a == b || (std::isnan(to_f32(a)) && std::isnan(to_f32(b)));
  } else {
    return (a == b && std::signbit(a) == std::signbit(b)) || (std::isnan(a) && std::isnan(b));
  }
}

/// One product in buffers that hold exactly what it reaches (the sanitizer sees a read beside).
template <class Out>
void check(std::mt19937& rng, Index m, Index n, Index k, bool a_rows, bool b_rows, int kind,
           GemmTuning::Path path, Executor& executor) {
  std::vector<bf16> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
  for (bf16& x : a) x = value(rng, kind);
  for (bf16& x : b) x = value(rng, kind);
  std::vector<Out> c(static_cast<std::size_t>(m * n), convert<Out>(NAN));
  GemmProblem<bf16, Out> p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = {a.data(), a_rows ? k : 1, a_rows ? 1 : m};
  p.b = {b.data(), b_rows ? n : 1, b_rows ? 1 : k};
  p.c = {c.data(), n, 1};
  GemmTuning tuning;
  tuning.path = path;
  gemm(p, executor, tuning);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      const f32 sum = testing::bf16_sum(
          kernels::bf16_unit(), k,
          [&](Index q) { return q < k ? to_f32(p.a.data[i * p.a.row + q * p.a.col]) : 0.0F; },
          [&](Index q) { return q < k ? to_f32(p.b.data[q * p.b.row + j * p.b.col]) : 0.0F; });
      ASSERT_TRUE(same(c[static_cast<std::size_t>(i * n + j)], convert<Out>(sum)))
          << m << " x " << n << " x " << k << " at " << i << ", " << j << " kind " << kind
          << " path " << static_cast<int>(path) << " rows " << a_rows << b_rows;
    }
}

template <class F>
void for_each_native(F&& body) {
  testing::for_each_isa([&] {
    if (kernels::bf16_unit() != Bf16Unit::widen) body();
  });
}

TEST(GemmBf16, EveryPathGivesTheUnitsBits) {
  using Path = GemmTuning::Path;
  for_each_native([] {
    std::mt19937 rng(7);
    StdThreadPool threads(2);
    SerialExecutor serial;
    for (int i = 0; i < 600; ++i) {
      const auto upto = [&](int most) {
        return static_cast<Index>(rng() % (static_cast<unsigned>(most) + 1U));
      };
      const Index m = 1 + upto(i % 3 == 0 ? 40 : 15), n = 1 + upto(75);
      const Index ks[] = {1 + upto(70), 31 + upto(2), 383 + upto(2), 767 + upto(3), 2047 + upto(2)};
      const Index k = ks[i % 16 == 0 ? rng() % 5 : rng() % 3];
      const Path path = std::array{Path::automatic, Path::packed, Path::direct_a,
                                   Path::thin}[static_cast<std::size_t>(upto(3))];
      Executor& executor = i % 8 == 0 ? static_cast<Executor&>(threads) : serial;
      const int kind = static_cast<int>(upto(2));
      if (i % 2 == 0) {
        check<f32>(rng, m, n, k, upto(1) == 0, upto(1) == 0, kind, path, executor);
      } else {
        check<bf16>(rng, m, n, k, upto(1) == 0, upto(1) == 0, kind, path, executor);
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(GemmBf16, AFewRowsOfMany) {
  for_each_native([] {
    std::mt19937 rng(8);
    StdThreadPool threads(2);
    for (const Index m : {1, 2, 3, 5, 16})
      for (const Index k : {31, 64, 97, 500})
        check<f32>(rng, m, 333, k, true, true, 2, GemmTuning::Path::thin, threads);
    check<f32>(rng, 3, 2100, 400, true, true, 0, GemmTuning::Path::automatic, threads);
    check<f32>(rng, 2100, 3, 400, false, false, 0, GemmTuning::Path::automatic, threads);
    check<bf16>(rng, 3, 2100, 400, true, false, 0, GemmTuning::Path::automatic, threads);
  });
}

TEST(GemmBf16, CloseToF64) {
  for_each_native([] {
    std::mt19937 rng(9);
    SerialExecutor serial;
    const Index m = 33, n = 45, k = 1500;
    std::vector<bf16> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
    for (bf16& x : a) x = value(rng, 0);
    for (bf16& x : b) x = value(rng, 0);
    std::vector<f32> c(static_cast<std::size_t>(m * n), NAN);
    gemm(
        GemmProblem<bf16, f32>{m, n, k, 1, {a.data(), k, 1}, {b.data(), n, 1}, 0, {c.data(), n, 1}},
        serial);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        f64 sum = 0, size = 0;
        for (Index q = 0; q < k; ++q) {
          const f64 x = f64{to_f32(a[static_cast<std::size_t>(i * k + q)])} *
                        f64{to_f32(b[static_cast<std::size_t>(q * n + j)])};
          sum += x;
          size += std::fabs(x);
        }
        EXPECT_NEAR(f64{c[static_cast<std::size_t>(i * n + j)]}, sum, 388 * 0x1p-24 * size);
      }
  });
}

}  // namespace
}  // namespace wick
