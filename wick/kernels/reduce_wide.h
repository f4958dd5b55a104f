// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "wick/kernels/reduce.h"

namespace wick::kernels {

// Reductions that compute in f64, whatever the dtype is. Their parts follow the element numbers, as
// those of sums do: blocks of 512 elements with 16 running values each, folded by halves; block
// after block; then the tree over the chunks.

/// Number, mean and sum of squared distances from the mean of a set. Merging is exact for equal
/// means, so equal elements have a variance of 0. Formula: Chan, Golub & LeVeque, "Updating
/// formulae and a pairwise algorithm for computing sample variances" (1979).
struct Moments {
  f64 count = 0;
  f64 mean = 0;
  f64 squares = 0;

  friend Moments merge(const Moments& a, const Moments& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const f64 n = a.count + b.count, step = b.mean - a.mean;
    return {n, a.mean + step * (b.count / n),
            a.squares + b.squares + step * step * (a.count * b.count / n)};
  }
};

/// A sum of squares by size of the numbers, so that none overflows or vanishes: those of large ones
/// are kept times 2^-1200, those of small ones times 2^1200. After Blue, "A portable Fortran
/// program to find the Euclidean norm of a vector" (1978).
struct Squares {
  f64 small = 0;
  f64 middle = 0;
  f64 large = 0;

  friend Squares merge(const Squares& a, const Squares& b) {
    return {a.small + b.small, a.middle + b.middle, a.large + b.large};
  }
  f64 root() const {
    if (std::isnan(middle)) return middle;
    if (large > 0) return std::sqrt(large + middle * 0x1p-600 * 0x1p-600) * 0x1p600;
    if (middle > 0) return std::sqrt(middle + small * 0x1p-600 * 0x1p-600);
    return std::sqrt(small) * 0x1p-600;
  }
};

/// The sum of e^(x - top) for the largest x, top; an infinite top is not taken off.
struct ExpSum {
  f64 top = -std::numeric_limits<f64>::infinity();
  f64 sum = 0;

  f64 shift() const { return std::isinf(top) ? 0 : top; }
  friend ExpSum merge(const ExpSum& a, const ExpSum& b) {
    const ExpSum& high = b.top > a.top ? b : a;
    const ExpSum& low = b.top > a.top ? a : b;
    if (std::isnan(b.top)) return b;
    if (low.sum == 0) return high;
    return {high.top, high.sum + low.sum * std::exp(low.shift() - high.shift())};
  }
  f64 value() const { return std::isnan(top) ? top : shift() + std::log(sum); }
};

/// The kernels for a dtype; nullptr where one does not exist for integers.
template <Element T>
struct WideKernels {
  ReduceFn<T, Moments> moments;
  ReduceFn<T, f64> abs_sum;
  ReduceFn<T, Squares> squares;
  ReduceFn<T, f64> product;     ///< floats only
  ReduceFn<T, ExpSum> exp_sum;  ///< floats only
};
template <Element T>
WideKernels<T> wide_kernels();

/// Products of integers, wrapping.
template <Int T>
ReduceFn<T, i64> int_product();

/// Whether any and whether all elements of a set are not 0.
struct Truth {
  u8 any = 0;
  u8 all = 1;

  friend constexpr Truth merge(const Truth& a, const Truth& b) {
    return {static_cast<u8>(a.any | b.any), static_cast<u8>(a.all & b.all)};
  }
};
template <Element T>
ReduceFn<T, Truth> truth();

}  // namespace wick::kernels
