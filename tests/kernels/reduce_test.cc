// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/reduce.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/all_isas.h"
#include "wick/kernels/arg_reduce.h"
#include "wick/kernels/min_max.h"

namespace wick::kernels {
namespace {

using testing::for_each_isa;

/// The order of summation, written down once more and plainly.
template <class C>
f64 sum_in_order(const std::vector<C>& x) {
  constexpr std::size_t kLanes = 64 / sizeof(C);
  f64 total = 0;
  for (std::size_t begin = 0; begin < x.size(); begin += 1024) {
    C lanes[kLanes] = {};
    for (std::size_t i = begin; i < std::min(x.size(), begin + 1024); ++i)
      lanes[i % kLanes] += x[i];
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
      for (std::size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    total += static_cast<f64>(lanes[0]);
  }
  return total;
}

template <class T>
void check_sums() {
  using C = Compute<T>;
  std::mt19937_64 engine(7);
  std::normal_distribution<float> draw;
  for (const Index n : {0, 1, 3, 15, 16, 17, 100, 1023, 1025, 5000})
    for (const Index cols : {1, 3, 37, 256}) {
      if (n * cols > 200000) continue;
      for (const bool inner : {true, false}) {
        std::vector<T> x(static_cast<std::size_t>(n * cols));
        for (T& v : x) v = convert<T>(draw(engine));
        ReduceLoop loop;
        loop.shape[0] = n == 0 ? 1 : n;
        loop.strides[0] = inner ? 1 : cols;
        loop.end = n;
        loop.cols = cols;
        loop.col_stride = inner ? n : 1;
        f64 got[kReduceCols];
        sum<T>()(got, x.data(), loop);
        for (Index c = 0; c < cols; ++c) {
          std::vector<C> column;
          for (Index i = 0; i < n; ++i)
            column.push_back(
                convert<C>(x[static_cast<std::size_t>(i * loop.strides[0] + c * loop.col_stride)]));
          ASSERT_EQ(got[c], sum_in_order(column)) << n << " x " << cols << ", inner " << inner;
        }
      }
    }
}

TEST(ReduceKernel, EveryIsaAddsInTheSameOrder) {
  for_each_isa([] {
    check_sums<f32>();
    check_sums<f64>();
    check_sums<f16>();
    check_sums<bf16>();
    check_sums<f8e4m3>();
  });
}

TEST(ReduceKernel, SeveralDimsInAnyLayout) {
  // Three dims with strides of every kind: the order is that of the row-major copy.
  std::mt19937_64 engine(8);
  std::normal_distribution<float> draw;
  std::vector<f32> x(20 * 30 * 11 * 2);
  for (f32& v : x) v = draw(engine);
  ReduceLoop loop;
  loop.rank = 3;
  loop.shape = {30, 11, 20};
  for (const auto& strides : {std::array<Index, 3>{1, 30, 330}, {20, 600, 1}, {2, 60, 660}}) {
    std::copy(strides.begin(), strides.end(), loop.strides.begin());
    loop.end = 30 * 11 * 20;
    loop.cols = 2;
    for (const Index col_stride : {0, 1}) {
      loop.col_stride = col_stride;
      for_each_isa([&] {
        f64 got[kReduceCols];
        sum<f32>()(got, x.data(), loop);
        for (Index c = 0; c < 2; ++c) {
          std::vector<f32> column;
          for (Index k = 0; k < 20; ++k)
            for (Index j = 0; j < 11; ++j)
              for (Index i = 0; i < 30; ++i)
                column.push_back(x[static_cast<std::size_t>(i * strides[0] + j * strides[1] +
                                                            k * strides[2] + c * col_stride)]);
          ASSERT_EQ(got[c], sum_in_order(column));
        }
      });
    }
  }
}

template <class T>
void check_extremes() {
  std::mt19937_64 engine(9);
  for (const Index n : {1, 2, 31, 33, 100, 1000})
    for (const Index cols : {1, 3, 64}) {
      std::vector<T> x(static_cast<std::size_t>(n * cols));
      for (T& v : x) {
        v = convert<T>(static_cast<i64>(engine() % 200) -
                       (std::is_signed_v<T> || Float<T> ? 100 : 0));
      }
      for (const bool inner : {true, false}) {
        ReduceLoop loop;
        loop.shape[0] = n;
        loop.strides[0] = inner ? 1 : cols;
        loop.end = n;
        loop.cols = cols;
        loop.col_stride = inner ? n : 1;
        Range<T> range[kReduceCols];
        Best most[kReduceCols], least[kReduceCols];
        min_max<T>()(range, x.data(), loop);
        arg_max<T>()(most, x.data(), loop);
        arg_min<T>()(least, x.data(), loop);
        for (Index c = 0; c < cols; ++c) {
          const auto at = [&](Index i) {
            return convert<f64>(
                x[static_cast<std::size_t>(i * loop.strides[0] + c * loop.col_stride)]);
          };
          Index top = 0, bottom = 0;
          for (Index i = 1; i < n; ++i) {
            if (at(i) > at(top)) top = i;
            if (at(i) < at(bottom)) bottom = i;
          }
          ASSERT_EQ(convert<f64>(range[c].value(true)), at(top));
          ASSERT_EQ(convert<f64>(range[c].value(false)), at(bottom));
          ASSERT_EQ(most[c].index, top);
          ASSERT_EQ(least[c].index, bottom);
        }
      }
    }
}

TEST(ReduceKernel, ExtremesOnEveryIsa) {
  for_each_isa([] {
#define WICK_CHECK(T) check_extremes<T>();
    WICK_FOR_ELEMENTS(WICK_CHECK)
#undef WICK_CHECK
  });
}

}  // namespace
}  // namespace wick::kernels
