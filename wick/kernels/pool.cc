// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/pool.h"

#include <algorithm>
#include <tuple>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/pool.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "wick/kernels/line-inl.h"

#ifndef WICK_KERNELS_POOL_TABLE_
#define WICK_KERNELS_POOL_TABLE_
namespace wick::kernels {
using MaxPoolTable = std::tuple<Pool<u8>, Pool<u32>, Pool<i16>, Pool<i32>, Pool<i64>, Pool<bf16>,
                                Pool<f16>, Pool<f32>, Pool<f64>, Pool<f8e4m3>>;
using MeanPoolTable = std::tuple<Pool<bf16>, Pool<f16>, Pool<f32>, Pool<f64>, Pool<f8e4m3>>;
}  // namespace wick::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

/// The first operand is what there is so far.
struct Largest {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
      return hn::IfThenElse(hn::Or(hn::Ge(a, b), hn::IsNaN(a)), a, b);
    } else {
      return hn::Max(a, b);
    }
  }
};
struct Sum {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};

template <class T, class Op>
void Fold(Compute<T>* HWY_RESTRICT acc, const T* HWY_RESTRICT x, Index n, Index x_step,
          bool first) {
  using C = Compute<T>;
  using L = Lanes<T>;
  const typename L::D d;
  const Op op;
  const auto count = static_cast<std::size_t>(n);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (x_step == 1) {
    if (first) {
      for (; i + lanes <= count; i += lanes) hn::StoreU(L::Load(d, x + i), d, acc + i);
    } else {
      for (; i + lanes <= count; i += lanes)
        hn::StoreU(op(hn::LoadU(d, acc + i), L::Load(d, x + i)), d, acc + i);
    }
  }
  T part[kLinePart];
  for (; i < count; i += kLinePart) {
    const std::size_t some = std::min(kLinePart, count - i);
    Collect(part, x + static_cast<Index>(i) * x_step, some, x_step);
    std::fill(part + some, part + (some + lanes - 1) / lanes * lanes, T{});
    // What lies behind the line is not touched: it may be padding.
    std::size_t j = 0;
    for (; j + lanes <= some; j += lanes) {
      const auto v = L::Load(d, part + j);
      hn::StoreU(first ? v : op(hn::LoadU(d, acc + i + j), v), d, acc + i + j);
    }
    if (j == some) continue;
    HWY_ALIGN C last[hn::MaxLanes(d)] = {};
    std::copy_n(acc + i + j, some - j, last);
    const auto v = L::Load(d, part + j);
    hn::Store(first ? v : op(hn::Load(d, last), v), d, last);
    std::copy_n(last, some - j, acc + i + j);
  }
}

/// to[i] = the window that begins at element i of acc, for i < n; whole vectors.
template <class Op, class C>
HWY_INLINE void SlideAll(C* HWY_RESTRICT to, const C* HWY_RESTRICT acc, std::size_t n, Index taps,
                         Index step) {
  const hn::ScalableTag<C> d;
  const Op op;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    auto v = hn::LoadU(d, acc + i);
    for (Index t = 1; t < taps; ++t)
      v = op(v, hn::LoadU(d, acc + i + static_cast<std::size_t>(t * step)));
    hn::StoreU(v, d, to + i);
  }
}

/// The same at i = 0, 2, 4, ... below 2 n.
template <class Op, class C>
HWY_INLINE void SlideEven(C* HWY_RESTRICT to, const C* HWY_RESTRICT acc, std::size_t n, Index taps,
                          Index step) {
  const hn::ScalableTag<C> d;
  const Op op;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::Vec<decltype(d)> v, next, odd;
    hn::LoadInterleaved2(d, acc + 2 * i, v, odd);
    for (Index t = 1; t < taps; ++t) {
      if (step == 1 && t % 2 == 1) {
        if (t > 1) hn::LoadInterleaved2(d, acc + 2 * i + t - 1, next, odd);
        v = op(v, odd);
      } else {
        hn::LoadInterleaved2(d, acc + 2 * i + static_cast<std::size_t>(t * step), next, odd);
        v = op(v, next);
      }
    }
    hn::StoreU(v, d, to + i);
  }
}

/// The same, one after the other.
template <class Op, class C>
HWY_INLINE void SlideSome(C* HWY_RESTRICT to, const C* HWY_RESTRICT acc, const PoolLine& l) {
  const hn::CappedTag<C, 1> d;
  const Op op;
  for (Index o = 0; o < l.outputs; ++o) {
    const C* from = acc + o * l.stride;
    auto v = hn::LoadU(d, from);
    for (Index t = 1; t < l.taps; ++t) v = op(v, hn::LoadU(d, from + t * l.step));
    hn::StoreU(v, d, to + o);
  }
}

template <class T, class Op, bool kMean>
void Slide(T* y, Index y_place, Index y_step, const Compute<T>* acc, const PoolLine& l,
           [[maybe_unused]] const Compute<T>* count, [[maybe_unused]] Compute<T> lines,
           Compute<T>* scratch) {
  using C = Compute<T>;
  if (l.inner == 1) {
    const auto n = static_cast<std::size_t>(l.outputs);
    if (l.stride == 1) {
      SlideAll<Op>(scratch, acc, n, l.taps, l.step);
    } else if (l.stride == 2) {
      SlideEven<Op>(scratch, acc, n, l.taps, l.step);
    } else {
      SlideSome<Op>(scratch, acc, l);
    }
    Emit(y, y_place, scratch, n, [&](auto d, auto v, std::size_t i) HWY_ATTR {
      if constexpr (kMean) return hn::Div(v, hn::Mul(hn::LoadU(d, count + i), hn::Set(d, lines)));
      return v;
    });
    return;
  }
  const auto inner = static_cast<std::size_t>(l.inner);
  for (Index o = 0; o < l.outputs; ++o, y += y_place) {
    SlideAll<Op>(scratch, acc + o * l.stride * l.inner, inner, l.taps, l.step * l.inner);
    const C size = kMean ? count[o] * lines : C{};
    Emit(y, y_step, scratch, inner, [&](auto d, auto v, std::size_t) HWY_ATTR {
      if constexpr (kMean) return hn::Div(v, hn::Set(d, size));
      (void)d;
      return v;
    });
  }
}

template <class T>
Pool<T> MaxOf() {
  return {&Fold<T, Largest>, &Slide<T, Largest, false>};
}
template <class T>
Pool<T> MeanOf() {
  return {&Fold<T, Sum>, &Slide<T, Sum, true>};
}

}  // namespace

MaxPoolTable MaxPools() {
  return {MaxOf<u8>(),   MaxOf<u32>(), MaxOf<i16>(), MaxOf<i32>(), MaxOf<i64>(),
          MaxOf<bf16>(), MaxOf<f16>(), MaxOf<f32>(), MaxOf<f64>(), MaxOf<f8e4m3>()};
}
MeanPoolTable MeanPools() {
  return {MeanOf<bf16>(), MeanOf<f16>(), MeanOf<f32>(), MeanOf<f64>(), MeanOf<f8e4m3>()};
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {
HWY_EXPORT(MaxPools);
HWY_EXPORT(MeanPools);

template <Element T>
Pool<T> max_pool() {
  return std::get<Pool<T>>(HWY_DYNAMIC_DISPATCH(MaxPools)());
}
template <Float T>
Pool<T> mean_pool() {
  return std::get<Pool<T>>(HWY_DYNAMIC_DISPATCH(MeanPools)());
}
#define WICK_POOL(T) template Pool<T> max_pool<T>();
WICK_FOR_ELEMENTS(WICK_POOL)
#undef WICK_POOL
#define WICK_POOL(T) template Pool<T> mean_pool<T>();
WICK_FOR_FLOATS(WICK_POOL)
#undef WICK_POOL

}  // namespace wick::kernels
#endif
