// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/binary.h"

#include <atomic>
#include <limits>

#include "wick/core/dispatch.h"
#include "wick/kernels/compare.h"
#include "wick/ops/check.h"
#include "wick/ops/loop.h"

namespace wick {
namespace {

constexpr DType output_dtype(BinaryOp, DType inputs) { return inputs; }
constexpr DType output_dtype(CompareOp, DType) { return DType::u8; }

constexpr Index grain(BinaryOp op) {
  return op == BinaryOp::pow || op == BinaryOp::rem ? kCostlyGrain : kCheapGrain;
}
constexpr Index grain(CompareOp) { return kCheapGrain; }

/// An `unsupported_dtype` Error for dtypes that the op does not take.
template <class Op>
void check_domain(Op op, DType t) {
  if (!in_domain(t, info(op).domain)) throw_unsupported(t, info(op).name);
}

template <Element T>
auto kernel_of(BinaryOp op) {
  return kernels::binary<T>(op);
}
template <Element T>
auto kernel_of(CompareOp op) {
  return kernels::compare<T>(op);
}

/// An operand as the kernels see it: elements and where they lie in the output's shape.
template <class T>
struct Operand {
  const T* data;
  Layout layout;
};

/// Integers cannot be divided by zero nor raised to negative powers: found before a write.
template <Element T>
void check_right(BinaryOp op, const Operand<T>& b) {
  const auto has_bad = kernels::integer_check<T>(op);
  if (has_bad == nullptr) return;
  std::atomic<bool> bad{false};
  Layout once = b.layout;  // repeated elements are looked at once
  for (int i = 0; i < once.rank(); ++i)
    if (once.strides[i] == 0) once.shape[i] = 1;
  for_each_loop<1>({&once}, kCheapGrain, [&](const auto& at, const Loop2<1>& loop) {
    if (has_bad(b.data + at[0], loop)) bad.store(true, std::memory_order_relaxed);
  });
  if (bad)
    throw Error(ErrorKind::arithmetic, info(op).name,
                str(op == BinaryOp::pow ? "negative exponent" : "division by zero", " in ",
                    name(dtype_of<T>)));
}
template <Element T>
void check_right(CompareOp, const Operand<T>&) {}

template <Element T, class Op>
void run(Op op, const Tensor& out, const Operand<T>& a, const Operand<T>& b) {
  using Out = std::conditional_t<std::same_as<Op, CompareOp>, u8, T>;
  if (out.element_count() > 0) check_right<T>(op, b);
  const auto kernel = kernel_of<T>(op);
  Out* y = std::get_if<Buffer<Out>>(&out.storage())->data();
  for_each_loop<3>({&out.layout(), &a.layout, &b.layout}, grain(op),
                   [&](const auto& at, const Loop2<3>& loop) {
                     kernel(y + at[0], a.data + at[1], b.data + at[2], loop);
                   });
}

template <Element T>
Operand<T> operand(const Buffer<T>& buffer, const Layout& layout, const Dims& shape,
                   std::string_view op) {
  return {buffer.data(), layout.shape == shape ? layout : layout.broadcast_to(shape, op)};
}

template <class Op>
void run(Op op, const Tensor& out, const Tensor& a, const Tensor& b) {
  const std::string_view name = info(op).name;
  dispatch(a.storage(), b.storage(), name, [&]<Element T>(const Buffer<T>& x, const Buffer<T>& y) {
    run<T>(op, out, operand(x, a.layout(), out.shape(), name),
           operand(y, b.layout(), out.shape(), name));
  });
}

template <class Op>
void apply_into(Op op, const Tensor& out, const Tensor& a, const Tensor& b) {
  const std::string_view name = info(op).name;
  check_same_dtype(a.dtype(), b.dtype(), name);
  check_domain(op, a.dtype());
  check_out(name, out, broadcast_shapes(a.shape(), b.shape(), name), output_dtype(op, a.dtype()));
  check_overlap(name, out, a);
  check_overlap(name, out, b);
  run(op, out, a, b);
}

template <class Op>
Tensor apply(Op op, const Tensor& a, const Tensor& b) {
  const std::string_view name = info(op).name;
  check_same_dtype(a.dtype(), b.dtype(), name);
  check_domain(op, a.dtype());
  Tensor out =
      Tensor::empty(broadcast_shapes(a.shape(), b.shape(), name), output_dtype(op, a.dtype()));
  run(op, out, a, b);
  return out;
}

/// Raising integers to a negative power is an error however wide the exponent is.
void check_scalar(BinaryOp op, DType t, Scalar b) {
  if (op == BinaryOp::pow && is_int(t) && b.to_f64() < 0)
    throw Error(ErrorKind::arithmetic, info(op).name, str("negative exponent in ", name(t)));
}
void check_scalar(CompareOp, DType, Scalar) {}

/// The scalar as an operand that repeats one element. Where the dtype cannot hold it, the op runs
/// in f64 instead and its result is cast.
template <class Op>
void run(Op op, const Tensor& out, const Tensor& a, Scalar b) {
  const std::string_view name = info(op).name;
  check_scalar(op, a.dtype(), b);
  const bool fits = dispatch<bool>(a.dtype(), name, [&]<Element T>(std::type_identity<T>) {
    if (!b.fits<T>()) return false;
    const T value = b.to<T>();
    const Buffer<T>& x = *std::get_if<Buffer<T>>(&a.storage());
    run<T>(op, out, operand(x, a.layout(), out.shape(), name),
           {&value, {out.shape(), Dims::filled(out.rank(), 0), 0}});
    return true;
  });
  if (fits) return;
  const Tensor wide = a.to_dtype(DType::f64);
  const Tensor result = Tensor::empty(out.shape(), output_dtype(op, DType::f64));
  run(op, result, wide, b);
  copy_into(out, result);
}

template <class Op>
void apply_into(Op op, const Tensor& out, const Tensor& a, Scalar b) {
  check_domain(op, a.dtype());
  check_out(info(op).name, out, a.shape(), output_dtype(op, a.dtype()));
  check_overlap(info(op).name, out, a);
  run(op, out, a, b);
}

template <class Op>
Tensor apply(Op op, const Tensor& a, Scalar b) {
  check_domain(op, a.dtype());
  Tensor out = Tensor::empty(a.shape(), output_dtype(op, a.dtype()));
  run(op, out, a, b);
  return out;
}

/// The scalar on the left, as above.
void run(BinaryOp op, const Tensor& out, Scalar a, const Tensor& b) {
  const std::string_view name = info(op).name;
  const bool fits = dispatch<bool>(b.dtype(), name, [&]<Element T>(std::type_identity<T>) {
    if (!a.fits<T>()) return false;
    const T value = a.to<T>();
    const Buffer<T>& y = *std::get_if<Buffer<T>>(&b.storage());
    run<T>(op, out, {&value, {out.shape(), Dims::filled(out.rank(), 0), 0}},
           operand(y, b.layout(), out.shape(), name));
    return true;
  });
  if (fits) return;
  const Tensor wide = b.to_dtype(DType::f64);
  const Tensor result = Tensor::empty(out.shape(), DType::f64);
  run(op, result, a, wide);
  copy_into(out, result);
}

void apply_into(BinaryOp op, const Tensor& out, Scalar a, const Tensor& b) {
  check_domain(op, b.dtype());
  check_out(info(op).name, out, b.shape(), b.dtype());
  check_overlap(info(op).name, out, b);
  run(op, out, a, b);
}

Tensor apply(BinaryOp op, Scalar a, const Tensor& b) {
  check_domain(op, b.dtype());
  Tensor out = Tensor::empty(b.shape(), b.dtype());
  run(op, out, a, b);
  return out;
}

// What a number is: comparisons of x, or of what a few ops make of it.

void check_test(std::string_view op, const Tensor& x) {
  if (is_raw(x.dtype())) throw_unsupported(x.dtype(), op);
}
void check_test_out(std::string_view op, const Tensor& out, const Tensor& x) {
  check_test(op, x);
  check_out(op, out, x.shape(), DType::u8);
  check_overlap(op, out, x);
}

void run_isinf(const Tensor& out, const Tensor& x) {
  // f8e4m3 has no infinity: one would become its largest number.
  if (is_int(x.dtype()) || x.dtype() == DType::f8e4m3) return fill_into(out, 0);
  run(CompareOp::eq, out, x.abs(), Scalar(std::numeric_limits<f64>::infinity()));
}
void run_isfinite(const Tensor& out, const Tensor& x) {
  if (is_int(x.dtype())) return fill_into(out, 1);
  run(CompareOp::eq, out, x.sub(x), Scalar(0));
}

}  // namespace

Tensor Tensor::isnan() const {
  check_test("isnan", *this);
  return ne(*this);
}
Tensor Tensor::logical_not() const {
  check_test("logical_not", *this);
  return eq(0);
}
Tensor Tensor::isinf() const {
  check_test("isinf", *this);
  Tensor out = empty(shape(), DType::u8);
  run_isinf(out, *this);
  return out;
}
Tensor Tensor::isfinite() const {
  check_test("isfinite", *this);
  Tensor out = empty(shape(), DType::u8);
  run_isfinite(out, *this);
  return out;
}
void isnan_into(const Tensor& out, const Tensor& x) {
  check_test_out("isnan", out, x);
  run(CompareOp::ne, out, x, x);
}
void logical_not_into(const Tensor& out, const Tensor& x) {
  check_test_out("logical_not", out, x);
  run(CompareOp::eq, out, x, Scalar(0));
}
void isinf_into(const Tensor& out, const Tensor& x) {
  check_test_out("isinf", out, x);
  run_isinf(out, x);
}
void isfinite_into(const Tensor& out, const Tensor& x) {
  check_test_out("isfinite", out, x);
  run_isfinite(out, x);
}

#define WICK_BINARY(name, ...)                                                               \
  Tensor Tensor::name(const Tensor& rhs) const { return apply(BinaryOp::name, *this, rhs); } \
  Tensor Tensor::name(Scalar rhs) const { return apply(BinaryOp::name, *this, rhs); }        \
  void name##_into(const Tensor& out, const Tensor& a, const Tensor& b) {                    \
    apply_into(BinaryOp::name, out, a, b);                                                   \
  }                                                                                          \
  void name##_into(const Tensor& out, const Tensor& a, Scalar b) {                           \
    apply_into(BinaryOp::name, out, a, b);                                                   \
  }                                                                                          \
  Tensor name(Scalar a, const Tensor& b) { return apply(BinaryOp::name, a, b); }             \
  void name##_into(const Tensor& out, Scalar a, const Tensor& b) {                           \
    apply_into(BinaryOp::name, out, a, b);                                                   \
  }
#define WICK_COMPARE(name, ...)                                                               \
  Tensor Tensor::name(const Tensor& rhs) const { return apply(CompareOp::name, *this, rhs); } \
  Tensor Tensor::name(Scalar rhs) const { return apply(CompareOp::name, *this, rhs); }        \
  void name##_into(const Tensor& out, const Tensor& a, const Tensor& b) {                     \
    apply_into(CompareOp::name, out, a, b);                                                   \
  }                                                                                           \
  void name##_into(const Tensor& out, const Tensor& a, Scalar b) {                            \
    apply_into(CompareOp::name, out, a, b);                                                   \
  }
#include "wick/core/ops.inc"

}  // namespace wick
