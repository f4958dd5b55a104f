// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/unary.h"

#include "wick/core/dispatch.h"
#include "wick/kernels/param.h"
#include "wick/ops/check.h"
#include "wick/ops/loop.h"

namespace wick {
namespace {

Index grain(Domain domain) { return domain == Domain::floats ? kCostlyGrain : kCheapGrain; }

void run(UnaryOp op, const Tensor& out, const Tensor& x) {
  const OpInfo& about = info(op);
  dispatch(out.storage(), x.storage(), about.name,
           [&]<Element T>(const Buffer<T>& y, const Buffer<T>& in) {
             const auto kernel = kernels::unary<T>(op);
             if (kernel == nullptr) throw_unsupported(dtype_of<T>, about.name);
             for_each_loop<2>({&out.layout(), &x.layout()}, grain(about.domain),
                              [&](const auto& at, const Loop2<2>& loop) {
                                kernel(y.data() + at[0], in.data() + at[1], loop);
                              });
           });
}

void run(ParamOp op, const Tensor& out, const Tensor& x, f64 p, f64 q) {
  const OpInfo& about = info(op);
  dispatch(out.storage(), x.storage(), about.name,
           [&]<Element T>(const Buffer<T>& y, const Buffer<T>& in) {
             const auto kernel = kernels::param<T>(op);
             if (kernel == nullptr) throw_unsupported(dtype_of<T>, about.name);
             for_each_loop<2>({&out.layout(), &x.layout()}, grain(about.domain),
                              [&](const auto& at, const Loop2<2>& loop) {
                                kernel(y.data() + at[0], in.data() + at[1], loop, p, q);
                              });
           });
}

template <class Op, class... Scalars>
void apply_into(Op op, const Tensor& out, const Tensor& x, Scalars... scalars) {
  check_out(info(op).name, out, x.shape(), x.dtype());
  check_overlap(info(op).name, out, x);
  run(op, out, x, scalars...);
}

template <class Op, class... Scalars>
Tensor apply(Op op, const Tensor& x, Scalars... scalars) {
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  run(op, out, x, scalars...);
  return out;
}

void run_clamp(const Tensor& out, const Tensor& x, Scalar low, Scalar high) {
  const f64 p = low.to_f64(), q = high.to_f64();
  if (is_raw(x.dtype())) throw_unsupported(x.dtype(), info(ParamOp::clamp).name);
  if (std::isnan(p) || std::isnan(q)) {
    fill_into(out, NAN);  // NaN wins; 0 in integers, as a cast gives
  } else if (x.dtype() == DType::i64 && (low.beyond_f64() || high.beyond_f64())) {
    maximum_into(out, x, low);
    minimum_into(out, out, high);
  } else {
    run(ParamOp::clamp, out, x, p, q);
  }
}

Tensor apply_in_place(UnaryOp op, Tensor&& x) {
  if (!is_reusable(x)) return apply(op, x);
  run(op, x, x);
  return std::move(x);
}

}  // namespace

#define WICK_UNARY(name, ...)                                                         \
  Tensor Tensor::name() const& { return apply(UnaryOp::name, *this); }                \
  Tensor Tensor::name()&& { return apply_in_place(UnaryOp::name, std::move(*this)); } \
  void name##_into(const Tensor& out, const Tensor& x) { apply_into(UnaryOp::name, out, x); }
#include "wick/core/ops.inc"

Tensor Tensor::affine(f64 mul, f64 add) const { return apply(ParamOp::affine, *this, mul, add); }
Tensor Tensor::clamp(Scalar low, Scalar high) const {
  Tensor out = empty(shape(), dtype());
  run_clamp(out, *this, low, high);
  return out;
}
Tensor Tensor::elu(f64 alpha) const { return apply(ParamOp::elu, *this, alpha, 0.0); }
Tensor Tensor::powf(f64 exponent) const { return apply(ParamOp::powf, *this, exponent, 0.0); }

void affine_into(const Tensor& out, const Tensor& x, f64 mul, f64 add) {
  apply_into(ParamOp::affine, out, x, mul, add);
}
void clamp_into(const Tensor& out, const Tensor& x, Scalar low, Scalar high) {
  check_out(info(ParamOp::clamp).name, out, x.shape(), x.dtype());
  check_overlap(info(ParamOp::clamp).name, out, x);
  run_clamp(out, x, low, high);
}
void elu_into(const Tensor& out, const Tensor& x, f64 alpha) {
  apply_into(ParamOp::elu, out, x, alpha, 0.0);
}
void powf_into(const Tensor& out, const Tensor& x, f64 exponent) {
  apply_into(ParamOp::powf, out, x, exponent, 0.0);
}

}  // namespace wick
