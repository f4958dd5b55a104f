// SPDX-License-Identifier: Apache-2.0
// bf16, f16 and f8e4m3: widened to f32 on the stack.
#include "wick/kernels/gemm_tiny.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_tiny_small.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_tiny-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

void TinyBF16(const GemmTiny<bf16, bf16>& g) { TinyRun(g); }
void TinyF16(const GemmTiny<f16, f16>& g) { TinyRun(g); }
void TinyF8E4M3(const GemmTiny<f8e4m3, f8e4m3>& g) { TinyRun(g); }
void TinyBF16Wide(const GemmTiny<bf16, f32>& g) { TinyRun(g); }
void TinyF16Wide(const GemmTiny<f16, f32>& g) { TinyRun(g); }
void TinyF8E4M3Wide(const GemmTiny<f8e4m3, f32>& g) { TinyRun(g); }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(TinyBF16);
HWY_EXPORT(TinyBF16Wide);
HWY_EXPORT(TinyF16);
HWY_EXPORT(TinyF8E4M3);
HWY_EXPORT(TinyF16Wide);
HWY_EXPORT(TinyF8E4M3Wide);

template <>
void gemm_tiny(const GemmTiny<bf16, bf16>& g) {
  HWY_DYNAMIC_DISPATCH(TinyBF16)(g);
}
template <>
void gemm_tiny(const GemmTiny<bf16, f32>& g) {
  HWY_DYNAMIC_DISPATCH(TinyBF16Wide)(g);
}
template <>
void gemm_tiny(const GemmTiny<f16, f16>& g) {
  HWY_DYNAMIC_DISPATCH(TinyF16)(g);
}
template <>
void gemm_tiny(const GemmTiny<f8e4m3, f8e4m3>& g) {
  HWY_DYNAMIC_DISPATCH(TinyF8E4M3)(g);
}
template <>
void gemm_tiny(const GemmTiny<f16, f32>& g) {
  HWY_DYNAMIC_DISPATCH(TinyF16Wide)(g);
}
template <>
void gemm_tiny(const GemmTiny<f8e4m3, f32>& g) {
  HWY_DYNAMIC_DISPATCH(TinyF8E4M3Wide)(g);
}

}  // namespace wick::kernels
#endif
