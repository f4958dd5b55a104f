// SPDX-License-Identifier: Apache-2.0
// The kernels that only move elements: copy, fill, where.
#include <gtest/gtest.h>

#include "tests/all_isas.h"
#include "tests/kernels/layouts.h"
#include "wick/kernels/copy.h"
#include "wick/kernels/fill.h"
#include "wick/kernels/where.h"

namespace wick {
namespace {

std::uint64_t noise(std::size_t i) { return (i + 1) * 0x9E3779B97F4A7C15U; }

TEST(CopyKernels, EveryStride) {
  for (const int bytes : {1, 2, 4, 8}) {
    const auto f = kernels::copy(bytes);
    std::uint64_t value = 0;
    testing::check_layouts<2>(
        {bytes, bytes}, [&](const auto& p, const Loop2<2>& loop) { f(p[0], p[1], loop); },
        [&](std::size_t, std::size_t i) {
          value = noise(i);
          return &value;
        });
  }
  EXPECT_EQ(kernels::copy(3), nullptr);
}

TEST(CopyKernels, Transposes) {
  for (const auto& [n, m] : {std::pair<Index, Index>{100, 133}, {16, 64}, {1, 50}, {257, 3}}) {
    std::vector<std::uint32_t> x(static_cast<std::size_t>(n * m)), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint32_t>(i);
    kernels::copy(4)(y.data(), x.data(), {n, m, {1, m}, {n, 1}});
    for (Index r = 0; r < m; ++r)
      for (Index i = 0; i < n; ++i)
        ASSERT_EQ(y[static_cast<std::size_t>(r * n + i)], x[static_cast<std::size_t>(i * m + r)]);
  }
}

TEST(FillKernels, EveryStride) {
  for (const int bytes : {1, 2, 4, 8}) {
    const auto f = kernels::fill(bytes);
    testing::check_layouts<1>(
        {bytes}, [&](const auto& p, const Loop2<1>& loop) { f(p[0], 0x0123456789ABCDEF, loop); },
        [](std::size_t, std::size_t) -> const void* { return nullptr; });
  }
  EXPECT_EQ(kernels::fill(16), nullptr);
}

template <class C>
void check_where() {
  for (const int bytes : {1, 2, 4, 8}) {
    const auto f = kernels::where(bytes, dtype_of<C>);
    std::uint64_t value = 0;
    testing::check_layouts<4>(
        {bytes, static_cast<int>(sizeof(C)), bytes, bytes},
        [&](const auto& p, const Loop2<4>& loop) { f(p[0], p[1], p[2], p[3], loop); },
        [&](std::size_t k, std::size_t i) {
          value = k == 1 ? (i % 3 == 0 ? 0 : noise(i) & ~std::uint64_t{0} >> (8 * (i % 8)))
                         : noise(i + 1000 * k);
          return &value;
        });
  }
}

TEST(WhereKernels, EveryStride) {
  check_where<u8>();
  check_where<u32>();
  check_where<i64>();
  EXPECT_EQ(kernels::where(4, DType::f32), nullptr);
}

TEST(WhereKernels, TakesAnyBitOfTheCondition) {
  const i64 cond[] = {0, 1, -1, i64{1} << 40, 0};
  const f32 nan = std::numeric_limits<f32>::quiet_NaN();
  const f32 a[] = {nan, 1, 2, 3, nan}, b[] = {4, nan, nan, nan, 5};
  f32 y[5];
  kernels::where(4, DType::i64)(y, cond, a, b, {5, 1, {1, 1, 1, 1}, {0, 0, 0, 0}});
  const f32 want[] = {4, 1, 2, 3, 5};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(y[i], want[i]);
}

}  // namespace
}  // namespace wick
