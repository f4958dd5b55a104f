// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/param.h"

#include <limits>

#include "wick/core/convert.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/param.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set

#include "hwy/highway.h"
#include "wick/kernels/map-inl.h"
#include "wick/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

/// One functor per line of the op table, of the same name. C: the type that T computes in.
namespace functor {

template <class C>
struct Scalars {
  C p, q;
};

template <class C>
struct affine : Scalars<C> {
  static constexpr bool kLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Add(hn::Mul(x, hn::Set(d, this->p)), hn::Set(d, this->q));
  }
};
template <class C>
struct clamp : Scalars<C> {
  static constexpr bool kLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V low = hn::Set(d, this->p), high = hn::Set(d, this->q);
    x = hn::IfThenElse(hn::Lt(x, low), low, x);
    return hn::IfThenElse(hn::Gt(x, high), high, x);
  }
};
template <class C>
struct elu : Scalars<C> {
  static constexpr bool kLight = false;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V below = hn::Mul(hn::Set(d, this->p), Expm1(d, x));
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, below);
  }
};
template <class C>
struct powf : Scalars<C> {
  static constexpr bool kLight = false;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Pow(d, x, hn::Set(d, this->p));
  }
};

}  // namespace functor

template <class T, template <class> class F>
void Loop(T* y, const T* x, const Loop2<2>& loop, f64 p, f64 q) {
  using C = Compute<T>;
  const F<C> f{{static_cast<C>(p), static_cast<C>(q)}};
  constexpr int kBytes = static_cast<int>(sizeof(T));
  run<2>(loop, {y, x}, {kBytes, kBytes}, PieceOf<T, F<C>, 2>(), &f);
}

// Integers, element by element.
struct IntScalars {
  f64 p, q;
};
template <class T>
void AffinePiece(const Piece<2>& piece, const void* context) {
  const auto s = *static_cast<const IntScalars*>(context);
  T* y = static_cast<T*>(piece.p[0]);
  const T* x = static_cast<const T*>(piece.p[1]);
  for (std::size_t i = 0; i < piece.n; ++i)
    y[i] = convert<T>(static_cast<f64>(x[i * piece.step[1]]) * s.p + s.q);
}
template <class T>
struct Bounds {
  T low, high;
};
template <class T>
void ClampPiece(const Piece<2>& piece, const void* context) {
  const auto s = *static_cast<const Bounds<T>*>(context);
  T* y = static_cast<T*>(piece.p[0]);
  const T* x = static_cast<const T*>(piece.p[1]);
  for (std::size_t i = 0; i < piece.n; ++i) {
    const T v = x[i * piece.step[1]];
    const T raised = v < s.low ? s.low : v;
    y[i] = raised > s.high ? s.high : raised;
  }
}
template <Int T>
void IntAffine(T* y, const T* x, const Loop2<2>& loop, f64 p, f64 q) {
  const IntScalars s{p, q};
  constexpr int kBytes = static_cast<int>(sizeof(T));
  run<2>(loop, {y, x}, {kBytes, kBytes}, &AffinePiece<T>, &s);
}
template <Int T>
void IntClamp(T* y, const T* x, const Loop2<2>& loop, f64 p, f64 q) {
  // Truncation keeps order, so the bounds can be cast instead of the result. A NaN is no bound.
  const Bounds<T> s{p != p ? std::numeric_limits<T>::min() : convert<T>(p),
                    q != q ? std::numeric_limits<T>::max() : convert<T>(q)};
  constexpr int kBytes = static_cast<int>(sizeof(T));
  run<2>(loop, {y, x}, {kBytes, kBytes}, &ClampPiece<T>, &s);
}

template <Element T>
ParamFn<T> Select(ParamOp op) {
  if constexpr (Int<T>) {
    if (op == ParamOp::affine) return &IntAffine<T>;
    if (op == ParamOp::clamp) return &IntClamp<T>;
  } else {
    switch (op) {
#define WICK_PARAM(name, ...) \
  case ParamOp::name: return &Loop<T, functor::name>;
#include "wick/core/ops.inc"
    }
  }
  return nullptr;
}

// HWY_EXPORT wants plain functions.
#define WICK_SELECT(T) \
  ParamFn<T> Select_##T(ParamOp op) { return Select<T>(op); }
WICK_FOR_ELEMENTS(WICK_SELECT)
#undef WICK_SELECT

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

#define WICK_EXPORT(T)                           \
  HWY_EXPORT(Select_##T);                        \
  template <>                                    \
  ParamFn<T> param<T>(ParamOp op) {              \
    return HWY_DYNAMIC_DISPATCH(Select_##T)(op); \
  }
WICK_FOR_ELEMENTS(WICK_EXPORT)
#undef WICK_EXPORT

}  // namespace wick::kernels
#endif
