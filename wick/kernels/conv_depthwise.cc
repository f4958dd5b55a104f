// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/conv_depthwise.h"

#include <algorithm>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/conv_depthwise.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// The first n lanes, and no byte beside them.
template <class D, class V, class T>
HWY_INLINE void StoreSome(D d, V v, Index n, T* to) {
  if (HWY_LIKELY(n >= static_cast<Index>(hn::Lanes(d)))) return hn::StoreU(v, d, to);
  HWY_ALIGN T some[hn::MaxLanes(d)];
  hn::Store(v, d, some);
  std::copy_n(some, n, to);
}

/// kRows lines at once, so that the sums of one wait less for each other.
template <class T, Index kRows>
HWY_INLINE void SomeLines(const Depthwise<T>& g, Index r) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const T* HWY_RESTRICT x0 = g.x + r * g.x_row;
  const T* HWY_RESTRICT x1 = kRows > 1 ? x0 + g.x_row : x0;
  T* y0 = g.y + r * g.y_row;
  Index j = 0;
  for (; j + lanes < g.columns; j += 2 * lanes) {
    auto a0 = hn::Zero(d), a1 = hn::Zero(d), b0 = hn::Zero(d), b1 = hn::Zero(d);
    for (Index t = 0; t < g.taps; ++t) {
      const auto w = hn::Set(d, g.w[t]);
      const Index at = g.at[t] + j;
      a0 = hn::MulAdd(hn::LoadU(d, x0 + at), w, a0);
      a1 = hn::MulAdd(hn::LoadU(d, x0 + at + lanes), w, a1);
      if constexpr (kRows > 1) {
        b0 = hn::MulAdd(hn::LoadU(d, x1 + at), w, b0);
        b1 = hn::MulAdd(hn::LoadU(d, x1 + at + lanes), w, b1);
      }
    }
    hn::StoreU(a0, d, y0 + j);
    StoreSome(d, a1, g.columns - j - lanes, y0 + j + lanes);
    if constexpr (kRows > 1) {
      hn::StoreU(b0, d, y0 + g.y_row + j);
      StoreSome(d, b1, g.columns - j - lanes, y0 + g.y_row + j + lanes);
    }
  }
  if (j >= g.columns) return;
  auto a = hn::Zero(d), b = hn::Zero(d);
  for (Index t = 0; t < g.taps; ++t) {
    const auto w = hn::Set(d, g.w[t]);
    a = hn::MulAdd(hn::LoadU(d, x0 + g.at[t] + j), w, a);
    if constexpr (kRows > 1) b = hn::MulAdd(hn::LoadU(d, x1 + g.at[t] + j), w, b);
  }
  StoreSome(d, a, g.columns - j, y0 + j);
  if constexpr (kRows > 1) StoreSome(d, b, g.columns - j, y0 + g.y_row + j);
}

template <class T>
void Lines(const Depthwise<T>& g) {
  Index r = 0;
  for (; r + 2 <= g.rows; r += 2) SomeLines<T, 2>(g, r);
  if (r < g.rows) SomeLines<T, 1>(g, r);
}

/// One vector of channels of kPixels pixels of a line.
template <class T, std::size_t kPixels>
HWY_INLINE void SomePixels(const Depthwise<T>& g, Index r, Index j, Index c) {
  const hn::ScalableTag<T> d;
  const T* HWY_RESTRICT x = g.x + r * g.x_row + j * g.x_column + c;
  const T* HWY_RESTRICT w = g.w + c;
  auto v0 = hn::Zero(d), v1 = hn::Zero(d), v2 = hn::Zero(d), v3 = hn::Zero(d);
  for (Index t = 0; t < g.taps; ++t, w += g.w_row) {
    const T* from = x + g.at[t];
    const auto weight = hn::LoadU(d, w);
    v0 = hn::MulAdd(hn::LoadU(d, from), weight, v0);
    if constexpr (kPixels == 4) {
      v1 = hn::MulAdd(hn::LoadU(d, from + g.x_column), weight, v1);
      v2 = hn::MulAdd(hn::LoadU(d, from + 2 * g.x_column), weight, v2);
      v3 = hn::MulAdd(hn::LoadU(d, from + 3 * g.x_column), weight, v3);
    }
  }
  T* y = g.y + r * g.y_row + j * g.y_column + c;
  const Index n = g.channels - c;
  StoreSome(d, v0, n, y);
  if constexpr (kPixels == 4) {
    StoreSome(d, v1, n, y + g.y_column);
    StoreSome(d, v2, n, y + 2 * g.y_column);
    StoreSome(d, v3, n, y + 3 * g.y_column);
  }
}

template <class T>
void Pixels(const Depthwise<T>& g) {
  const auto lanes = static_cast<Index>(hn::Lanes(hn::ScalableTag<T>()));
  for (Index r = 0; r < g.rows; ++r) {
    Index j = 0;
    for (; j + 4 <= g.columns; j += 4)
      for (Index c = 0; c < g.channels; c += lanes) SomePixels<T, 4>(g, r, j, c);
    for (; j < g.columns; ++j)
      for (Index c = 0; c < g.channels; c += lanes) SomePixels<T, 1>(g, r, j, c);
  }
}

}  // namespace

DepthwiseFns<f32> DepthwiseF32() { return {&Lines<f32>, &Pixels<f32>}; }
DepthwiseFns<f64> DepthwiseF64() { return {&Lines<f64>, &Pixels<f64>}; }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(DepthwiseF32);
HWY_EXPORT(DepthwiseF64);

template <>
DepthwiseFns<f32> depthwise() {
  return HWY_DYNAMIC_DISPATCH(DepthwiseF32)();
}
template <>
DepthwiseFns<f64> depthwise() {
  return HWY_DYNAMIC_DISPATCH(DepthwiseF64)();
}

}  // namespace wick::kernels
#endif
