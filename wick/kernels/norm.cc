// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/norm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/norm.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "wick/kernels/line-inl.h"
#include "wick/kernels/sum-inl.h"

#ifndef WICK_KERNELS_NORM_TABLE_
#define WICK_KERNELS_NORM_TABLE_
namespace wick::kernels {
using NormTable = std::tuple<NormFn<bf16>, NormFn<f16>, NormFn<f32>, NormFn<f64>, NormFn<f8e4m3>>;
}  // namespace wick::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

template <class C, class F>
HWY_INLINE void Change(C* line, std::size_t n, F f) {
  const hn::ScalableTag<C> d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d))
    hn::StoreU(f(d, hn::LoadU(d, line + i)), d, line + i);
}

/// Takes the mean off. It has more digits than C holds: its rest is taken off too, else a small
/// variance around a large mean would suffer.
template <class C>
HWY_INLINE void Centre(C* line, std::size_t n) {
  const f64 mean = LineSum(line, n) / static_cast<f64>(n);
  const hn::ScalableTag<C> tag;
  const auto high = static_cast<C>(mean);
  const auto most = hn::Set(tag, high);
  const auto rest = hn::Set(tag, static_cast<C>(mean - static_cast<f64>(high)));
  Change(line, n, [most, rest](auto, auto v) HWY_ATTR { return hn::Sub(hn::Sub(v, most), rest); });
}

/// The power of two that brings the largest |x| near 1; 1 where there is none. No element is
/// NaN or infinite unless 1 is returned.
template <class C>
f64 UnitScale(const C* line, std::size_t n) {
  C top = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const C a = std::abs(line[i]);
    if (!(a <= std::numeric_limits<C>::max())) return 1;
    top = std::max(top, a);
  }
  return top > 0 ? std::ldexp(1.0, std::min(-std::ilogb(top), 1000)) : 1;
}

template <class T, bool kLayer>
void NormLine(T* y, const T* x, const LineLoop& l, const Compute<T>* weight, const Compute<T>* bias,
              f64 eps, Compute<T>* line) {
  using C = Compute<T>;
  const auto n = static_cast<std::size_t>(l.n);
  // Sums of squares outside of these have lost digits, or all of them.
  constexpr f64 kLeast = std::same_as<C, f32> ? 0x1p-100 : 0x1p-960;
  const auto measure = [&] {
    if constexpr (kLayer) Centre(line, n);
    return LineSum(line, n, Square());
  };
  Gather(line, x, n, l.x_step);
  f64 squares = measure();
  f64 scaled_eps = eps;
  if (!(squares <= f64{std::numeric_limits<C>::max()}) ||
      (squares < kLeast * static_cast<f64>(n) && eps < kLeast)) {
    // Rare: the norm of the scaled line is the same, but for eps.
    Gather(line, x, n, l.x_step);
    for (int i = 0; i < (kLayer ? 2 : 1); ++i) {  // centring may leave little of it
      f64 scale = UnitScale(line, n);
      scaled_eps = scaled_eps * scale * scale;
      while (scale != 1) {  // C may not hold the scale of a subnormal: two steps then
        const f64 step = std::clamp(scale, 0x1p-100, 0x1p100);
        const auto factor = static_cast<C>(step);
        Change(line, n,
               [factor](auto d, auto v) HWY_ATTR { return hn::Mul(v, hn::Set(d, factor)); });
        scale /= step;
      }
      squares = measure();
    }
  }
  const f64 power = squares / static_cast<f64>(n) + scaled_eps;
  const hn::ScalableTag<C> tag;
  const auto scale = hn::Set(tag, static_cast<C>(power == 0 ? 0.0 : 1.0 / std::sqrt(power)));
  Emit(y, l.y_step, line, n, [&](auto d, auto v, std::size_t i) HWY_ATTR {
    const auto r = hn::Mul(hn::Mul(v, scale), hn::LoadU(d, weight + i));
    if constexpr (kLayer)
      return hn::Add(r, hn::LoadU(d, bias + i));
    else
      return r;
  });
}

template <class T, bool kLayer>
void Norm(T* y, const T* x, const LineLoop& l, const Compute<T>* weight, const Compute<T>* bias,
          f64 eps, Compute<T>* scratch) {
  for (Index i = 0; i < l.lines; ++i)
    NormLine<T, kLayer>(y + i * l.y_line, x + i * l.x_line, l, weight, bias, eps, scratch);
}

template <bool kLayer>
NormTable Table() {
  return {&Norm<bf16, kLayer>, &Norm<f16, kLayer>, &Norm<f32, kLayer>, &Norm<f64, kLayer>,
          &Norm<f8e4m3, kLayer>};
}
NormTable LayerNorms() { return Table<true>(); }
NormTable RmsNorms() { return Table<false>(); }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {
HWY_EXPORT(LayerNorms);
HWY_EXPORT(RmsNorms);

template <Float T>
NormFn<T> layer_norm() {
  return std::get<NormFn<T>>(HWY_DYNAMIC_DISPATCH(LayerNorms)());
}
template <Float T>
NormFn<T> rms_norm() {
  return std::get<NormFn<T>>(HWY_DYNAMIC_DISPATCH(RmsNorms)());
}
#define WICK_NORM(T)                  \
  template NormFn<T> layer_norm<T>(); \
  template NormFn<T> rms_norm<T>();
WICK_FOR_FLOATS(WICK_NORM)
#undef WICK_NORM

}  // namespace wick::kernels
#endif
