// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/norm.h"

#include "wick/core/convert.h"
#include "wick/core/dispatch.h"
#include "wick/nn.h"
#include "wick/ops/check.h"
#include "wick/ops/lines.h"

namespace wick {
namespace {

void check_input(std::string_view op, const Tensor& x, f64 eps) {
  if (!is_float(x.dtype())) throw_unsupported(x.dtype(), op);
  if (x.rank() == 0)
    throw error_about(ErrorKind::shape, op, "wanted a tensor with dimensions, got a scalar", {&x});
  if (!(eps >= 0)) throw Error(ErrorKind::argument, op, str("wanted eps >= 0, got ", eps));
}

void check_vector(std::string_view op, std::string_view what, const Tensor& x, const Tensor& v) {
  check_same_dtype(x.dtype(), v.dtype(), op);
  if (v.rank() != 1 || v.shape()[0] != x.shape().last(1))
    throw error_about(
        ErrorKind::shape, op,
        str("wanted a ", what, " of shape [", x.shape().last(1), "], got ", to_string(v.shape())),
        {&x, &v});
}

/// A vector in the type it is computed in, without gaps and padded as the kernels want it.
template <Float T>
Buffer<Compute<T>> prepare(std::string_view op, const Tensor& v) {
  const Index n = v.shape()[0];
  const Buffer<Compute<T>> copy(kernels::padded(n), op);
  const T* from = v.data<T>();
  for (Index i = 0; i < n; ++i)
    copy.data()[i] = convert<Compute<T>>(from[i * v.layout().strides[0]]);
  std::fill(copy.data() + n, copy.data() + kernels::padded(n), Compute<T>{0});
  return copy;
}

void run(std::string_view op, const Tensor& out, const Tensor& x, const Tensor& weight,
         const Tensor* bias, f64 eps) {
  dispatch(out.storage(), x.storage(), op, [&]<Float T>(const Buffer<T>& y, const Buffer<T>& in) {
    using C = Compute<T>;
    const auto kernel = bias != nullptr ? kernels::layer_norm<T>() : kernels::rms_norm<T>();
    const Buffer<C> w = prepare<T>(op, weight);
    const Buffer<C> b = bias != nullptr ? prepare<T>(op, *bias) : Buffer<C>();
    const int dim = x.rank() - 1;
    for_each_line<C>(
        op, out.layout(), x.layout(), dim, kernels::padded(x.shape()[dim]), kCheapGrain, 1,
        [&](Index to, Index from, const kernels::LineLoop& loop, C* scratch) {
          kernel(y.data() + to, in.data() + from, loop, w.data(), b.data(), eps, scratch);
        });
  });
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, f64 eps) {
  check_input("layer_norm", x, eps);
  check_vector("layer_norm", "weight", x, weight);
  check_vector("layer_norm", "bias", x, bias);
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  run("layer_norm", out, x, weight, &bias, eps);
  return out;
}

void layer_norm_into(const Tensor& out, const Tensor& x, const Tensor& weight, const Tensor& bias,
                     f64 eps) {
  check_input("layer_norm", x, eps);
  check_vector("layer_norm", "weight", x, weight);
  check_vector("layer_norm", "bias", x, bias);
  check_out("layer_norm", out, x.shape(), x.dtype());
  check_overlap("layer_norm", out, x);
  check_disjoint("layer_norm", out, weight);
  check_disjoint("layer_norm", out, bias);
  run("layer_norm", out, x, weight, &bias, eps);
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, f64 eps) {
  check_input("rms_norm", x, eps);
  check_vector("rms_norm", "weight", x, weight);
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  run("rms_norm", out, x, weight, nullptr, eps);
  return out;
}

void rms_norm_into(const Tensor& out, const Tensor& x, const Tensor& weight, f64 eps) {
  check_input("rms_norm", x, eps);
  check_vector("rms_norm", "weight", x, weight);
  check_out("rms_norm", out, x.shape(), x.dtype());
  check_overlap("rms_norm", out, x);
  check_disjoint("rms_norm", out, weight);
  run("rms_norm", out, x, weight, nullptr, eps);
}

}  // namespace wick
