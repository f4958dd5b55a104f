// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <iterator>
#include <vector>

#include "tests/views.h"
#include "wick/core/dispatch.h"

// The ops of the table by number: their calls on tensors, their meanings on doubles, and values to
// try them on.

namespace wick::testing {

inline constexpr DType kTen[] = {DType::u8,   DType::u32, DType::i16, DType::i32, DType::i64,
                                 DType::bf16, DType::f16, DType::f32, DType::f64, DType::f8e4m3};

/// All values of one of the op enums.
template <class Op>
std::vector<Op> all_ops() {
  const auto count = [] {
    if constexpr (std::same_as<Op, UnaryOp>) return std::size(kUnaryOps);
    if constexpr (std::same_as<Op, ParamOp>) return std::size(kParamOps);
    if constexpr (std::same_as<Op, BinaryOp>) return std::size(kBinaryOps);
    if constexpr (std::same_as<Op, CompareOp>) return std::size(kCompareOps);
  }();
  std::vector<Op> ops;
  for (std::size_t i = 0; i < count; ++i) ops.push_back(static_cast<Op>(i));
  return ops;
}

constexpr bool takes(Domain domain, DType t) {
  return is_float(t) || (domain == Domain::numbers && is_int(t));
}

inline double meaning_of(UnaryOp op, double x) {
  switch (op) {
#define WICK_UNARY(name, domain, meaning, doc) \
  case UnaryOp::name: return meaning;
#include "wick/core/ops.inc"
  }
  return NAN;
}
inline double meaning_of(ParamOp op, double x, double p, double q) {
  (void)q;
  switch (op) {
#define WICK_PARAM(name, domain, meaning, doc) \
  case ParamOp::name: return meaning;
#include "wick/core/ops.inc"
  }
  return NAN;
}
inline double meaning_of(BinaryOp op, double a, double b) {
  switch (op) {
#define WICK_BINARY(name, domain, meaning, doc) \
  case BinaryOp::name: return meaning;
#include "wick/core/ops.inc"
  }
  return NAN;
}
inline double meaning_of(CompareOp op, double a, double b) {
  switch (op) {
#define WICK_COMPARE(name, meaning, doc) \
  case CompareOp::name: return (meaning) ? 1 : 0;
#include "wick/core/ops.inc"
  }
  return NAN;
}

inline Tensor call(UnaryOp op, const Tensor& x) {
  switch (op) {
#define WICK_UNARY(name, ...) \
  case UnaryOp::name: return x.name();
#include "wick/core/ops.inc"
  }
  return {};
}
inline Tensor call(UnaryOp op, Tensor&& x) {
  switch (op) {
#define WICK_UNARY(name, ...) \
  case UnaryOp::name: return std::move(x).name();
#include "wick/core/ops.inc"
  }
  return {};
}
inline void call_into(UnaryOp op, const Tensor& out, const Tensor& x) {
  switch (op) {
#define WICK_UNARY(name, ...) \
  case UnaryOp::name: return name##_into(out, x);
#include "wick/core/ops.inc"
  }
}
inline Tensor call(ParamOp op, const Tensor& x, double p, double q) {
  switch (op) {
    case ParamOp::affine: return x.affine(p, q);
    case ParamOp::clamp: return x.clamp(p, q);
    case ParamOp::elu: return x.elu(p);
    case ParamOp::powf: return x.powf(p);
  }
  return {};
}
inline void call_into(ParamOp op, const Tensor& out, const Tensor& x, double p, double q) {
  switch (op) {
    case ParamOp::affine: return affine_into(out, x, p, q);
    case ParamOp::clamp: return clamp_into(out, x, p, q);
    case ParamOp::elu: return elu_into(out, x, p);
    case ParamOp::powf: return powf_into(out, x, p);
  }
}
/// The right operand is a tensor or a Scalar.
template <class B>
Tensor call(BinaryOp op, const Tensor& a, const B& b) {
  switch (op) {
#define WICK_BINARY(name, ...) \
  case BinaryOp::name: return a.name(b);
#include "wick/core/ops.inc"
  }
  return {};
}
template <class B>
void call_into(BinaryOp op, const Tensor& out, const Tensor& a, const B& b) {
  switch (op) {
#define WICK_BINARY(name, ...) \
  case BinaryOp::name: return name##_into(out, a, b);
#include "wick/core/ops.inc"
  }
}
template <class B>
Tensor call(CompareOp op, const Tensor& a, const B& b) {
  switch (op) {
#define WICK_COMPARE(name, ...) \
  case CompareOp::name: return a.name(b);
#include "wick/core/ops.inc"
  }
  return {};
}
template <class B>
void call_into(CompareOp op, const Tensor& out, const Tensor& a, const B& b) {
  switch (op) {
#define WICK_COMPARE(name, ...) \
  case CompareOp::name: return name##_into(out, a, b);
#include "wick/core/ops.inc"
  }
}

/// Calls f(element) for each element, by address.
template <class T, class F>
void for_each_element(const Tensor& x, F&& f) {
  T* base = std::get<Buffer<T>>(x.storage()).data();
  for_each_index(x.shape(), [&](const Dims& i) { f(base[offset_of(x.layout(), i)]); });
}

/// All elements as doubles, row-major; by address, no op of the library takes part.
inline std::vector<double> doubles_of(const Tensor& x) {
  std::vector<double> all;
  dispatch(x.dtype(), "doubles_of", [&]<Element T>(std::type_identity<T>) {
    for_each_element<T>(x, [&](const T& v) { all.push_back(convert<f64>(v)); });
  });
  return all;
}

/// Which numbers a tensor is filled with.
enum class Values {
  any,       ///< everything the dtype has, NaN and the ends of integers too
  tame,      ///< of size 10 at most
  divisors,  ///< tame and not 0
  exponents  ///< 0 to 4
};

template <Element T>
T some_value(Random& random, Values values) {
  if (values == Values::exponents) return convert<T>(static_cast<f64>(random.below(5)));
  const bool edge = values == Values::any && random.chance(30);
  if constexpr (Int<T>) {
    if (edge) {
      using L = std::numeric_limits<T>;
      const T ends[] = {L::min(), L::max(), 0, static_cast<T>(-1)};
      return random.chance(50) ? ends[random.below(4)] : static_cast<T>(random.bits());
    }
    const auto v = static_cast<T>(random.between(std::is_signed_v<T> ? -9 : 0, 9));
    return v == 0 && values == Values::divisors ? T{3} : v;
  } else {
    const f64 edges[] = {0.0,   -0.0, INFINITY, -INFINITY, NAN, 1e-40,
                         -6e-8, 448,  65504,    3e38,      0.5, -2.5};
    f64 v = edge ? edges[random.below(12)] : static_cast<f64>(random.between(-4000, 4000)) / 1000;
    if (v == 0 && values == Values::divisors) v = 0.75;
    return convert<T>(v);
  }
}

inline const Tensor& fill_random(const Tensor& x, Random& random, Values values) {
  dispatch(x.dtype(), "fill_random", [&]<Element T>(std::type_identity<T>) {
    for_each_element<T>(x, [&](T& v) { v = some_value<T>(random, values); });
  });
  return x;
}

/// A tensor of random numbers that lies in memory in some odd way.
inline Tensor odd_tensor(const Dims& shape, DType t, Random& random, Values values) {
  return fill_random(strided_empty(shape, t, random), random, values);
}

/// The same elements row-major, copied by address. Broadcast to `shape` if one is given.
inline Tensor compact(const Tensor& x) {
  const Tensor y = Tensor::empty(x.shape(), x.dtype());
  const std::string bytes = bytes_of(x);
  if (!bytes.empty()) std::memcpy(view(y.storage()).data, bytes.data(), bytes.size());
  return y;
}
inline Tensor compact(const Tensor& x, const Dims& shape) { return compact(x.broadcast_as(shape)); }

/// A shape that broadcasts to `shape`.
inline Dims shrunk(const Dims& shape, Random& random) {
  Dims s;
  bool drop = random.chance(30);
  for (int i = 0; i < shape.rank(); ++i) {
    drop = drop && random.chance(50);
    if (!drop) s.push_back(random.chance(25) ? 1 : shape[i]);
  }
  return s;
}

/// What an op gives must be this close to its meaning, relative to it: a unit in the last place of
/// the small floats, and what the kernels promise for the others.
inline double tolerance(DType t) {
  switch (t) {
    case DType::f8e4m3: return 0.126;
    case DType::bf16: return 0.008;
    case DType::f16: return 0.001;
    case DType::f32: return 1e-6;
    case DType::f64: return 1e-14;  // the meanings are computed in f64 themselves
    default: return 0;
  }
}

/// `want` as an element of dtype t, as a double. Integers wrap.
inline double rounded(DType t, double want) {
  return dispatch<double>(t, "rounded", [&]<Element T>(std::type_identity<T>) {
    if constexpr (Int<T>) return convert<f64>(convert<T>(convert<i64>(want)));
    return convert<f64>(convert<T>(want));
  });
}

/// Whether an op's result is near its meaning.
inline bool is_near(DType t, double got, double want) {
  want = rounded(t, want);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (got == want) return true;
  const double smallest = t == DType::f16      ? 6e-8
                          : t == DType::f8e4m3 ? 0.002
                          : t == DType::bf16   ? 1e-40
                                               : 3e-45;
  return std::fabs(got - want) <= tolerance(t) * std::fabs(want) + (is_int(t) ? 0 : smallest);
}

}  // namespace wick::testing
