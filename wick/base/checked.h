// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "wick/base/error.h"
#include "wick/base/str.h"

namespace wick {

/// Sizes, offsets and strides: signed, so that differences and negative strides need no casts.
using Index = std::int64_t;

/// a * b, or an `overflow` Error that names `op` and `what`.
inline Index checked_mul(Index a, Index b, std::string_view op, std::string_view what) {
  Index r = 0;
  if (__builtin_mul_overflow(a, b, &r))
    throw Error(ErrorKind::overflow, op, str(what, " overflows: ", a, " * ", b));
  return r;
}

/// a + b, or an `overflow` Error that names `op` and `what`.
inline Index checked_add(Index a, Index b, std::string_view op, std::string_view what) {
  Index r = 0;
  if (__builtin_add_overflow(a, b, &r))
    throw Error(ErrorKind::overflow, op, str(what, " overflows: ", a, " + ", b));
  return r;
}

/// ceil(a / b) for a >= 0, b > 0.
constexpr Index ceil_div(Index a, Index b) { return a / b + (a % b != 0 ? 1 : 0); }

/// a rounded up to a multiple of b, for a >= 0, b > 0 and results that fit.
constexpr Index round_up(Index a, Index b) { return ceil_div(a, b) * b; }

}  // namespace wick
