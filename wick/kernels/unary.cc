// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/unary.h"

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/unary.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set

#include "hwy/highway.h"
#include "wick/kernels/map-inl.h"
#include "wick/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

/// One functor per line of the op table, of the same name: vectors in, vectors out. kLight: so few
/// instructions that f16, bf16 and f8 get loops of their own.
namespace functor {

struct Light {
  static constexpr bool kLight = true;
};
struct Heavy {
  static constexpr bool kLight = false;
};

struct neg : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Neg(x);
  }
};
struct abs : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Abs(x);
  }
};
struct sign : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = hn::CopySign(hn::Set(d, 1.0F), x);
    return hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Zero(d)), one, x);
  }
};
struct sqr : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Mul(x, x);
  }
};
struct relu : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(hn::Le(x, hn::Zero(d)), hn::Zero(d), x);
  }
};
struct floor : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return RoundDown(d, x);
  }
};
struct ceil : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return RoundUp(d, x);
  }
};
struct round : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return RoundEven(d, x);
  }
};
struct round_half_away : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return RoundHalfAway(d, x);
  }
};
struct recip : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, 1.0F), x);
  }
};
struct sqrt : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Sqrt(x);
  }
};
struct rsqrt : Light {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, 1.0F), hn::Sqrt(x));
  }
};
struct exp : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Exp(d, x);
  }
};
struct log : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Log(d, x);
  }
};
struct log1p : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Log1p(d, x);
  }
};
struct expm1 : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Expm1(d, x);
  }
};
struct sin : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return SinCos(d, x, 0);
  }
};
struct cos : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return SinCos(d, x, 1);
  }
};
struct tan : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Tan(d, x);
  }
};
struct tanh : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Tanh(d, x);
  }
};
struct erf : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Erf(d, x);
  }
};
struct sigmoid : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Sigmoid(d, x);
  }
};
struct log_sigmoid : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Neg(Softplus(d, hn::Neg(x)));
  }
};
struct softplus : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Softplus(d, x);
  }
};
struct silu : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Silu(d, x);
  }
};
struct gelu : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Gelu(d, x);
  }
};
struct gelu_erf : Heavy {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return GeluErf(d, x);
  }
};

}  // namespace functor

template <class T, class F>
void Loop(T* y, const T* x, const Loop2<2>& loop) {
  const F f;
  constexpr int kBytes = static_cast<int>(sizeof(T));
  run<2>(loop, {y, x}, {kBytes, kBytes}, PieceOf<T, F, 2>(), &f);
}

template <Float T>
UnaryFn<T> Select(UnaryOp op) {
  switch (op) {
#define WICK_UNARY(name, ...) \
  case UnaryOp::name: return &Loop<T, functor::name>;
#include "wick/core/ops.inc"
  }
  return nullptr;
}

// HWY_EXPORT wants plain functions.
UnaryFn<bf16> SelectBF16(UnaryOp op) { return Select<bf16>(op); }
UnaryFn<f16> SelectF16(UnaryOp op) { return Select<f16>(op); }
UnaryFn<f32> SelectF32(UnaryOp op) { return Select<f32>(op); }
UnaryFn<f64> SelectF64(UnaryOp op) { return Select<f64>(op); }
UnaryFn<f8e4m3> SelectF8(UnaryOp op) { return Select<f8e4m3>(op); }

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
UnaryFn<bf16> unary<bf16>(UnaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectBF16)(op);
}
template <>
UnaryFn<f16> unary<f16>(UnaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectF16)(op);
}
template <>
UnaryFn<f32> unary<f32>(UnaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectF32)(op);
}
template <>
UnaryFn<f64> unary<f64>(UnaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectF64)(op);
}
template <>
UnaryFn<f8e4m3> unary<f8e4m3>(UnaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectF8)(op);
}

}  // namespace wick::kernels
#endif
