// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/compare.h"

#include <gtest/gtest.h>

#include "tests/all_isas.h"
#include "tests/kernels/layouts.h"

namespace wick {
namespace {

using testing::samples;

template <class C>
bool meaning_of(CompareOp op, C a, C b) {
  switch (op) {
#define WICK_COMPARE(name, meaning, doc) \
  case CompareOp::name: return meaning;
#include "wick/core/ops.inc"
  }
  return false;
}

template <class T>
auto value(T x) {
  if constexpr (SmallFloat<T>)
    return to_f32(x);
  else
    return x;
}

template <Element T>
void check() {
  const std::vector<T> x = samples<T>(64);
  std::vector<T> a, b;
  for (const T p : x) {
    for (const T q : x) {
      a.push_back(p);
      b.push_back(q);
    }
  }
  constexpr int kBytes = static_cast<int>(sizeof(T));
  testing::for_each_isa([&] {
    for (int i = 0; i < static_cast<int>(std::size(kCompareOps)); ++i) {
      const auto op = static_cast<CompareOp>(i);
      const auto f = kernels::compare<T>(op);
      std::vector<u8> y(a.size(), 7);
      f(y.data(), a.data(), b.data(), {static_cast<Index>(y.size()), 1, {1, 1, 1}, {0, 0, 0}});
      for (std::size_t k = 0; k < y.size(); ++k)
        ASSERT_EQ(y[k], meaning_of(op, value(a[k]), value(b[k])) ? 1 : 0)
            << name(dtype_of<T>) << " " << info(op).name << "(" << +value(a[k]) << ", "
            << +value(b[k]) << ")";
    }
    const auto f = kernels::compare<T>(CompareOp::lt);
    testing::check_layouts<3>(
        {1, kBytes, kBytes},
        [&](const auto& p, const Loop2<3>& loop) {
          f(static_cast<u8*>(p[0]), static_cast<const T*>(p[1]), static_cast<const T*>(p[2]), loop);
        },
        [&](std::size_t k, std::size_t n) { return &x[n * (2 * k + 1) % x.size()]; });
  });
}

TEST(CompareKernels, MeanWhatTheTableSays) {
#define WICK_CHECK(T) check<T>();
  WICK_FOR_ELEMENTS(WICK_CHECK)
#undef WICK_CHECK
}

}  // namespace
}  // namespace wick
