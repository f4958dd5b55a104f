// SPDX-License-Identifier: Apache-2.0
// f16 and f8e4m3: widened to f32 on the stack.
#include "wick/kernels/gemm_tiny.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_tiny_small.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_tiny-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

GemmTinyFn<f16, f16> TinyF16() { return &TinyRun<f16, f16>; }
GemmTinyFn<f8e4m3, f8e4m3> TinyF8E4M3() { return &TinyRun<f8e4m3, f8e4m3>; }
GemmTinyFn<f16, f32> TinyF16Wide() { return &TinyRun<f16, f32>; }
GemmTinyFn<f8e4m3, f32> TinyF8E4M3Wide() { return &TinyRun<f8e4m3, f32>; }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(TinyF16);
HWY_EXPORT(TinyF8E4M3);
HWY_EXPORT(TinyF16Wide);
HWY_EXPORT(TinyF8E4M3Wide);

template <>
GemmTinyFn<f16, f16> gemm_tiny() {
  return HWY_DYNAMIC_DISPATCH(TinyF16)();
}
template <>
GemmTinyFn<f8e4m3, f8e4m3> gemm_tiny() {
  return HWY_DYNAMIC_DISPATCH(TinyF8E4M3)();
}
template <>
GemmTinyFn<f16, f32> gemm_tiny() {
  return HWY_DYNAMIC_DISPATCH(TinyF16Wide)();
}
template <>
GemmTinyFn<f8e4m3, f32> gemm_tiny() {
  return HWY_DYNAMIC_DISPATCH(TinyF8E4M3Wide)();
}

}  // namespace wick::kernels
#endif
