// SPDX-License-Identifier: Apache-2.0
// bf16, f16 and f8e4m3: widened to f32 while packing, multiplied by the f32 block kernel. bf16 by
// native instructions where the CPU has them.
#include "wick/kernels/bf16_unit.h"
#include "wick/kernels/gemm.h"
#include "wick/kernels/gemm_bf16.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_small.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

void FillBF16(Gemm<bf16>& table) { GemmFill(table); }
void FillF16(Gemm<f16>& table) { GemmFill(table); }
void FillF8E4M3(Gemm<f8e4m3>& table) { GemmFill(table); }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {
namespace {

template <class T>
Gemm<T> from_f32() {
  const Gemm<f32> wide = gemm<f32>();
  Gemm<T> table{};
  table.mr = wide.mr;
  table.nr = wide.nr;
  table.block = wide.block;
  return table;
}

}  // namespace

HWY_EXPORT(FillBF16);
HWY_EXPORT(FillF16);
HWY_EXPORT(FillF8E4M3);

template <>
Gemm<bf16> gemm() {
  if (const Bf16Unit unit = bf16_unit(); unit != Bf16Unit::widen)
    return unit == Bf16Unit::amx ? gemm_bf16_amx() : gemm_bf16_dot();
  auto table = from_f32<bf16>();
  HWY_DYNAMIC_DISPATCH(FillBF16)(table);
  return table;
}
template <>
Gemm<f16> gemm() {
  auto table = from_f32<f16>();
  HWY_DYNAMIC_DISPATCH(FillF16)(table);
  return table;
}
template <>
Gemm<f8e4m3> gemm() {
  auto table = from_f32<f8e4m3>();
  HWY_DYNAMIC_DISPATCH(FillF8E4M3)(table);
  return table;
}

}  // namespace wick::kernels
#endif
