// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/gemm_tiny.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_tiny_int.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_tiny-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

void TinyMultiplyU32(const TinyCall<std::uint32_t>& g) { TinyMultiplyRun(g); }
void TinyMultiplyU64(const TinyCall<std::uint64_t>& g) { TinyMultiplyRun(g); }

GemmTinyFn<u8, u8> TinyU8() { return &TinyRun<u8, u8>; }
GemmTinyFn<u32, u32> TinyU32() { return &TinyRun<u32, u32>; }
GemmTinyFn<i16, i16> TinyI16() { return &TinyRun<i16, i16>; }
GemmTinyFn<i32, i32> TinyI32() { return &TinyRun<i32, i32>; }
GemmTinyFn<i64, i64> TinyI64() { return &TinyRun<i64, i64>; }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(TinyU8);
HWY_EXPORT(TinyU32);
HWY_EXPORT(TinyI16);
HWY_EXPORT(TinyI32);
HWY_EXPORT(TinyI64);

template <>
GemmTinyFn<u8, u8> gemm_tiny() {
  return HWY_DYNAMIC_DISPATCH(TinyU8)();
}
template <>
GemmTinyFn<u32, u32> gemm_tiny() {
  return HWY_DYNAMIC_DISPATCH(TinyU32)();
}
template <>
GemmTinyFn<i16, i16> gemm_tiny() {
  return HWY_DYNAMIC_DISPATCH(TinyI16)();
}
template <>
GemmTinyFn<i32, i32> gemm_tiny() {
  return HWY_DYNAMIC_DISPATCH(TinyI32)();
}
template <>
GemmTinyFn<i64, i64> gemm_tiny() {
  return HWY_DYNAMIC_DISPATCH(TinyI64)();
}

}  // namespace wick::kernels
#endif
