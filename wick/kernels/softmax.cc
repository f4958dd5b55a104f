// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/softmax.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "wick/kernels/reduce.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/softmax.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "wick/kernels/line-inl.h"
#include "wick/kernels/math-inl.h"
#include "wick/kernels/sum-inl.h"

#ifndef WICK_KERNELS_SOFTMAX_TABLE_
#define WICK_KERNELS_SOFTMAX_TABLE_
namespace wick::kernels {
using SoftmaxTable =
    std::tuple<SoftmaxFn<bf16>, SoftmaxFn<f16>, SoftmaxFn<f32>, SoftmaxFn<f64>, SoftmaxFn<f8e4m3>>;
}  // namespace wick::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

/// The larger one; a NaN in either wins.
template <class D, class V>
HWY_INLINE V MaxOrNaN(D, V so_far, V x) {
  return hn::IfThenElse(hn::Or(hn::Gt(x, so_far), hn::IsNaN(x)), x, so_far);
}
/// The maximum of n > 0 elements; -0 counts as +0. Reads whole vectors.
template <class C>
HWY_INLINE C LineMax(const C* x, std::size_t n) {
  const hn::ScalableTag<C> d;
  constexpr std::size_t kN = hn::MaxLanes(d);
  constexpr std::size_t kParts = 4;
  const auto lowest = hn::Set(d, -std::numeric_limits<C>::infinity());
  hn::Vec<decltype(d)> top[kParts];
  for (auto& t : top) t = lowest;
  std::size_t i = 0;
  for (; i + kParts * kN <= n; i += kParts * kN)
    for (std::size_t p = 0; p < kParts; ++p)
      top[p] = MaxOrNaN(d, top[p], hn::LoadU(d, x + i + p * kN));
  for (; i + kN <= n; i += kN) top[0] = MaxOrNaN(d, top[0], hn::LoadU(d, x + i));
  if (i < n) {
    const auto rest = hn::IfThenElse(hn::FirstN(d, n - i), hn::LoadU(d, x + i), lowest);
    top[1] = MaxOrNaN(d, top[1], rest);
  }
  const auto all = MaxOrNaN(d, MaxOrNaN(d, top[0], top[1]), MaxOrNaN(d, top[2], top[3]));
  if (!hn::AllFalse(d, hn::IsNaN(all))) return std::numeric_limits<C>::quiet_NaN();
  return hn::GetLane(hn::MaxOfLanes(d, all)) + C{0};
}

/// e[i] = e^(x[i] - max) for n <= kSumBlock elements by whole vectors, and the sum of them.
template <class C>
HWY_INLINE C ExpBlock(C* e, const C* x, std::size_t n, C max) {
  const hn::ScalableTag<C> d;
  constexpr std::size_t kN = hn::MaxLanes(d);
  constexpr std::size_t kParts = kSumLanes<C> / kN;
  const auto shift = hn::Set(d, max);
  hn::Vec<decltype(d)> acc[kParts];
  for (auto& part : acc) part = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kSumLanes<C> <= n; i += kSumLanes<C>)
    for (std::size_t p = 0; p < kParts; ++p) {
      const auto v = Exp(d, hn::Sub(hn::LoadU(d, x + i + p * kN), shift));
      hn::StoreU(v, d, e + i + p * kN);
      acc[p] = hn::Add(acc[p], v);
    }
  for (std::size_t p = 0; i < n; ++p, i += kN) {
    const auto v = Exp(d, hn::Sub(hn::LoadU(d, x + i), shift));
    hn::StoreU(v, d, e + i);
    acc[p] = hn::Add(acc[p], n - i < kN ? hn::IfThenElseZero(hn::FirstN(d, n - i), v) : v);
  }
  HWY_ALIGN C lanes[kSumLanes<C>];
  for (std::size_t p = 0; p < kParts; ++p) hn::Store(acc[p], d, lanes + p * kN);
  return TreeSum(lanes);
}

template <class T, bool kLog>
void SoftmaxLine(T* y, const T* x, const LineLoop& l, Compute<T>* buffer) {
  using C = Compute<T>;
  const auto n = static_cast<std::size_t>(l.n);
  HWY_ALIGN C block[kSumBlock];
  const C* from = buffer;
  if constexpr (std::same_as<T, C>)
    if (l.x_step == 1 && l.n % 16 == 0) from = x;  // whole vectors only
  if (from == buffer) Gather(buffer, x, n, l.x_step);
  const C max = LineMax(from, n);
  f64 total = 0;
  for (std::size_t i = 0; i < n; i += kSumBlock)
    total += static_cast<f64>(
        ExpBlock(kLog ? block : buffer + i, from + i, std::min(kSumBlock, n - i), max));
  const hn::ScalableTag<C> tag;
  const auto shift = hn::Set(tag, max);
  const auto scale = hn::Set(tag, static_cast<C>(kLog ? std::log(total) : 1.0 / total));
  Emit(y, l.y_step, kLog ? from : buffer, n, [&](auto, auto v, std::size_t) HWY_ATTR {
    if constexpr (kLog)
      return hn::Sub(hn::Sub(v, shift), scale);
    else
      return hn::Mul(v, scale);
  });
}

/// Lines side by side: every step of SoftmaxLine on all of them at once.
template <class T, bool kLog>
void SoftmaxTile(T* y, const T* x, const LineLoop& l, std::size_t lines, Compute<T>* buffer) {
  using C = Compute<T>;
  const hn::ScalableTag<C> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t kL = kSumLanes<C>;
  constexpr std::size_t kWidth = kSoftmaxLines;
  HWY_ALIGN C acc[kL * kWidth + kL];
  HWY_ALIGN C max[kWidth + kL] = {};
  HWY_ALIGN C scale[kWidth + kL];
  f64 total[kWidth] = {};
  const auto n = static_cast<std::size_t>(l.n);
  const std::size_t width = (lines + kL - 1) / kL * kL;
  std::fill_n(max, width, -std::numeric_limits<C>::infinity());
  for (std::size_t i = 0; i < n; ++i) {
    C* row = buffer + i * width;
    Gather(row, x + static_cast<Index>(i) * l.x_step, lines, l.x_line);
    for (std::size_t c = 0; c < lines; c += lanes)
      hn::Store(MaxOrNaN(d, hn::Load(d, max + c), hn::LoadU(d, row + c)), d, max + c);
  }
  for (std::size_t c = 0; c < lines; ++c) max[c] += C{0};
  for (std::size_t begin = 0; begin < n; begin += kSumBlock) {
    const std::size_t rows = std::min(kSumBlock, n - begin);
    std::fill_n(acc, std::min(rows, kL) * width, C{0});
    for (std::size_t i = 0; i < rows; ++i) {
      C* row = buffer + (begin + i) * width;
      C* sums = acc + i % kL * width;
      for (std::size_t c = 0; c < lines; c += lanes) {
        const auto e = Exp(d, hn::Sub(hn::LoadU(d, row + c), hn::Load(d, max + c)));
        if constexpr (!kLog) hn::StoreU(e, d, row + c);
        hn::Store(hn::Add(hn::Load(d, sums + c), e), d, sums + c);
      }
    }
    FoldRows(total, acc, width, std::min(rows, kL), lines);
  }
  for (std::size_t c = 0; c < lines; ++c)
    scale[c] = static_cast<C>(kLog ? std::log(total[c]) : 1.0 / total[c]);
  for (std::size_t i = 0; i < n; ++i)
    Emit(y + static_cast<Index>(i) * l.y_step, l.y_line, buffer + i * width, lines,
         [&](auto tag, auto v, std::size_t c) HWY_ATTR {
           const auto s = hn::LoadU(tag, scale + c);
           if constexpr (kLog)
             return hn::Sub(hn::Sub(v, hn::LoadU(tag, max + c)), s);
           else
             return hn::Mul(v, s);
         });
}

template <class T, bool kLog>
void Softmax(T* y, const T* x, const LineLoop& l, Compute<T>* scratch) {
  // Long lines are worth their vectors only where many lie side by side.
  const bool across = softmax_across(l.n, l.x_step) && l.lines >= (l.n < 32 ? 8 : 16) &&
                      (l.n < 32 || std::abs(l.x_line) < std::abs(l.x_step));
  const Index step = across ? softmax_tile(l.n) : 1;
  for (Index i = 0; i < l.lines; i += step) {
    T* to = y + i * l.y_line;
    const T* from = x + i * l.x_line;
    if (across) {
      SoftmaxTile<T, kLog>(to, from, l, static_cast<std::size_t>(std::min(step, l.lines - i)),
                           scratch);
    } else {
      SoftmaxLine<T, kLog>(to, from, l, scratch);
    }
  }
}

template <bool kLog>
SoftmaxTable Table() {
  return {&Softmax<bf16, kLog>, &Softmax<f16, kLog>, &Softmax<f32, kLog>, &Softmax<f64, kLog>,
          &Softmax<f8e4m3, kLog>};
}
SoftmaxTable Softmaxes() { return Table<false>(); }
SoftmaxTable LogSoftmaxes() { return Table<true>(); }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {
HWY_EXPORT(Softmaxes);
HWY_EXPORT(LogSoftmaxes);

template <Float T>
SoftmaxFn<T> softmax() {
  return std::get<SoftmaxFn<T>>(HWY_DYNAMIC_DISPATCH(Softmaxes)());
}
template <Float T>
SoftmaxFn<T> log_softmax() {
  return std::get<SoftmaxFn<T>>(HWY_DYNAMIC_DISPATCH(LogSoftmaxes)());
}
#define WICK_SOFTMAX(T)               \
  template SoftmaxFn<T> softmax<T>(); \
  template SoftmaxFn<T> log_softmax<T>();
WICK_FOR_FLOATS(WICK_SOFTMAX)
#undef WICK_SOFTMAX

}  // namespace wick::kernels
#endif
