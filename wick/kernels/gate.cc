// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/gate.h"

#include <algorithm>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gate.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "wick/kernels/wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t kPart = 256;  // elements at a time

/// Calls f(at, count) for parts of all runs; `at` holds the offset of each operand.
template <std::size_t N, class F>
HWY_INLINE void ForEachPart(const Loop2<N>& loop, F f) {
  for (Index j = 0; j < loop.m; ++j)
    for (Index i = 0; i < loop.n; i += Index{kPart}) {
      std::array<Index, N> at;
      for (std::size_t k = 0; k < N; ++k) at[k] = j * loop.outer[k] + i * loop.inner[k];
      f(at, static_cast<std::size_t>(std::min<Index>(kPart, loop.n - i)));
    }
}

template <class T>
void Swiglu(T* y, const T* gate, const T* up, const Loop2<3>& loop) {
  using C = Compute<T>;
  ForEachPart(loop, [&](const auto& at, std::size_t n) HWY_ATTR {
    HWY_ALIGN C g[kPart + 16], u[kPart + 16];
    Gather(g, gate + at[1], n, loop.inner[1]);
    Gather(u, up + at[2], n, loop.inner[2]);
    Emit(y + at[0], loop.inner[0], g, n, [&](auto d, auto v, std::size_t i) HWY_ATTR {
      return hn::Mul(Silu(d, v), hn::LoadU(d, u + i));
    });
  });
}

template <class T>
void Rotary(const RotaryOperands<T>& p, const Loop2<6>& loop) {
  using C = Compute<T>;
  ForEachPart(loop, [&](const auto& at, std::size_t n) HWY_ATTR {
    HWY_ALIGN C a[kPart + 16], b[kPart + 16], c[kPart + 16], s[kPart + 16];
    Gather(a, p.a + at[2], n, loop.inner[2]);
    Gather(b, p.b + at[3], n, loop.inner[3]);
    Gather(c, p.cosine + at[4], n, loop.inner[4]);
    Gather(s, p.sine + at[5], n, loop.inner[5]);
    Emit(p.y0 + at[0], loop.inner[0], a, n, [&](auto d, auto v, std::size_t i) HWY_ATTR {
      return hn::Sub(hn::Mul(v, hn::LoadU(d, c + i)),
                     hn::Mul(hn::LoadU(d, b + i), hn::LoadU(d, s + i)));
    });
    Emit(p.y1 + at[1], loop.inner[1], a, n, [&](auto d, auto v, std::size_t i) HWY_ATTR {
      return hn::Add(hn::Mul(v, hn::LoadU(d, s + i)),
                     hn::Mul(hn::LoadU(d, b + i), hn::LoadU(d, c + i)));
    });
  });
}

template <class T>
void Normalize(T* y, const T* x, const f64* params, Index plane, const Loop2<3>& loop) {
  const hn::ScalableTag<f64> d;
  const Index step = loop.inner[2];
  ForEachPart(loop, [&](const auto& at, std::size_t n) HWY_ATTR {
    HWY_ALIGN f64 v[kPart + 16];
    Widen(v, x + at[1], n, loop.inner[1]);
    std::fill_n(v + n, 16, 0.0);
    const f64* p = params + at[2];
    if (step == 0) {
      const auto mean = hn::Set(d, p[0]), scale = hn::Set(d, p[plane]),
                 shift = hn::Set(d, p[2 * plane]);
      for (std::size_t i = 0; i < n; i += hn::Lanes(d))
        hn::Store(hn::Add(hn::Mul(hn::Sub(hn::Load(d, v + i), mean), scale), shift), d, v + i);
    } else if (step == 1) {
      for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
        const auto centred = hn::Sub(hn::Load(d, v + i), hn::LoadU(d, p + i));
        const auto scaled = hn::Mul(centred, hn::LoadU(d, p + plane + i));
        hn::Store(hn::Add(scaled, hn::LoadU(d, p + 2 * plane + i)), d, v + i);
      }
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        const f64* q = p + static_cast<Index>(i) * step;
        v[i] = (v[i] - q[0]) * q[plane] + q[2 * plane];
      }
    }
    Narrow(y + at[0], v, n, loop.inner[0]);
  });
}

// HWY_EXPORT wants plain functions.
#define WICK_KERNELS(T)                           \
  SwigluFn<T> Swiglu_##T() { return &Swiglu<T>; } \
  RotaryFn<T> Rotary_##T() { return &Rotary<T>; } \
  NormalizeFn<T> Normalize_##T() { return &Normalize<T>; }
WICK_FOR_FLOATS(WICK_KERNELS)
#undef WICK_KERNELS

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

#define WICK_EXPORT(T)                            \
  HWY_EXPORT(Swiglu_##T);                         \
  HWY_EXPORT(Rotary_##T);                         \
  HWY_EXPORT(Normalize_##T);                      \
  template <>                                     \
  SwigluFn<T> swiglu<T>() {                       \
    return HWY_DYNAMIC_DISPATCH(Swiglu_##T)();    \
  }                                               \
  template <>                                     \
  RotaryFn<T> rotary<T>() {                       \
    return HWY_DYNAMIC_DISPATCH(Rotary_##T)();    \
  }                                               \
  template <>                                     \
  NormalizeFn<T> normalize<T>() {                 \
    return HWY_DYNAMIC_DISPATCH(Normalize_##T)(); \
  }
WICK_FOR_FLOATS(WICK_EXPORT)
#undef WICK_EXPORT

}  // namespace wick::kernels
#endif
