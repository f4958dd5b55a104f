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

/// What goes through the stack at a time where elements do not lie side by side.
inline constexpr std::size_t kLinePart = 256;

/// to[i] = x[i * stride], as it is.
template <class T>
HWY_INLINE void Collect(T* HWY_RESTRICT to, const T* HWY_RESTRICT x, std::size_t n, Index stride) {
  for (std::size_t i = 0; i < n; ++i) to[i] = x[static_cast<Index>(i) * stride];
}

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
  T part[kLinePart];
  for (; i < n; i += kLinePart) {
    const std::size_t count = std::min(kLinePart, n - i);
    const std::size_t whole = (count + lanes - 1) / lanes * lanes;
    Collect(part, x + static_cast<Index>(i) * stride, count, stride);
    std::fill(part + count, part + whole, T{});
    for (std::size_t j = 0; j < whole; j += lanes) hn::StoreU(L::Load(d, part + j), d, to + i + j);
  }
}

/// y[i * stride] = f(d, from[i], i), vector by vector. The last one may read past n. `from`
/// may be y where that is contiguous.
template <class T, class F>
HWY_INLINE void Emit(T* y, Index stride, const Compute<T>* from, std::size_t n, F f) {
  using L = Lanes<T>;
  const typename L::D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (stride == 1)
    for (; i + lanes <= n; i += lanes) L::Store(d, f(d, hn::LoadU(d, from + i), i), y + i);
  T part[kLinePart];
  for (; i < n; i += kLinePart) {
    const std::size_t count = std::min(kLinePart, n - i);
    for (std::size_t j = 0; j < count; j += lanes)
      L::Store(d, f(d, hn::LoadU(d, from + i + j), i + j), part + j);
    T* to = y + static_cast<Index>(i) * stride;
    for (std::size_t j = 0; j < count; ++j) to[static_cast<Index>(j) * stride] = part[j];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
