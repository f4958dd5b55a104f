// SPDX-License-Identifier: Apache-2.0
// Plain loops over integers, which compilers turn into the vector code of each instruction set.
#include "wick/kernels/arg_reduce.h"

#include <bit>
#include <limits>
#include <tuple>

#include "wick/kernels/min_max.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/arg_reduce.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef WICK_KERNELS_ARG_REDUCE_TABLE_
#define WICK_KERNELS_ARG_REDUCE_TABLE_
namespace wick::kernels {
using BestTable = std::tuple<BestFn<u8>, BestFn<u32>, BestFn<i16>, BestFn<i32>, BestFn<i64>,
                             BestFn<bf16>, BestFn<f16>, BestFn<f32>, BestFn<f64>, BestFn<f8e4m3>>;
}  // namespace wick::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

/// A signed number that is the greater the better x is. Both zeros are 0, every NaN is the greatest
/// one, which is no number's.
template <class T, bool kMin>
HWY_INLINE auto RankOf(T x) {
  using R = std::conditional_t<sizeof(T) == 8, i64, i32>;
  if constexpr (std::same_as<T, u32>) {
    const auto rank = static_cast<R>(x ^ 0x80000000U);
    return kMin ? ~rank : rank;
  } else if constexpr (Int<T>) {
    return kMin ? ~static_cast<R>(x) : static_cast<R>(x);
  } else {
    // Without branches, for the vectorizer.
    using K = KeyOf<T>;
    K bits;
    if constexpr (SmallFloat<T>) {
      bits = static_cast<K>(x.bits);
    } else {
      bits = std::bit_cast<K>(x);
    }
    const auto magnitude = static_cast<R>(bits & std::numeric_limits<K>::max());
    const R sign = static_cast<R>(bits) >> (8 * sizeof(R) - 1);
    const R flip = kMin ? ~sign : sign;
    const R nan = -static_cast<R>(magnitude > R{largest_key<T>()});
    return (((magnitude ^ flip) - flip) & ~nan) | (std::numeric_limits<R>::max() & nan);
  }
}
template <class T>
using RankType = decltype(RankOf<T, false>(T{}));

/// The best of a run of n elements that starts with number `first`; later ones must be better.
template <class T, bool kMin>
Best RunBest(Best best, const T* HWY_RESTRICT x, Index n, Index stride, Index first) {
  using R = RankType<T>;
  constexpr Index kPart = 512;
  for (Index i = 0; i < n; i += kPart) {
    const Index count = std::min(kPart, n - i);
    const T* HWY_RESTRICT part = x + i * stride;
    R top = std::numeric_limits<R>::min();
    if (stride == 1) {
      for (Index j = 0; j < count; ++j) {
        const R rank = RankOf<T, kMin>(part[j]);
        top = rank > top ? rank : top;
      }
    } else {
      for (Index j = 0; j < count; ++j) {
        const R rank = RankOf<T, kMin>(part[j * stride]);
        top = rank > top ? rank : top;
      }
    }
    if (i64{top} <= best.key) continue;
    R place = kPart;  // of the first that is as good
    for (Index j = 0; j < count; ++j) {
      const R here = RankOf<T, kMin>(part[j * stride]) == top ? static_cast<R>(j) : R{kPart};
      place = here < place ? here : place;
    }
    best = {i64{top}, first + i + Index{place}};
  }
  return best;
}

template <class R>
HWY_INLINE void Challenge(R& best, R& index, R rank, R number) {
  const bool better = rank > best;
  best = better ? rank : best;
  index = better ? number : index;
}

template <class T, bool kMin>
void ArgBest(Best* out, const T* x, const ReduceLoop& loop) {
  using R = RankType<T>;
  constexpr R kWorst = std::numeric_limits<R>::min();
  if (one_by_one(loop)) {
    for (Index c = 0; c < loop.cols; ++c) {
      ReduceCursor cursor(loop);
      Best best{i64{kWorst}, loop.begin};
      for (Index at = loop.begin; at < loop.end;) {
        Index offset = 0;
        const Index run = cursor.next(loop.end - at, &offset);
        best = RunBest<T, kMin>(best, x + c * loop.col_stride + offset, run, loop.strides[0], at);
        at += run;
      }
      out[c] = best;
    }
    return;
  }
  R best[kReduceCols], index[kReduceCols];  // counted from begin: fits any R
  std::fill_n(best, kReduceCols, kWorst);
  std::fill_n(index, kReduceCols, R{0});
  ReduceCursor cursor(loop);
  for (Index at = loop.begin; at < loop.end; ++at) {
    Index offset = 0;
    cursor.next(1, &offset);
    const T* HWY_RESTRICT row = x + offset;
    const auto number = static_cast<R>(at - loop.begin);
    if (loop.col_stride == 1) {
      for (Index c = 0; c < loop.cols; ++c)
        Challenge<R>(best[c], index[c], RankOf<T, kMin>(row[c]), number);
    } else {
      for (Index c = 0; c < loop.cols; ++c)
        Challenge<R>(best[c], index[c], RankOf<T, kMin>(row[c * loop.col_stride]), number);
    }
  }
  for (Index c = 0; c < loop.cols; ++c) out[c] = {i64{best[c]}, loop.begin + Index{index[c]}};
}

template <bool kMin>
BestTable Bests() {
  return {&ArgBest<u8, kMin>,  &ArgBest<u32, kMin>,   &ArgBest<i16, kMin>, &ArgBest<i32, kMin>,
          &ArgBest<i64, kMin>, &ArgBest<bf16, kMin>,  &ArgBest<f16, kMin>, &ArgBest<f32, kMin>,
          &ArgBest<f64, kMin>, &ArgBest<f8e4m3, kMin>};
}
BestTable ArgMaxes() { return Bests<false>(); }
BestTable ArgMins() { return Bests<true>(); }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {
HWY_EXPORT(ArgMaxes);
HWY_EXPORT(ArgMins);

template <Element T>
BestFn<T> arg_max() {
  return std::get<BestFn<T>>(HWY_DYNAMIC_DISPATCH(ArgMaxes)());
}
template <Element T>
BestFn<T> arg_min() {
  return std::get<BestFn<T>>(HWY_DYNAMIC_DISPATCH(ArgMins)());
}
#define WICK_ARG_BEST(T)           \
  template BestFn<T> arg_max<T>(); \
  template BestFn<T> arg_min<T>();
WICK_FOR_ELEMENTS(WICK_ARG_BEST)
#undef WICK_ARG_BEST

}  // namespace wick::kernels
#endif
