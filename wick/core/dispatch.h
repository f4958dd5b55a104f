// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

#include "wick/base/error.h"
#include "wick/core/storage.h"

namespace wick {

// The one place where a run-time dtype becomes a type. An op hands over a generic lambda; the
// constraint on its template parameter is the list of dtypes it supports, any other dtype throws:
//
//   dispatch(x.storage(), "exp", [&]<Float T>(const Buffer<T>& b) { ... });

/// "op: dtype is not supported".
[[noreturn]] inline void throw_unsupported(DType t, std::string_view op) {
  throw Error(ErrorKind::unsupported_dtype, op, str(name(t), " is not supported"));
}

/// Both dtypes and the op in one message.
inline void check_same_dtype(DType a, DType b, std::string_view op) {
  if (a != b)
    throw Error(ErrorKind::dtype, op, str("wanted equal dtypes, got ", name(a), " and ", name(b)));
}

/// f(std::type_identity<T>{}) for the T of a dtype that has no data yet.
template <class R = void, class F>
R dispatch(DType t, std::string_view op, F&& f) {
  const auto call = [&]<class T>(std::type_identity<T> id) -> R {
    if constexpr (std::invocable<F&, std::type_identity<T>>) {
      return static_cast<R>(f(id));
    } else {
      throw_unsupported(dtype_of<T>, op);
    }
  };
  switch (t) {
    case DType::u8: return call(std::type_identity<u8>{});
    case DType::u32: return call(std::type_identity<u32>{});
    case DType::i16: return call(std::type_identity<i16>{});
    case DType::i32: return call(std::type_identity<i32>{});
    case DType::i64: return call(std::type_identity<i64>{});
    case DType::bf16: return call(std::type_identity<bf16>{});
    case DType::f16: return call(std::type_identity<f16>{});
    case DType::f32: return call(std::type_identity<f32>{});
    case DType::f64: return call(std::type_identity<f64>{});
    case DType::f8e4m3: return call(std::type_identity<f8e4m3>{});
    case DType::f6e2m3: return call(std::type_identity<f6e2m3>{});
    case DType::f6e3m2: return call(std::type_identity<f6e3m2>{});
    case DType::f4: return call(std::type_identity<f4>{});
    case DType::f8e8m0: return call(std::type_identity<f8e8m0>{});
  }
  throw Error(ErrorKind::internal, op, str("no dtype has the number ", static_cast<int>(t)));
}

/// One operand: f(const Buffer<T>&).
template <class R = void, class F>
R dispatch(const Storage& s, std::string_view op, F&& f) {
  return dispatch<R>(dtype(s), op,
                     [&]<class T>(std::type_identity<T>) -> R
                       requires std::invocable<F&, const Buffer<T>&>
                     { return static_cast<R>(f(*std::get_if<Buffer<T>>(&s))); });
}

/// Two operands of one dtype: f(const Buffer<T>&, const Buffer<T>&).
template <class R = void, class F>
R dispatch(const Storage& a, const Storage& b, std::string_view op, F&& f) {
  check_same_dtype(dtype(a), dtype(b), op);
  return dispatch<R>(
      dtype(a), op,
      [&]<class T>(std::type_identity<T>) -> R
        requires std::invocable<F&, const Buffer<T>&, const Buffer<T>&>
      { return static_cast<R>(f(*std::get_if<Buffer<T>>(&a), *std::get_if<Buffer<T>>(&b))); });
}

/// Three operands of one dtype, the output being one of them.
template <class R = void, class F>
R dispatch(const Storage& a, const Storage& b, const Storage& c, std::string_view op, F&& f) {
  check_same_dtype(dtype(a), dtype(b), op);
  check_same_dtype(dtype(a), dtype(c), op);
  return dispatch<R>(
      dtype(a), op,
      [&]<class T>(std::type_identity<T>) -> R
        requires std::invocable<F&, const Buffer<T>&, const Buffer<T>&, const Buffer<T>&>
      {
        return static_cast<R>(f(*std::get_if<Buffer<T>>(&a), *std::get_if<Buffer<T>>(&b),
                                *std::get_if<Buffer<T>>(&c)));
      });
}

}  // namespace wick
