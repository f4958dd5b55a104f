// SPDX-License-Identifier: Apache-2.0
// Plain loops over integers, which compilers turn into the vector code of each instruction set.
#include "wick/kernels/arg_reduce.h"

#include <bit>
#include <limits>
#include <tuple>
#include <type_traits>

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

template <class T>
using Rank = std::conditional_t<
    sizeof(T) == 1, std::int8_t,
    std::conditional_t<sizeof(T) == 2, i16, std::conditional_t<sizeof(T) == 4, i32, i64>>>;
template <class T>
using BitsOf = std::make_unsigned_t<Rank<T>>;

/// The bits of an element. (Of small floats by their member: compilers make no vectors of the copy
/// that a bit_cast takes.)
template <class T>
HWY_INLINE BitsOf<T> BitsAt(const T* x) {
  if constexpr (SmallFloat<T>)
    return static_cast<BitsOf<T>>(x->bits);
  else
    return std::bit_cast<BitsOf<T>>(*x);
}

/// A signed number of T's size that is the greater the better x is. Both zeros are 0, every NaN is
/// the greatest one, which is no number's. Without branches, for the vectorizer.
template <class T, bool kMin>
HWY_INLINE Rank<T> RankOf(BitsOf<T> bits) {
  using R = Rank<T>;
  using U = BitsOf<T>;
  constexpr U kTop = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  if constexpr (Int<T>) {
    const U ordered = static_cast<U>(std::is_signed_v<T> ? bits : bits ^ kTop);
    return static_cast<R>(kMin ? ~ordered : ordered);
  } else {
    const R magnitude = static_cast<R>(bits & static_cast<U>(kTop - 1));
    const R sign = static_cast<R>(static_cast<R>(bits) >> (8 * sizeof(R) - 1));
    const R flip = static_cast<R>(kMin ? ~sign : sign);
    const R rank = static_cast<R>(static_cast<R>(magnitude ^ flip) - flip);
    return magnitude > R{largest_key<T>()} ? std::numeric_limits<R>::max() : rank;
  }
}

/// The best of n > 0 elements, by the same loop as for a maximum.
template <class T, bool kMin>
HWY_INLINE T TopOf(const T* HWY_RESTRICT x, Index n, Index stride) {
  using K = KeyOf<T>;
  K low = std::numeric_limits<K>::max(), high = std::numeric_limits<K>::min();
  const auto look = [&](const T* v) {
    const K key = order_key<T>(static_cast<K>(BitsAt(v)));
    low = key < low ? key : low;
    high = key > high ? key : high;
  };
  if (stride == 1) {
    for (Index i = 0; i < n; ++i) look(x + i);
  } else {
    for (Index i = 0; i < n; ++i) look(x + i * stride);
  }
  return Range<T>{low, high}.value(!kMin);
}

/// Where the first of n elements is that matches; there is one.
template <class T, class Match>
HWY_INLINE Index FirstMatch(const T* HWY_RESTRICT x, Index n, Index stride, Match matches) {
  using U = BitsOf<T>;
  constexpr Index kPart = 64;
  Index i = 0;
  if (stride == 1)
    for (; i + kPart <= n; i += kPart) {
      U place = kPart;
      for (Index j = 0; j < kPart; ++j) {
        const U here = matches(BitsAt(x + i + j)) ? static_cast<U>(j) : U{kPart};
        place = here < place ? here : place;
      }
      if (place < kPart) return i + static_cast<Index>(place);
    }
  while (!matches(BitsAt(x + i * stride))) ++i;
  return i;
}

/// Where the first element is that is as good as `top`.
template <class T>
Index FirstOf(T top, const T* x, Index n, Index stride) {
  using U = BitsOf<T>;
  const U wanted = BitsAt(&top);
  if constexpr (Float<T>) {
    constexpr U kMagnitude = static_cast<U>(static_cast<U>(~U{0}) >> 1);
    constexpr U kLargest = static_cast<U>(largest_key<T>());
    const U size = wanted & kMagnitude;
    if (size == 0)  // -0 and 0 are one
      return FirstMatch(x, n, stride, [](U bits) { return (bits & kMagnitude) == 0; });
    if (size > kLargest)  // any NaN
      return FirstMatch(x, n, stride, [](U bits) { return (bits & kMagnitude) > kLargest; });
  }
  return FirstMatch(x, n, stride, [wanted](U bits) { return bits == wanted; });
}

/// One output. Only the part that holds the best element is searched for its place.
template <class T, bool kMin>
Best ArgOne(const T* x, const ReduceLoop& loop) {
  constexpr Index kPart = sizeof(T) >= 4 ? 512 : 1024;
  ReduceCursor cursor(loop);
  i64 best = std::numeric_limits<i64>::min();
  T best_element{};
  const T* part = x;  // of the best so far; none: all have the lowest rank of 64 bits
  Index count = 0, first = loop.begin;
  for (Index at = loop.begin; at < loop.end;) {
    Index offset = 0;
    const Index run = cursor.next(loop.end - at, &offset);
    for (Index i = 0; i < run; i += kPart) {
      const T* from = x + offset + i * loop.strides[0];
      const Index n = std::min(kPart, run - i);
      const T top = TopOf<T, kMin>(from, n, loop.strides[0]);
      const i64 rank = RankOf<T, kMin>(BitsAt(&top));
      if (rank <= best) continue;
      best = rank;
      best_element = top;
      part = from;
      count = n;
      first = at + i;
    }
    at += run;
  }
  if (count > 0) first += FirstOf(best_element, part, count, loop.strides[0]);
  return {best, first};
}

/// row[c] against the best of each output so far.
template <class T, bool kMin>
HWY_INLINE void ChallengeRow(Rank<T>* HWY_RESTRICT best, Rank<T>* HWY_RESTRICT index,
                             const T* HWY_RESTRICT row, Index cols, Index stride, Rank<T> number) {
  using R = Rank<T>;
  for (Index c = 0; c < cols; ++c) {
    const R rank = RankOf<T, kMin>(BitsAt(row + c * stride));
    const bool better = rank > best[c];
    best[c] = better ? rank : best[c];
    index[c] = better ? number : index[c];
  }
}

template <class T, bool kMin>
void ArgBest(Best* out, const T* x, const ReduceLoop& loop) {
  using R = Rank<T>;
  if (one_by_one(loop)) {
    for (Index c = 0; c < loop.cols; ++c) out[c] = ArgOne<T, kMin>(x + c * loop.col_stride, loop);
    return;
  }
  // As many rows at a time as an index of T's size can count.
  constexpr Index kRows = std::min<Index>(kReduceChunk, std::numeric_limits<R>::max());
  R best[kReduceCols], index[kReduceCols];
  ReduceCursor cursor(loop);
  for (Index begin = loop.begin; begin < loop.end; begin += kRows) {
    std::fill_n(best, kReduceCols, std::numeric_limits<R>::min());
    std::fill_n(index, kReduceCols, R{0});
    const Index rows = std::min(kRows, loop.end - begin);
    for (Index i = 0; i < rows; ++i) {
      Index offset = 0;
      cursor.next(1, &offset);
      if (loop.col_stride == 1)
        ChallengeRow<T, kMin>(best, index, x + offset, loop.cols, 1, static_cast<R>(i));
      else
        ChallengeRow<T, kMin>(best, index, x + offset, loop.cols, loop.col_stride,
                              static_cast<R>(i));
    }
    for (Index c = 0; c < loop.cols; ++c) {
      const Best found{i64{best[c]}, begin + Index{index[c]}};
      out[c] = begin == loop.begin ? found : merge(out[c], found);
    }
  }
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
