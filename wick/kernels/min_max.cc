// SPDX-License-Identifier: Apache-2.0
// Plain loops over integers, which compilers turn into the vector code of each instruction set.
#include "wick/kernels/min_max.h"

#include <tuple>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/min_max.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef WICK_KERNELS_MIN_MAX_TABLE_
#define WICK_KERNELS_MIN_MAX_TABLE_
namespace wick::kernels {
using RangeTable =
    std::tuple<RangeFn<u8>, RangeFn<u32>, RangeFn<i16>, RangeFn<i32>, RangeFn<i64>, RangeFn<bf16>,
               RangeFn<f16>, RangeFn<f32>, RangeFn<f64>, RangeFn<f8e4m3>>;
}  // namespace wick::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE KeyOf<T> KeyAt(const T* x, Index i) {
  return order_key<T>(std::bit_cast<KeyOf<T>>(x[i]));
}

template <class T>
HWY_INLINE void WidenRange(KeyOf<T>& low, KeyOf<T>& high, KeyOf<T> key) {
  low = key < low ? key : low;
  high = key > high ? key : high;
}

template <class T>
Range<T> RunRange(Range<T> so_far, const T* HWY_RESTRICT x, Index n, Index stride) {
  KeyOf<T> low = so_far.low, high = so_far.high;
  if (stride == 1) {
    for (Index i = 0; i < n; ++i) WidenRange<T>(low, high, KeyAt(x, i));
  } else {
    for (Index i = 0; i < n; ++i) WidenRange<T>(low, high, KeyAt(x, i * stride));
  }
  return {low, high};
}

template <class T>
void MinMax(Range<T>* out, const T* x, const ReduceLoop& loop) {
  using K = KeyOf<T>;
  constexpr K kLowest = std::numeric_limits<K>::min(), kHighest = std::numeric_limits<K>::max();
  if (one_by_one(loop)) {
    for (Index c = 0; c < loop.cols; ++c) {
      ReduceCursor cursor(loop);
      Range<T> range{kHighest, kLowest};
      for (Index at = loop.begin; at < loop.end;) {
        Index offset = 0;
        const Index run = cursor.next(loop.end - at, &offset);
        range = RunRange(range, x + c * loop.col_stride + offset, run, loop.strides[0]);
        at += run;
      }
      out[c] = range;
    }
    return;
  }
  K low[kReduceCols], high[kReduceCols];
  std::fill_n(low, kReduceCols, kHighest);
  std::fill_n(high, kReduceCols, kLowest);
  ReduceCursor cursor(loop);
  for (Index at = loop.begin; at < loop.end; ++at) {
    Index offset = 0;
    cursor.next(1, &offset);
    const T* HWY_RESTRICT row = x + offset;
    if (loop.col_stride == 1) {
      for (Index c = 0; c < loop.cols; ++c) WidenRange<T>(low[c], high[c], KeyAt(row, c));
    } else {
      for (Index c = 0; c < loop.cols; ++c)
        WidenRange<T>(low[c], high[c], KeyAt(row, c * loop.col_stride));
    }
  }
  for (Index c = 0; c < loop.cols; ++c) out[c] = {low[c], high[c]};
}

RangeTable MinMaxes() {
  return {&MinMax<u8>,   &MinMax<u32>, &MinMax<i16>, &MinMax<i32>, &MinMax<i64>,
          &MinMax<bf16>, &MinMax<f16>, &MinMax<f32>, &MinMax<f64>, &MinMax<f8e4m3>};
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {
HWY_EXPORT(MinMaxes);

template <Element T>
RangeFn<T> min_max() {
  return std::get<RangeFn<T>>(HWY_DYNAMIC_DISPATCH(MinMaxes)());
}
#define WICK_MIN_MAX(T) template RangeFn<T> min_max<T>();
WICK_FOR_ELEMENTS(WICK_MIN_MAX)
#undef WICK_MIN_MAX

}  // namespace wick::kernels
#endif
