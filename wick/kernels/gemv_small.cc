// SPDX-License-Identifier: Apache-2.0
// bf16, f16 and f8e4m3: widened to f32 on the way from memory.
#include "wick/kernels/gemv.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemv_small.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemv-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

Gemv<bf16> GemvBF16() { return GemvTable<bf16>(); }
Gemv<f16> GemvF16() { return GemvTable<f16>(); }
Gemv<f8e4m3> GemvF8E4M3() { return GemvTable<f8e4m3>(); }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(GemvBF16);
HWY_EXPORT(GemvF16);
HWY_EXPORT(GemvF8E4M3);

template <>
Gemv<bf16> gemv() {
  return HWY_DYNAMIC_DISPATCH(GemvBF16)();
}
template <>
Gemv<f16> gemv() {
  return HWY_DYNAMIC_DISPATCH(GemvF16)();
}
template <>
Gemv<f8e4m3> gemv() {
  return HWY_DYNAMIC_DISPATCH(GemvF8E4M3)();
}

}  // namespace wick::kernels
#endif
