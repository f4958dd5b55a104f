// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/gemv.h"

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemv.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemv-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

Gemv<f32> GemvF32() { return GemvTable<f32>(); }
Gemv<f64> GemvF64() { return GemvTable<f64>(); }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(GemvF32);
HWY_EXPORT(GemvF64);

template <>
Gemv<f32> gemv() {
  return HWY_DYNAMIC_DISPATCH(GemvF32)();
}
template <>
Gemv<f64> gemv() {
  return HWY_DYNAMIC_DISPATCH(GemvF64)();
}

}  // namespace wick::kernels
#endif
