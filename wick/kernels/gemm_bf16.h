// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/kernels/gemm.h"

namespace wick::kernels {

/// Products of bf16 by the instructions made for them. Only for machines that have the unit
/// (bf16_unit_available); on other architectures the tables are empty.
Gemm<bf16> gemm_bf16_dot();
Gemm<bf16> gemm_bf16_amx();

/// A few rows of A times a B whose rows lie in memory as they are: read once, in blocks of 32 rows
/// that run on over all columns. Sums are those of the unit's other kernels, bit for bit.
struct Bf16Rows {
  Index m, n, k;  ///< m <= kMost
  const bf16* a;
  Index a_row, a_col;
  const bf16* b;
  Index b_row;
  f32* sum;       ///< [m][sum_row]
  f32* chunk;     ///< as much memory again
  Index sum_row;  ///< a multiple of kWidth, at least n
  static constexpr Index kMost = 16, kWidth = 32;
};
using Bf16RowsFn = void (*)(const Bf16Rows& g);
Bf16RowsFn bf16_rows_dot();
Bf16RowsFn bf16_rows_amx();

}  // namespace wick::kernels
