// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "wick/core/dtype.h"
#include "wick/kernels/bf16_unit.h"

namespace wick::testing {

// What the instructions for bf16 do, in scalars: subnormals are read and written as zero, rounding
// is to nearest even, whatever the thread's floating-point control says.

inline f32 flushed(f32 x) {
  return std::fabs(x) < std::numeric_limits<f32>::min() ? std::copysign(0.0F, x) : x;
}
inline f32 flushing_fma(f32 a, f32 b, f32 c) {
  // A result counts as subnormal if it is one after rounding to 24 bits, however small.
  const f64 exact = f64{flushed(a)} * flushed(b) + f64{flushed(c)};
  if (exact != 0 && std::fabs(exact) < 0x1p-126 - 0x1p-151)
    return static_cast<f32>(std::copysign(0.0, exact));
  return flushed(std::fma(flushed(a), flushed(b), flushed(c)));
}
inline f32 flushing_add(f32 a, f32 b) { return flushed(flushed(a) + flushed(b)); }

/// The sum of a(p) * b(p) over p < k in the order of a native unit. a and b are asked for whole
/// pairs and must give 0 from k on.
template <class A, class B>
f32 bf16_sum(kernels::Bf16Unit unit, Index k, A a, B b) {
  f32 sum = 0;
  if (unit == kernels::Bf16Unit::dot) {
    for (Index q = 0; q < k; q += 384) {
      f32 chunk = 0;
      for (Index p = q; p < std::min(k, q + 384); p += 2) {
        chunk = flushing_fma(a(p + 1), b(p + 1), chunk);
        chunk = flushing_fma(a(p), b(p), chunk);
      }
      sum = q == 0 ? chunk : sum + chunk;
    }
    return sum;
  }
  for (Index q = 0; q < k; q += 32) {
    f32 even = 0, odd = 0;
    for (Index p = q; p < q + 32; p += 2) {
      even = flushing_fma(a(p), b(p), even);
      odd = flushing_fma(a(p + 1), b(p + 1), odd);
    }
    sum = flushing_add(sum, flushing_add(even, odd));
  }
  return sum;
}

}  // namespace wick::testing
