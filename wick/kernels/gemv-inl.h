// SPDX-License-Identifier: Apache-2.0
// Matrix-vector products: a matrix that is read once, at the speed of the memory it lies in.

#if defined(WICK_KERNELS_GEMV_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_GEMV_INL_H_
#undef WICK_KERNELS_GEMV_INL_H_
#else
#define WICK_KERNELS_GEMV_INL_H_
#endif

#include "wick/kernels/gemv_columns-inl.h"
#include "wick/kernels/gemv_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void GemvCopy(const T* from, Index step, Index n, GemmAcc<T>* to) {
  if (step == 1) return GemvWiden(from, n, to);
  for (Index i = 0; i < n; ++i) to[i] = GemmWiden<GemmAcc<T>>(from[i * step]);
}

template <class T>
Gemv<T> GemvTable() {
  return {static_cast<Index>(hn::Lanes(hn::ScalableTag<GemmAcc<T>>())),
          &GemvRows<T>,
          &GemvColumns<T>,
          &GemvAcross<T>,
          &GemvSide<T>,
          &GemvCopy<T>};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
