// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <limits>

#include "wick/core/convert.h"
#include "wick/kernels/reduce.h"

namespace wick::kernels {

/// The number type whose order stands for the order of T: T itself for integers, for floats the
/// signed integer of their size.
template <Element T>
using KeyOf = std::conditional_t<
    Int<T>, T,
    std::conditional_t<
        sizeof(T) == 1, std::int8_t,
        std::conditional_t<sizeof(T) == 2, i16, std::conditional_t<sizeof(T) == 4, i32, i64>>>>;

/// Floats in the order -NaN, -inf, ..., -0, +0, ..., inf, NaN as integers in the usual order (the
/// total order of IEEE 754); its own inverse. Integers stay as they are.
template <Element T>
constexpr KeyOf<T> order_key(KeyOf<T> bits) {
  if constexpr (Int<T>) return bits;
  constexpr auto kAll = std::numeric_limits<KeyOf<T>>::max();
  return static_cast<KeyOf<T>>(bits < 0 ? bits ^ kAll : bits);
}

/// The key of the largest number: infinity, or what is largest without one.
template <Float T>
constexpr KeyOf<T> largest_key() {
  if constexpr (std::same_as<T, f32> || std::same_as<T, f64>)
    return std::bit_cast<KeyOf<T>>(std::numeric_limits<T>::infinity());
  else
    return std::bit_cast<KeyOf<T>>(detail::round_to<T>(std::numeric_limits<float>::infinity()));
}

/// The least and the greatest key of a set. That a NaN was in it shows: its key lies outside those
/// of numbers.
template <Element T>
struct Range {
  KeyOf<T> low;
  KeyOf<T> high;

  constexpr T value(bool greatest) const {
    if constexpr (Float<T>) {
      if (high > largest_key<T>() ||
          low < order_key<T>(
                    static_cast<KeyOf<T>>(largest_key<T>() | std::numeric_limits<KeyOf<T>>::min())))
        return convert<T>(std::numeric_limits<float>::quiet_NaN());
    }
    return std::bit_cast<T>(order_key<T>(greatest ? high : low));
  }
  friend constexpr Range merge(Range a, Range b) {
    return {b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high};
  }
};

/// Least and greatest element. The order of the elements does not matter, not even for zeros: -0 is
/// less than +0.
template <Element T>
using RangeFn = ReduceFn<T, Range<T>>;
template <Element T>
RangeFn<T> min_max();

}  // namespace wick::kernels
