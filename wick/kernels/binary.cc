// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/binary.h"

#include <cmath>
#include <limits>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/binary.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set

#include "hwy/highway.h"
#include "wick/kernels/map-inl.h"
#include "wick/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

/// One functor per line of the op table, of the same name: vectors in, vectors out.
namespace functor {

struct Light {
  static constexpr bool kLight = true;
};
struct Heavy {
  static constexpr bool kLight = false;
};

struct add : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};
struct sub : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Sub(a, b);
  }
};
struct mul : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};
struct div : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Div(a, b);
  }
};

/// Instruction sets disagree on NaN and on the order of -0 and 0: here a NaN wins, and of equal
/// operands the second one is taken.
struct maximum : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  }
};
struct minimum : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  }
};
struct pow : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return Pow(d, a, b);
  }
};

/// Floor-mod is exact, but for quotients beyond the mantissa no few instructions give it.
struct rem : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    using T = hn::TFromD<D>;
    HWY_ALIGN T x[HWY_MAX_BYTES / sizeof(T)], y[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(a, d, x);
    hn::Store(b, d, y);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
      const T r = std::fmod(x[i], y[i]);
      x[i] = r == 0 ? std::copysign(r, y[i]) : (r < 0) != (y[i] < 0) ? r + y[i] : r;
    }
    return hn::Load(d, x);
  }
};

/// The floor of the rounded quotient is at most 1 too large, where it fell on a whole number from
/// below: the sign of the remainder tells.
struct floor_div : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    using T = hn::TFromD<D>;
#if HWY_NATIVE_FMA
    const V zero = hn::Zero(d);
    const V ratio = hn::Div(a, b);
    const V q = RoundDown(d, ratio);
    const V product_off = hn::NegMulAdd(q, b, a);
    const V r = hn::IfThenElse(hn::Eq(q, zero), a, product_off);  // b may be infinite then
    const auto below = hn::Or(hn::And(hn::Lt(r, zero), hn::Gt(b, zero)),
                              hn::And(hn::Gt(r, zero), hn::Lt(b, zero)));
    // Beyond the mantissa the quotient is whole as it is.
    const V limit = hn::Set(d, static_cast<T>(std::uint64_t{1} << FloatFacts<T>::kMantissa));
    const auto lower = hn::And(below, hn::Lt(hn::Abs(q), limit));
    const V y = hn::Sub(q, hn::IfThenElseZero(lower, hn::Set(d, 1.0F)));
    const auto bad = hn::And(hn::Not(hn::Eq(hn::Sub(a, a), zero)), hn::Not(hn::Eq(b, zero)));
    return hn::IfThenElse(bad, hn::Set(d, std::numeric_limits<T>::quiet_NaN()), y);
#else
    HWY_ALIGN T x[HWY_MAX_BYTES / sizeof(T)], y[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(a, d, x);
    hn::Store(b, d, y);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i)
      x[i] = static_cast<T>(meaning::floor_div(x[i], y[i]));
    return hn::Load(d, x);
#endif
  }
};

}  // namespace functor

template <class T, class F>
void Loop(T* y, const T* a, const T* b, const Loop2<3>& loop) {
  const F f;
  constexpr int kBytes = static_cast<int>(sizeof(T));
  run<3>(loop, {y, a, b}, {kBytes, kBytes, kBytes}, PieceOf<T, F, 3>(), &f);
}

template <Float T>
BinaryFn<T> Select(BinaryOp op) {
  switch (op) {
#define WICK_BINARY(name, ...) \
  case BinaryOp::name: return &Loop<T, functor::name>;
#include "wick/core/ops.inc"
  }
  return nullptr;
}

// HWY_EXPORT wants plain functions.
BinaryFn<bf16> SelectBF16(BinaryOp op) { return Select<bf16>(op); }
BinaryFn<f16> SelectF16(BinaryOp op) { return Select<f16>(op); }
BinaryFn<f32> SelectF32(BinaryOp op) { return Select<f32>(op); }
BinaryFn<f64> SelectF64(BinaryOp op) { return Select<f64>(op); }
BinaryFn<f8e4m3> SelectF8(BinaryOp op) { return Select<f8e4m3>(op); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(SelectBF16);
HWY_EXPORT(SelectF16);
HWY_EXPORT(SelectF32);
HWY_EXPORT(SelectF64);
HWY_EXPORT(SelectF8);

template <>
BinaryFn<bf16> binary<bf16>(BinaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectBF16)(op);
}
template <>
BinaryFn<f16> binary<f16>(BinaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectF16)(op);
}
template <>
BinaryFn<f32> binary<f32>(BinaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectF32)(op);
}
template <>
BinaryFn<f64> binary<f64>(BinaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectF64)(op);
}
template <>
BinaryFn<f8e4m3> binary<f8e4m3>(BinaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectF8)(op);
}

template <Element T>
CheckFn<T> integer_check(BinaryOp) {
  return nullptr;
}
#define WICK_INSTANCE(T) template CheckFn<T> integer_check(BinaryOp);
WICK_FOR_FLOATS(WICK_INSTANCE)
#undef WICK_INSTANCE

}  // namespace wick::kernels
#endif
