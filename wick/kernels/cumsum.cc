// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/cumsum.h"

#include <algorithm>
#include <cstdlib>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/cumsum.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "wick/kernels/wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t kCols = 256;  // lines side by side
constexpr std::size_t kChains = 8;  // lines one after the other: hides the latency of additions
constexpr std::size_t kRun = 256;   // their elements at a time

/// Lines that lie side by side: vectors across them.
template <class T>
void CumsumAcross(T* y, const T* x, const LineLoop& l, std::size_t lines) {
  const hn::ScalableTag<f64> d;
  HWY_ALIGN f64 sums[kCols + 16] = {};
  HWY_ALIGN f64 row[kCols + 16] = {};
  for (Index i = 0; i < l.n; ++i) {
    Widen(row, x + i * l.x_step, lines, l.x_line);
    for (std::size_t c = 0; c < lines; c += hn::Lanes(d))
      hn::Store(hn::Add(hn::Load(d, sums + c), hn::Load(d, row + c)), d, sums + c);
    Narrow(y + i * l.y_step, sums, lines, l.y_line);
  }
}

/// Up to kChains lines, each along its elements.
template <class T>
void CumsumAlong(T* y, const T* x, const LineLoop& l, std::size_t lines) {
  HWY_ALIGN f64 runs[kChains][kRun + 16] = {};
  f64 sums[kChains] = {};
  for (Index begin = 0; begin < l.n; begin += Index{kRun}) {
    const auto n = static_cast<std::size_t>(std::min<Index>(kRun, l.n - begin));
    for (std::size_t c = 0; c < lines; ++c)
      Widen(runs[c], x + static_cast<Index>(c) * l.x_line + begin * l.x_step, n, l.x_step);
    if (lines == 1) {
      f64 sum = sums[0];
      for (std::size_t i = 0; i < n; ++i) runs[0][i] = sum += runs[0][i];
      sums[0] = sum;
    } else {
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < kChains; ++c) runs[c][i] = sums[c] += runs[c][i];
    }
    for (std::size_t c = 0; c < lines; ++c)
      Narrow(y + static_cast<Index>(c) * l.y_line + begin * l.y_step, runs[c], n, l.y_step);
  }
}

template <class T>
void Cumsum(T* y, const T* x, const LineLoop& l) {
  const bool across = l.lines >= 16 && (l.n < 32 || std::abs(l.x_line) < std::abs(l.x_step));
  const auto step = static_cast<Index>(across ? kCols : kChains);
  for (Index i = 0; i < l.lines; i += step) {
    const auto lines = static_cast<std::size_t>(std::min(step, l.lines - i));
    if (across)
      CumsumAcross(y + i * l.y_line, x + i * l.x_line, l, lines);
    else
      CumsumAlong(y + i * l.y_line, x + i * l.x_line, l, lines);
  }
}

// HWY_EXPORT wants plain functions.
#define WICK_CUMSUM(T) \
  CumsumFn<T> Cumsum_##T() { return &Cumsum<T>; }
WICK_FOR_FLOATS(WICK_CUMSUM)
#undef WICK_CUMSUM

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

#define WICK_EXPORT(T)                         \
  HWY_EXPORT(Cumsum_##T);                      \
  template <>                                  \
  CumsumFn<T> cumsum<T>() {                    \
    return HWY_DYNAMIC_DISPATCH(Cumsum_##T)(); \
  }
WICK_FOR_FLOATS(WICK_EXPORT)
#undef WICK_EXPORT

namespace {

/// Some lines in step: hides the latency of additions, and those side by side share cache
/// lines.
template <Int T>
void cumsum_of_ints(i64* y, const T* x, const LineLoop& l) {
  constexpr Index kLines = 64;
  // Lines far apart might all fall on the same places of the cache.
  const Index most = std::abs(l.x_line) < std::abs(l.x_step) ? kLines : 4;
  for (Index first = 0; first < l.lines; first += most) {
    const Index lines = std::min(most, l.lines - first);
    std::uint64_t sums[kLines] = {};
    for (Index i = 0; i < l.n; ++i) {
      const T* from = x + first * l.x_line + i * l.x_step;
      i64* to = y + first * l.y_line + i * l.y_step;
      for (Index c = 0; c < lines; ++c) {
        sums[c] += static_cast<std::uint64_t>(from[c * l.x_line]);
        to[c * l.y_line] = static_cast<i64>(sums[c]);
      }
    }
  }
}

}  // namespace

template <Int T>
CumsumFn<T> int_cumsum() {
  return &cumsum_of_ints<T>;
}
#define WICK_EXPORT(T)      \
  template <>               \
  CumsumFn<T> cumsum<T>() { \
    return int_cumsum<T>(); \
  }
WICK_FOR_INTS(WICK_EXPORT)
#undef WICK_EXPORT

}  // namespace wick::kernels
#endif
