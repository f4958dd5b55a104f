// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/reduce.h"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <tuple>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/reduce.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "wick/kernels/line-inl.h"
#include "wick/kernels/sum-inl.h"

#ifndef WICK_KERNELS_REDUCE_TABLE_
#define WICK_KERNELS_REDUCE_TABLE_
namespace wick::kernels {
using SumTable = std::tuple<SumFn<u8>, SumFn<u32>, SumFn<i16>, SumFn<i32>, SumFn<i64>, SumFn<bf16>,
                            SumFn<f16>, SumFn<f32>, SumFn<f64>, SumFn<f8e4m3>, ReduceFn<i64, f64>>;
}  // namespace wick::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

// What an element is added up in.
template <class T, class P>
using Added = std::conditional_t<std::same_as<P, f64> && Int<T>, f64, Compute<T>>;

template <class T, class C>
HWY_INLINE void GatherAs(C* HWY_RESTRICT to, const T* HWY_RESTRICT x, std::size_t n, Index stride) {
  if constexpr (Float<T>) {
    Gather(to, x, n, stride);
  } else {
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<C>(x[static_cast<Index>(i) * stride]);
  }
}

/// One output, along the reduced dims, block by block.
template <class T, class P>
P FloatSumOne(const T* x, const ReduceLoop& loop) {
  using C = Added<T, P>;
  if constexpr (std::same_as<T, C>)
    if (loop.rank == 1 && loop.strides[0] == 1)
      return LineSum(x + loop.begin, static_cast<std::size_t>(loop.end - loop.begin));
  HWY_ALIGN C block[kSumBlock + kSumLanes<C>];
  ReduceCursor cursor(loop);
  f64 total = 0;
  for (Index begin = loop.begin; begin < loop.end; begin += Index{kSumBlock}) {
    const Index n = std::min<Index>(kSumBlock, loop.end - begin);
    const C* from = block;
    for (Index done = 0; done < n;) {
      Index offset = 0;
      const Index run = cursor.next(n - done, &offset);
      if constexpr (std::same_as<T, C>)
        if (run == n && loop.strides[0] == 1) from = x + offset;
      if (from == block)
        GatherAs(block + done, x + offset, static_cast<std::size_t>(run), loop.strides[0]);
      done += run;
    }
    total += static_cast<f64>(BlockSum(from, static_cast<std::size_t>(n), Identity()));
  }
  return total;
}

/// All outputs in step: row i of the reduced elements is added to row i mod kSumLanes of the
/// running sums.
template <class T, class P>
void FloatSumAcross(P* out, const T* x, const ReduceLoop& loop) {
  using C = Added<T, P>;
  constexpr std::size_t kL = kSumLanes<C>;
  constexpr std::size_t kWidth = kReduceCols;
  HWY_ALIGN C acc[kL * kWidth + kL];
  HWY_ALIGN C line[kWidth + kL];
  const auto cols = static_cast<std::size_t>(loop.cols);
  // Rows without gaps are one long row: a few columns fill the vectors too.
  const bool dense =
      Float<T> && loop.rank == 1 && loop.col_stride == 1 && loop.strides[0] == loop.cols;
  const std::size_t width = dense ? cols : (cols + kL - 1) / kL * kL;
  ReduceCursor cursor(loop);
  std::fill_n(out, cols, P{0});
  for (Index begin = loop.begin; begin < loop.end; begin += Index{kSumBlock}) {
    const auto rows = static_cast<std::size_t>(std::min<Index>(kSumBlock, loop.end - begin));
    std::fill_n(acc, std::min(rows, kL) * width + kL, C{0});
    if constexpr (Float<T>) {
      if (dense) {
        const T* from = x + begin * loop.cols;
        for (std::size_t i = 0; i < rows; i += kL)
          AddLine(acc, from + i * cols, std::min(kL, rows - i) * cols);
        FoldRows(out, acc, width, std::min(rows, kL), cols);
        continue;
      }
    }
    for (std::size_t i = 0; i < rows; ++i) {
      Index offset = 0;
      cursor.next(1, &offset);
      C* row = acc + i % kL * width;
      if constexpr (Float<T>) {
        AddLine(row, x + offset, cols, loop.col_stride);
      } else {
        GatherAs(line, x + offset, cols, loop.col_stride);
        AddLine(row, static_cast<const C*>(line), cols);
      }
    }
    FoldRows(out, acc, width, std::min(rows, kL), cols);
  }
}

template <class T, class P>
void FloatSum(P* out, const T* x, const ReduceLoop& loop) {
  if (!one_by_one(loop)) return FloatSumAcross(out, x, loop);
  for (Index c = 0; c < loop.cols; ++c) out[c] = FloatSumOne<T, P>(x + c * loop.col_stride, loop);
}

/// Integers: any order gives the same. Narrow ones are added up in 32 bits for as long as that
/// cannot overflow (a chunk of i16 or u8 never does).
template <class T>
std::uint64_t IntSumRun(const T* x, Index n, Index stride) {
  using Narrow =
      std::conditional_t<sizeof(T) <= 2, std::conditional_t<std::is_signed_v<T>, i32, u32>,
                         std::uint64_t>;
  static_assert(sizeof(T) > 2 || kReduceChunk <= Index{1} << 15);
  Narrow sum = 0;
  if (stride == 1) {
    for (Index i = 0; i < n; ++i) sum += static_cast<Narrow>(x[i]);
  } else {
    for (Index i = 0; i < n; ++i) sum += static_cast<Narrow>(x[i * stride]);
  }
  return static_cast<std::uint64_t>(sum);
}

template <class T>
void IntSum(i64* out, const T* x, const ReduceLoop& loop) {
  if (one_by_one(loop)) {
    for (Index c = 0; c < loop.cols; ++c) {
      ReduceCursor cursor(loop);
      std::uint64_t sum = 0;
      for (Index at = loop.begin; at < loop.end;) {
        Index offset = 0;
        const Index run = cursor.next(loop.end - at, &offset);
        sum += IntSumRun(x + c * loop.col_stride + offset, run, loop.strides[0]);
        at += run;
      }
      out[c] = static_cast<i64>(sum);
    }
    return;
  }
  std::uint64_t sums[kReduceCols] = {};
  ReduceCursor cursor(loop);
  for (Index at = loop.begin; at < loop.end; ++at) {
    Index offset = 0;
    cursor.next(1, &offset);
    const T* row = x + offset;
    if (loop.col_stride == 1) {
      for (Index c = 0; c < loop.cols; ++c) sums[c] += static_cast<std::uint64_t>(row[c]);
    } else {
      for (Index c = 0; c < loop.cols; ++c)
        sums[c] += static_cast<std::uint64_t>(row[c * loop.col_stride]);
    }
  }
  for (Index c = 0; c < loop.cols; ++c) out[c] = static_cast<i64>(sums[c]);
}

SumTable Sums() {
  return {&IntSum<u8>,         &IntSum<u32>,           &IntSum<i16>,        &IntSum<i32>,
          &IntSum<i64>,        &FloatSum<bf16, f64>,   &FloatSum<f16, f64>, &FloatSum<f32, f64>,
          &FloatSum<f64, f64>, &FloatSum<f8e4m3, f64>, &FloatSum<i64, f64>};
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {
HWY_EXPORT(Sums);

template <Element T>
SumFn<T> sum() {
  return std::get<SumFn<T>>(HWY_DYNAMIC_DISPATCH(Sums)());
}
ReduceFn<i64, f64> sum_i64_as_f64() {
  return std::get<ReduceFn<i64, f64>>(HWY_DYNAMIC_DISPATCH(Sums)());
}
#define WICK_SUM(T) template SumFn<T> sum<T>();
WICK_FOR_ELEMENTS(WICK_SUM)
#undef WICK_SUM

}  // namespace wick::kernels
#endif
