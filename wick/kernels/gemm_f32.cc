// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/gemm.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_f32.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_pack-inl.h"
#include "wick/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

Gemm<f32> TableF32() {
  Gemm<f32> table{};
  table.mr = Index{kGemmRows<f32>};
  table.nr = GemmColumns<f32>();
  table.block = &GemmBlockRun<f32>;
  GemmFill(table);
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(TableF32);

template <>
Gemm<f32> gemm() {
  return HWY_DYNAMIC_DISPATCH(TableF32)();
}

}  // namespace wick::kernels
#endif
