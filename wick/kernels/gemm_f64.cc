// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/gemm.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_f64.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_pack-inl.h"
#include "wick/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

Gemm<f64> TableF64() {
  Gemm<f64> table{};
  table.mr = Index{kGemmRows<f64>};
  table.nr = GemmColumns<f64>();
  table.block = &GemmBlockRun<f64>;
  GemmFill(table);
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(TableF64);

template <>
Gemm<f64> gemm() {
  return HWY_DYNAMIC_DISPATCH(TableF64)();
}

}  // namespace wick::kernels
#endif
