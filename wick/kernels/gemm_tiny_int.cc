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

void TinyU8(const GemmTiny<u8, u8>& g) { TinyRun(g); }
void TinyU32(const GemmTiny<u32, u32>& g) { TinyRun(g); }
void TinyI16(const GemmTiny<i16, i16>& g) { TinyRun(g); }
void TinyI32(const GemmTiny<i32, i32>& g) { TinyRun(g); }
void TinyI64(const GemmTiny<i64, i64>& g) { TinyRun(g); }

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
void gemm_tiny(const GemmTiny<u8, u8>& g) {
  HWY_DYNAMIC_DISPATCH(TinyU8)(g);
}
template <>
void gemm_tiny(const GemmTiny<u32, u32>& g) {
  HWY_DYNAMIC_DISPATCH(TinyU32)(g);
}
template <>
void gemm_tiny(const GemmTiny<i16, i16>& g) {
  HWY_DYNAMIC_DISPATCH(TinyI16)(g);
}
template <>
void gemm_tiny(const GemmTiny<i32, i32>& g) {
  HWY_DYNAMIC_DISPATCH(TinyI32)(g);
}
template <>
void gemm_tiny(const GemmTiny<i64, i64>& g) {
  HWY_DYNAMIC_DISPATCH(TinyI64)(g);
}

}  // namespace wick::kernels
#endif
