// SPDX-License-Identifier: Apache-2.0
// Strided lines of any float type to and from buffers of what they are computed in. Included once
// per instruction set.

#if defined(WICK_KERNELS_LINE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_LINE_INL_H_
#undef WICK_KERNELS_LINE_INL_H_
#else
#define WICK_KERNELS_LINE_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "wick/kernels/line.h"
#include "wick/kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

/// to[i] = x[i * stride]; the rest of the last vector becomes 0.
template <class T>
HWY_INLINE void Gather(Compute<T>* HWY_RESTRICT to, const T* HWY_RESTRICT x, std::size_t n,
                       Index stride) {
  using L = Lanes<T>;
  const typename L::D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (stride == 1)
    for (; i + lanes <= n; i += lanes) hn::StoreU(L::Load(d, x + i), d, to + i);
  for (; i < n; i += lanes) {
    T part[hn::MaxLanes(d)] = {};
    const std::size_t count = std::min(lanes, n - i);
    for (std::size_t j = 0; j < count; ++j) part[j] = x[static_cast<Index>(i + j) * stride];
    hn::StoreU(L::Load(d, part), d, to + i);
  }
}

/// y[i * stride] = f(d, from[i], i), vector by vector. The last one may read past n.
template <class T, class F>
HWY_INLINE void Emit(T* HWY_RESTRICT y, Index stride, const Compute<T>* HWY_RESTRICT from,
                     std::size_t n, F f) {
  using L = Lanes<T>;
  const typename L::D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (stride == 1)
    for (; i + lanes <= n; i += lanes) L::Store(d, f(d, hn::LoadU(d, from + i), i), y + i);
  for (; i < n; i += lanes) {
    T part[hn::MaxLanes(d)];
    L::Store(d, f(d, hn::LoadU(d, from + i), i), part);
    const std::size_t count = std::min(lanes, n - i);
    for (std::size_t j = 0; j < count; ++j) y[static_cast<Index>(i + j) * stride] = part[j];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
