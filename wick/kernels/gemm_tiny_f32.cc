// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/gemm_tiny.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_tiny_f32.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_tiny-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

void TinyMultiplyF32(const TinyCall<f32>& g) { TinyMultiplyRun(g); }

void TinyF32(const GemmTiny<f32, f32>& g) { TinyRun(g); }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(TinyF32);

template <>
void gemm_tiny(const GemmTiny<f32, f32>& g) {
  HWY_DYNAMIC_DISPATCH(TinyF32)(g);
}

}  // namespace wick::kernels
#endif
