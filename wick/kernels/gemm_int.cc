// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/gemm.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_int.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_pack-inl.h"
#include "wick/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
Gemm<T> MakeInt() {
  Gemm<T> table{};
  table.mr = Index{kGemmRows<GemmAcc<T>>};
  table.nr = GemmColumns<GemmAcc<T>>();
  table.block = &GemmBlockRun<GemmAcc<T>>;
  GemmFill(table);
  return table;
}

}  // namespace

Gemm<u8> TableU8() { return MakeInt<u8>(); }
Gemm<u32> TableU32() { return MakeInt<u32>(); }
Gemm<i16> TableI16() { return MakeInt<i16>(); }
Gemm<i32> TableI32() { return MakeInt<i32>(); }
Gemm<i64> TableI64() { return MakeInt<i64>(); }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(TableU8);
HWY_EXPORT(TableU32);
HWY_EXPORT(TableI16);
HWY_EXPORT(TableI32);
HWY_EXPORT(TableI64);

template <>
Gemm<u8> gemm() {
  return HWY_DYNAMIC_DISPATCH(TableU8)();
}
template <>
Gemm<u32> gemm() {
  return HWY_DYNAMIC_DISPATCH(TableU32)();
}
template <>
Gemm<i16> gemm() {
  return HWY_DYNAMIC_DISPATCH(TableI16)();
}
template <>
Gemm<i32> gemm() {
  return HWY_DYNAMIC_DISPATCH(TableI32)();
}
template <>
Gemm<i64> gemm() {
  return HWY_DYNAMIC_DISPATCH(TableI64)();
}

}  // namespace wick::kernels
#endif
