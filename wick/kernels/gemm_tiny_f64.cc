// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/gemm_tiny.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_tiny_f64.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_tiny-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

void TinyMultiplyF64(const TinyCall<f64>& g) { TinyMultiplyRun(g); }

void TinyF64(const GemmTiny<f64, f64>& g) { TinyRun(g); }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(TinyF64);

template <>
void gemm_tiny(const GemmTiny<f64, f64>& g) {
  HWY_DYNAMIC_DISPATCH(TinyF64)(g);
}

}  // namespace wick::kernels
#endif
