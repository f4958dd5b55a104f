// SPDX-License-Identifier: Apache-2.0
// Strided runs of any element type to and from buffers of f64. Included once per instruction set.

#if defined(WICK_KERNELS_WIDE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_WIDE_INL_H_
#undef WICK_KERNELS_WIDE_INL_H_
#else
#define WICK_KERNELS_WIDE_INL_H_
#endif

#include "wick/kernels/line-inl.h"
#include "wick/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

/// to[i] = x[i * stride], exactly.
template <class T>
HWY_INLINE void Widen(f64* HWY_RESTRICT to, const T* HWY_RESTRICT x, std::size_t n, Index stride) {
  const hn::ScalableTag<f64> d;
  const hn::Rebind<f32, decltype(d)> half;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if constexpr (std::is_same_v<T, f32>) {
    if (stride == 1)
      for (; i + lanes <= n; i += lanes)
        hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, x + i)), d, to + i);
  }
  if constexpr (SmallFloat<T>) {
    HWY_ALIGN f32 part[kLinePart];
    for (; i < n; i += kLinePart) {
      const std::size_t count = std::min(kLinePart, n - i);
      Gather(part, x + static_cast<Index>(i) * stride, count, stride);
      std::size_t j = 0;
      for (; j + lanes <= count; j += lanes)
        hn::StoreU(hn::PromoteTo(d, hn::Load(half, part + j)), d, to + i + j);
      for (; j < count; ++j) to[i + j] = static_cast<f64>(part[j]);
    }
  } else {
    for (; i < n; ++i) to[i] = static_cast<f64>(x[static_cast<Index>(i) * stride]);
  }
}

/// y[i * stride] = from[i], rounded to f32 on the way to a small float. `from` is read up to a
/// whole vector.
template <Float T>
HWY_INLINE void Narrow(T* HWY_RESTRICT y, const f64* HWY_RESTRICT from, std::size_t n,
                       Index stride) {
  if constexpr (std::is_same_v<T, f64>) {
    if (stride == 1) {
      std::memcpy(y, from, n * sizeof(f64));
    } else {
      for (std::size_t i = 0; i < n; ++i) y[static_cast<Index>(i) * stride] = from[i];
    }
  } else {
    const hn::ScalableTag<f64> d;
    const hn::Rebind<f32, decltype(d)> half;
    const std::size_t lanes = hn::Lanes(d);
    HWY_ALIGN f32 part[kLinePart + 16];
    for (std::size_t i = 0; i < n; i += kLinePart) {
      const std::size_t count = std::min(kLinePart, n - i);
      for (std::size_t j = 0; j < count; j += lanes)
        hn::StoreU(RoundToF32(half, hn::LoadU(d, from + i + j)), half, part + j);
      std::fill_n(part + count, 16, 0.0F);
      Emit(y + static_cast<Index>(i) * stride, stride, part, count,
           [](auto, auto v, std::size_t) HWY_ATTR { return v; });
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
