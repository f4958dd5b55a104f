// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include "wick/kernels/targets.h"
#include "wick/kernels/upsample.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/bilinear.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "wick/kernels/line-inl.h"

#ifndef WICK_KERNELS_BILINEAR_TABLE_
#define WICK_KERNELS_BILINEAR_TABLE_
namespace wick::kernels {
using BilinearTable =
    std::tuple<Bilinear<bf16>, Bilinear<f16>, Bilinear<f32>, Bilinear<f64>, Bilinear<f8e4m3>>;
}  // namespace wick::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class D, class V>
HWY_INLINE V Mix(D d, V a, V b, V part) {
  const V mixed = hn::MulAdd(part, b, hn::Mul(hn::Sub(hn::Set(d, 1), part), a));
  return hn::IfThenElse(hn::Eq(part, hn::Zero(d)), a, mixed);
}

template <class T>
void Load(Compute<T>* to, const T* x, Index n, Index step) {
  Gather(to, x, static_cast<std::size_t>(n), step);
}

template <class C>
void Spread(C* HWY_RESTRICT to, const C* HWY_RESTRICT x, Index n, Index inner,
            const Between<C>& between) {
  const hn::ScalableTag<C> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  if (inner == 1) {
    for (Index i = 0; i < n; i += lanes) {
      const auto a = hn::GatherIndex(d, x, hn::LoadU(di, between.low + i));
      const auto b = hn::GatherIndex(d, x, hn::LoadU(di, between.high + i));
      hn::StoreU(Mix(d, a, b, hn::LoadU(d, between.part + i)), d, to + i);
    }
    return;
  }
  for (Index i = 0; i < n; ++i, to += inner) {
    const C* a = x + between.low[i] * inner;
    const C* b = x + between.high[i] * inner;
    const auto part = hn::Set(d, between.part[i]);
    for (Index c = 0; c < inner; c += lanes)  // what goes past is overwritten by the next place
      hn::StoreU(Mix(d, hn::LoadU(d, a + c), hn::LoadU(d, b + c), part), d, to + c);
  }
}

template <class T>
void Blend(T* y, Index step, const Compute<T>* a, const Compute<T>* b, Compute<T> part, Index n) {
  const auto count = static_cast<std::size_t>(n);
  if (part == 0)
    return Emit(y, step, a, count, [](auto, auto v, std::size_t) HWY_ATTR { return v; });
  Emit(y, step, a, count, [&](auto d, auto v, std::size_t i) HWY_ATTR {
    return Mix(d, v, hn::LoadU(d, b + i), hn::Set(d, part));
  });
}

template <class T>
Bilinear<T> Make() {
  return {&Load<T>, &Spread<Compute<T>>, &Blend<T>};
}

}  // namespace

BilinearTable Bilinears() {
  return {Make<bf16>(), Make<f16>(), Make<f32>(), Make<f64>(), Make<f8e4m3>()};
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {
HWY_EXPORT(Bilinears);

template <Float T>
Bilinear<T> bilinear() {
  return std::get<Bilinear<T>>(HWY_DYNAMIC_DISPATCH(Bilinears)());
}
#define WICK_BILINEAR(T) template Bilinear<T> bilinear<T>();
WICK_FOR_FLOATS(WICK_BILINEAR)
#undef WICK_BILINEAR

}  // namespace wick::kernels
#endif
