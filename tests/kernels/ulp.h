// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

namespace wick::testing {

/// How far `got` is from the exact value, in units of the last place that the format T has there
/// (Muller's definition; below the normal range the smallest subnormal). Where the exact value
/// rounds to an infinity, the largest finite number is one unit away. A NaN on one side only, or
/// the wrong sign of a zero, is infinitely far.
template <std::floating_point T>
double ulp_error(T got, long double exact) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  using L = std::numeric_limits<T>;
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : kFar;
  const T near = static_cast<T>(exact);
  if (std::isinf(exact)) return near == got ? 0 : kFar;
  if (std::isinf(near) || std::isinf(got)) {
    if (near == got) return 0;
    const T finite = std::isinf(near) ? got : near;
    return std::fabs(finite) == L::max() && std::signbit(near) == std::signbit(got) ? 1 : kFar;
  }
  if (near == 0 && got == 0) return std::signbit(near) == std::signbit(got) ? 0 : kFar;
  int exponent = 0;
  std::frexp(near, &exponent);
  const int last = std::max(exponent, L::min_exponent) - L::digits;
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) /
                             std::ldexp(1.0L, last));
}

}  // namespace wick::testing
