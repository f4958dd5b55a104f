// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/kernels/gemm.h"

namespace wick::kernels {

/// Products of bf16 by the instructions made for them. Only for machines that have the unit
/// (bf16_unit_available); on other architectures the tables are empty.
Gemm<bf16> gemm_bf16_dot();
Gemm<bf16> gemm_bf16_amx();

}  // namespace wick::kernels
