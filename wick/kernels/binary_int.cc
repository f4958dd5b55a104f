// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <type_traits>

#include "wick/kernels/binary.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/binary_int.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set

#include "hwy/highway.h"
#include "wick/kernels/int-inl.h"
#include "wick/kernels/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

/// One functor per line of the op table, of the same name: vectors in, vectors out, or, where no
/// vector instruction exists, element by element.
namespace functor {

struct add {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return AddInt(d, a, b);
  }
};
struct sub {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return SubInt(d, a, b);
  }
};
struct mul {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return MulInt(d, a, b);
  }
};
struct maximum {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Max(a, b);
  }
};
struct minimum {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Min(a, b);
  }
};

struct Scalar {};

struct div : Scalar {
  template <class T>
  static T Of(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1)
        return static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(a));
    }
    return static_cast<T>(a / b);
  }
};
struct rem : Scalar {
  template <class T>
  static T Of(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
      const auto r = static_cast<T>(a % b);
      return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
    }
    return static_cast<T>(a % b);
  }
};
struct floor_div : Scalar {
  template <class T>
  static T Of(T a, T b) {
    const T q = div::Of(a, b);
    if constexpr (std::is_signed_v<T>) {
      // div has truncated; of -1 it is exact.
      if (b != 0 && b != -1 && a % b != 0 && (a < 0) != (b < 0)) return static_cast<T>(q - 1);
    }
    return q;
  }
};
struct pow : Scalar {
  template <class T>
  static T Of(T a, T b) {
    // Squares and multiplies in 64 bits, which wraps to the same low bits.
    auto base = static_cast<std::uint64_t>(a);
    auto e = static_cast<std::uint64_t>(b);
    std::uint64_t result = 1;
    for (; e != 0; e >>= 1) {
      if ((e & 1) != 0) result *= base;
      base *= base;
    }
    return static_cast<T>(result);
  }
};

}  // namespace functor

template <class T, class F>
void ScalarPiece(const Piece<3>& piece, const void*) {
  T* y = static_cast<T*>(piece.p[0]);
  const T* a = static_cast<const T*>(piece.p[1]);
  const T* b = static_cast<const T*>(piece.p[2]);
  for (std::size_t i = 0; i < piece.n; ++i)
    y[i] = F::Of(a[i * piece.step[1]], b[i * piece.step[2]]);
}

template <class T, class F>
void Loop(T* y, const T* a, const T* b, const Loop2<3>& loop) {
  const F f;
  constexpr int kBytes = static_cast<int>(sizeof(T));
  PieceFn<3> piece;
  if constexpr (std::is_base_of_v<functor::Scalar, F>) {
    piece = &ScalarPiece<T, F>;
  } else {
    piece = &Map<T, F, 3>;
  }
  run<3>(loop, {y, a, b}, {kBytes, kBytes, kBytes}, piece, &f);
}

template <Int T>
BinaryFn<T> Select(BinaryOp op) {
  switch (op) {
#define WICK_FUNCTOR_numbers(name) \
  case BinaryOp::name: return &Loop<T, functor::name>;
#define WICK_FUNCTOR_floats(name) \
  case BinaryOp::name: return nullptr;
#define WICK_BINARY(name, domain, ...) WICK_FUNCTOR_##domain(name)
#include "wick/core/ops.inc"
#undef WICK_FUNCTOR_numbers
#undef WICK_FUNCTOR_floats
  }
  return nullptr;
}

BinaryFn<u8> SelectU8(BinaryOp op) { return Select<u8>(op); }
BinaryFn<u32> SelectU32(BinaryOp op) { return Select<u32>(op); }
BinaryFn<i16> SelectI16(BinaryOp op) { return Select<i16>(op); }
BinaryFn<i32> SelectI32(BinaryOp op) { return Select<i32>(op); }
BinaryFn<i64> SelectI64(BinaryOp op) { return Select<i64>(op); }

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
BinaryFn<u8> binary<u8>(BinaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectU8)(op);
}
template <>
BinaryFn<u32> binary<u32>(BinaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectU32)(op);
}
template <>
BinaryFn<i16> binary<i16>(BinaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectI16)(op);
}
template <>
BinaryFn<i32> binary<i32>(BinaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectI32)(op);
}
template <>
BinaryFn<i64> binary<i64>(BinaryOp op) {
  return HWY_DYNAMIC_DISPATCH(SelectI64)(op);
}

namespace {

// Counts instead of stopping at the first hit: the compiler makes vector code of it, and hits are
// rare.
template <class T, class Bad>
bool any(const T* b, const Loop2<1>& loop, Bad bad) {
  for (Index r = 0; r < loop.m; ++r) {
    const T* p = b + r * loop.outer[0];
    bool found = false;
    if (loop.inner[0] == 1) {
      for (Index i = 0; i < loop.n; ++i) found |= bad(p[i]);
    } else {
      for (Index i = 0; i < loop.n; ++i) found |= bad(p[i * loop.inner[0]]);
    }
    if (found) return true;
  }
  return false;
}

template <class T>
bool has_zero(const T* b, const Loop2<1>& loop) {
  return any(b, loop, [](T x) { return x == 0; });
}
template <class T>
bool has_negative(const T* b, const Loop2<1>& loop) {
  return any(b, loop, [](T x) { return x < 0; });
}

}  // namespace

template <Element T>
CheckFn<T> integer_check(BinaryOp op) {
  if (op == BinaryOp::div || op == BinaryOp::rem || op == BinaryOp::floor_div) return &has_zero<T>;
  if constexpr (std::is_signed_v<T>) {
    if (op == BinaryOp::pow) return &has_negative<T>;
  }
  return nullptr;
}
#define WICK_INSTANCE(T) template CheckFn<T> integer_check(BinaryOp);
WICK_FOR_INTS(WICK_INSTANCE)
#undef WICK_INSTANCE

}  // namespace wick::kernels
#endif
