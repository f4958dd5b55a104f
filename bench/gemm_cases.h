// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness.h"

namespace wick::bench {

/// A row of `wick bench gemm`: C [m, n] = A [m, k] · B [k, n], `batch` times.
struct Gemm {
  DType dtype = DType::f32;
  Index m = 0, n = 0, k = 0;
  Index batch = 1;
  bool transposed = false;       ///< B lies as [n, k]
  bool packed = false;           ///< B was packed before
  bool cold = false;             ///< operands take turns, so that each call reads memory
  bool bound_by_memory = false;  ///< warm, it says nothing about a limit: for peers only
  bool one_thread = false;       ///< too small for more

  /// Measured through wick::gemm, on data in the first-level cache.
  bool tiny() const { return batch == 1 && m <= 64 && n <= 64 && k <= 64; }
  double flops() const;
  double bytes() const;  ///< of all operands and the result
  bool operator==(const Gemm&) const = default;
};

/// "f32 12 x 512;64;512", "f32 4;4096;4096 T packed, from memory".
std::string gemm_name(const Gemm& row);

/// The default list.
std::vector<Gemm> gemm_rows();

/// The rows in whose names one of the filter's parts, separated by commas, occurs. An empty filter
/// takes all; an Error says if none is left.
std::vector<Gemm> select_rows(std::span<const Gemm> rows, std::string_view filter);

/// The row as a case against `limit`.
Case gemm_case(const Gemm& row, int threads, Limit limit);

/// The result's elements at sample_place(), in f64.
std::vector<double> gemm_samples(const Gemm& row);

/// Empty if `values` are the samples of a right result, by the rounding errors that k products in
/// the row's dtype may have (small floats: added in f32, or in parts that are rounded); else says
/// what is wrong.
std::string find_wrong_sample(const Gemm& row, std::span<const double> values);

}  // namespace wick::bench
