// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/dot.h"

#include <algorithm>
#include <utility>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/dot.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_pack-inl.h"
#include "wick/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class D, class T, class V, std::size_t... kI>
HWY_INLINE void DotStep(D d, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, V* sums,
                        std::index_sequence<kI...>) {
  ((sums[kI] = GemmFma(hn::LoadU(d, a + kI * hn::Lanes(d)), hn::LoadU(d, b + kI * hn::Lanes(d)),
                       sums[kI])),
   ...);
}

template <class D, class T, class V, std::size_t... kI>
HWY_INLINE void DotStore(D d, T* HWY_RESTRICT to, const V* sums, std::index_sequence<kI...>) {
  (hn::Store(sums[kI], d, to + kI * hn::Lanes(d)), ...);
}

template <class Acc>
Acc DotSame(const Acc* HWY_RESTRICT a, const Acc* HWY_RESTRICT b, Index n) {
  const hn::ScalableTag<Acc> d;
  constexpr std::size_t kSums = 256 / sizeof(Acc);
  constexpr std::size_t kVecs = kSums / hn::MaxLanes(d);
  constexpr std::make_index_sequence<kVecs> each{};
  hn::Vec<decltype(d)> sums[kVecs];
  GemmZero(d, sums, each);
  Index i = 0;
  for (; i + Index{kSums} <= n; i += Index{kSums}) DotStep(d, a + i, b + i, sums, each);
  if (i < n) {
    HWY_ALIGN Acc rest_a[kSums] = {}, rest_b[kSums] = {};
    std::copy(a + i, a + n, rest_a);
    std::copy(b + i, b + n, rest_b);
    DotStep(d, rest_a, rest_b, sums, each);
  }
  HWY_ALIGN Acc parts[kSums];
  DotStore(d, parts, sums, each);
  for (std::size_t half = kSums / 2; half > 0; half /= 2)
    for (std::size_t j = 0; j < half; ++j) parts[j] += parts[j + half];
  return parts[0];
}

template <class T>
GemmAcc<T> Dot(const T* a, const T* b, Index n) {
  using Acc = GemmAcc<T>;
  if constexpr (sizeof(T) == sizeof(Acc)) {
    return DotSame(reinterpret_cast<const Acc*>(a), reinterpret_cast<const Acc*>(b), n);
  } else {
    HWY_ALIGN Acc x[kDotBlock], y[kDotBlock];
    GemmWidenRun(a, n, x);
    GemmWidenRun(b, n, y);
    return DotSame<Acc>(x, y, n);
  }
}

}  // namespace

#define WICK_DOT(T) \
  DotFn<T> Dot_##T() { return &Dot<T>; }
WICK_FOR_ELEMENTS(WICK_DOT)
#undef WICK_DOT

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

#define WICK_DOT(T)                         \
  HWY_EXPORT(Dot_##T);                      \
  template <>                               \
  DotFn<T> dot() {                          \
    return HWY_DYNAMIC_DISPATCH(Dot_##T)(); \
  }
WICK_FOR_ELEMENTS(WICK_DOT)
#undef WICK_DOT

}  // namespace wick::kernels
#endif
