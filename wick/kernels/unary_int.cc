// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/targets.h"
#include "wick/kernels/unary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/unary_int.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set

#include "hwy/highway.h"
#include "wick/kernels/int-inl.h"
#include "wick/kernels/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

/// One functor per line of the op table that integers have (Domain::numbers), of the same name.
namespace functor {

struct neg {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return SubInt(d, hn::Zero(d), x);
  }
};
struct abs {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    if constexpr (hwy::IsSigned<hn::TFromD<D>>()) {
      return hn::Max(x, SubInt(d, hn::Zero(d), x));
    } else {
      return x;
    }
  }
};
struct sign {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V low = hn::Min(x, hn::Set(d, 1));
    if constexpr (hwy::IsSigned<hn::TFromD<D>>()) {
      return hn::Max(low, hn::Set(d, -1));
    } else {
      return low;
    }
  }
};
struct sqr {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return MulInt(d, x, x);
  }
};
struct relu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    if constexpr (hwy::IsSigned<hn::TFromD<D>>()) {
      return hn::Max(x, hn::Zero(d));
    } else {
      return x;
    }
  }
};
struct identity {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return x;
  }
};
using floor = identity;
using ceil = identity;
using round = identity;
using round_half_away = identity;

}  // namespace functor

template <class T, class F>
void Loop(T* y, const T* x, const Loop2<2>& loop) {
  const F f;
  constexpr int kBytes = static_cast<int>(sizeof(T));
  run<2>(loop, {y, x}, {kBytes, kBytes}, &Map<T, F, 2>, &f);
}

// The domain of a line says whether its functor is looked for here.
template <class T>
UnaryFn<T> Select(UnaryOp op) {
  switch (op) {
#define WICK_FUNCTOR_numbers(name) \
  case UnaryOp::name: return &Loop<T, functor::name>;
#define WICK_FUNCTOR_floats(name) \
  case UnaryOp::name: return nullptr;
#define WICK_UNARY(name, domain, ...) WICK_FUNCTOR_##domain(name)
#include "wick/core/ops.inc"
#undef WICK_FUNCTOR_numbers
#undef WICK_FUNCTOR_floats
  }
  return nullptr;
}

UnaryFn<u8> SelectU8(UnaryOp op) { return Select<u8>(op); }
UnaryFn<u32> SelectU32(UnaryOp op) { return Select<u32>(op); }
UnaryFn<i16> SelectI16(UnaryOp op) { return Select<i16>(op); }
UnaryFn<i32> SelectI32(UnaryOp op) { return Select<i32>(op); }
UnaryFn<i64> SelectI64(UnaryOp op) { return Select<i64>(op); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(SelectU8);
HWY_EXPORT(SelectU32);
HWY_EXPORT(SelectI16);
HWY_EXPORT(SelectI32);
HWY_EXPORT(SelectI64);

template <>
UnaryFn<u8> unary<u8>(UnaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectU8)(op);
}
template <>
UnaryFn<u32> unary<u32>(UnaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectU32)(op);
}
template <>
UnaryFn<i16> unary<i16>(UnaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectI16)(op);
}
template <>
UnaryFn<i32> unary<i32>(UnaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectI32)(op);
}
template <>
UnaryFn<i64> unary<i64>(UnaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectI64)(op);
}

}  // namespace wick::kernels
#endif
