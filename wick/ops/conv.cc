// SPDX-License-Identifier: Apache-2.0
#include "wick/conv.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "wick/core/dispatch.h"
#include "wick/kernels/unary.h"
#include "wick/ops/check.h"
#include "wick/ops/conv_paths.h"
#include "wick/ops/windows.h"

namespace wick {
namespace {

/// One call, of lines or images: lines are images of height 1.
struct Call {
  std::string_view op;
  const Tensor& x;
  const Tensor& kernel;
  const Epilogue& epilogue;
  Index groups;
  PerAxis stride, padding, dilation;
  bool line = false;
  bool transposed = false;
  PerAxis output_padding{0};

  Tensor image(const Tensor& t) const { return line ? t.unsqueeze(2) : t; }
  Error error(ErrorKind kind, std::string_view message) const {
    return error_about(kind, op, message, {&x, &kernel});
  }
};

/// The size of an axis of a transposed convolution.
Index transposed_size(const Call& c, Index in, Index taps, Index stride, Index padding,
                      Index output_padding, Index dilation) {
  if (output_padding < 0 || output_padding >= std::max(stride, dilation))
    throw c.error(ErrorKind::argument,
                  str("wanted an output padding from 0 to below ", std::max(stride, dilation),
                      " (stride or dilation), got ", output_padding));
  const auto add = [&](Index a, Index b) { return checked_add(a, b, c.op, "size of the output"); };
  const auto mul = [&](Index a, Index b) { return checked_mul(a, b, c.op, "size of the output"); };
  const Index full = add(mul(in - 1, stride), add(mul(dilation, taps - 1), add(output_padding, 1)));
  const Index out = add(full, mul(-2, padding));
  check_window_limit(c.op, add(std::max(full, Index{0}), mul(2, padding)));
  if (out < 1)
    throw c.error(ErrorKind::shape,
                  str("wanted an output of at least one element, got ", out, " for an input of ",
                      in, ", a kernel of ", taps, ", stride ", stride, ", padding ", padding));
  return out;
}

/// The shape of the result, or an Error.
Dims result_shape(const Call& c) {
  const int rank = c.line ? 3 : 4;
  const auto named = [&](const Dims& d) { return to_string(d); };
  if (c.x.rank() != rank || c.kernel.rank() != rank)
    throw c.error(ErrorKind::shape,
                  str("wanted an input [n, c, ", c.line ? "l" : "h, w", "] and a kernel of rank ",
                      rank, ", got ", named(c.x.shape()), " and ", named(c.kernel.shape())));
  check_same_dtype(c.x.dtype(), c.kernel.dtype(), c.op);
  if (is_raw(c.x.dtype())) throw_unsupported(c.x.dtype(), c.op);
  if (c.groups < 1)
    throw c.error(ErrorKind::argument, str("wanted at least one group, got ", c.groups));
  const Index channels = c.x.shape()[1], kernel_0 = c.kernel.shape()[0],
              kernel_1 = c.kernel.shape()[1];
  const bool fits = c.transposed ? kernel_0 == channels && channels % c.groups == 0
                                 : kernel_0 % c.groups == 0 && channels % c.groups == 0 &&
                                       kernel_1 == channels / c.groups;
  if (!fits)
    throw c.error(
        ErrorKind::shape,
        str("wanted a kernel ", c.transposed ? "[c, o / groups, ...]" : "[o, c / groups, ...]",
            " for ", channels, " channels in ", c.groups, " groups, got ", named(c.kernel.shape()),
            " for an input ", named(c.x.shape())));
  Dims shape{c.x.shape()[0],
             c.transposed ? checked_mul(kernel_1, c.groups, c.op, "channels") : kernel_0};
  const auto axis = [&](int dim, Index stride, Index padding, Index output_padding,
                        Index dilation) {
    const Index in = c.x.shape()[dim], taps = c.kernel.shape()[dim];
    check_window(c.op, taps, stride, padding, dilation);
    shape.push_back(c.transposed
                        ? transposed_size(c, in, taps, stride, padding, output_padding, dilation)
                        : window_count(c.op, in, taps, stride, padding, dilation, false));
  };
  if (!c.line) axis(2, c.stride.h, c.padding.h, c.output_padding.h, c.dilation.h);
  axis(rank - 1, c.stride.w, c.padding.w, c.output_padding.w, c.dilation.w);
  element_count(shape, c.op);
  return shape;
}

void check_epilogue(const Call& c, const Tensor& out) {
  const Epilogue& e = c.epilogue;
  const DType type = c.x.dtype();
  if (is_int(type) && (e.bias || e.activation || e.residual || e.scale != 1))
    throw Error(
        ErrorKind::unsupported_dtype, c.op,
        str("wanted floats for a bias, an activation, a scale or a residual, got ", name(type)));
  if (is_int(type))
    for (const f64 factor : {e.alpha, e.beta})
      dispatch(type, c.op, [&]<Element T>(std::type_identity<T>) {
        if (!Scalar(factor).fits<T>())
          throw Error(ErrorKind::argument, c.op,
                      str("wanted an alpha and a beta that ", name(type), " holds, got ", factor));
      });
  if (e.bias) {
    const Dims wanted{out.shape()[1]};
    if (e.bias->shape() != wanted)
      throw error_about(
          ErrorKind::shape, c.op,
          str("wanted a bias of shape ", to_string(wanted), ", got ", to_string(e.bias->shape())),
          {&*e.bias});
    if (e.bias->dtype() != type && !(e.bias->dtype() == DType::f32 && bits(type) < 32))
      throw error_about(ErrorKind::dtype, c.op,
                        str("wanted a bias of ", name(type), bits(type) < 32 ? " or f32" : "",
                            ", got ", name(e.bias->dtype())),
                        {&*e.bias});
    check_disjoint(c.op, out, *e.bias);
  }
  if (e.residual) {
    if (e.residual->dtype() != type)
      throw error_about(
          ErrorKind::dtype, c.op,
          str("wanted a residual of ", name(type), ", got ", name(e.residual->dtype())),
          {&*e.residual});
    (void)e.residual->broadcast_as(out.shape());
    check_overlap(c.op, out, *e.residual);
  }
}

ConvStrides strides_of(const Tensor& t) {
  const Dims& s = t.layout().strides;
  return {s[0], s[1], s[2], s[3]};
}

/// All outputs that read the places `axes` of the windows of x.
struct Views {
  Tensor out, x, kernel;
  std::optional<Tensor> residual;
  ConvAxis y, x_axis;
};

template <Element T>
void run(const Call& c, const Views& v) {
  ConvProblem<T> p;
  const Epilogue& e = c.epilogue;
  p.batch = v.out.shape()[0];
  p.groups = c.groups;
  p.outputs = v.out.shape()[1] / c.groups;
  p.channels = v.x.shape()[1] / c.groups;
  p.y = v.y;
  p.x = v.x_axis;
  p.in = v.x.data<T>();
  p.in_step = strides_of(v.x);
  p.kernel = v.kernel.data<T>();
  const ConvStrides k = strides_of(v.kernel);
  p.kernel_o = c.transposed ? k.c : k.n;
  p.kernel_c = c.transposed ? k.n : k.c;
  p.kernel_g = (c.transposed ? p.channels : p.outputs) * k.n;
  p.kernel_y = k.y;
  p.kernel_x = k.x;
  p.out = v.out.data<T>();
  p.out_step = strides_of(v.out);
  std::optional<Tensor> bias;
  if constexpr (Int<T>) {
    p.alpha = Scalar(e.alpha).to<T>();
    p.beta = Scalar(e.beta).to<T>();
  } else {
    using Acc = kernels::GemmAcc<T>;
    p.alpha = static_cast<Compute<T>>(e.alpha);
    p.beta = static_cast<Compute<T>>(e.beta);
    if (e.bias) {
      bias = e.bias->to_dtype(dtype_of<Acc>);
      p.epilogue.bias = {bias->data<Acc>(), bias->layout().strides[0], 0};
    }
    if (e.activation) p.epilogue.activate = kernels::unary<Acc>(*e.activation);
    p.epilogue.scale = static_cast<Compute<T>>(e.scale);
    if (v.residual) {
      p.epilogue.residual.data = v.residual->data<T>();
      p.residual_step = strides_of(*v.residual);
    }
  }
  if (!conv_depthwise(p)) conv_gemm(p);
}

void run(const Call& c, const Views& v) {
  if (v.out.element_count() == 0) return;
  dispatch(v.out.dtype(), c.op, [&]<Element T>(std::type_identity<T>) { run<T>(c, v); });
}

/// A matrix of pixels by channels, for each image; nothing where that is no view.
std::optional<Tensor> pixels(const Tensor& t) {
  const Dims& s = t.shape();
  const auto l = t.layout().permute({0, 2, 3, 1}).reshape({s[0], s[2] * s[3], s[1]});
  if (!l) return std::nullopt;
  return TensorAccess::make(t.storage(), *l);
}

/// A window of one element that goes from one element to the next is a product of matrices, read
/// and written in place.
bool run_pointwise(const Call& c, const Views& v) {
  if (v.kernel.shape()[2] * v.kernel.shape()[3] != 1 || c.groups != 1 || v.x.shape()[1] == 0 ||
      v.x.shape()[2] != v.out.shape()[2] || v.x.shape()[3] != v.out.shape()[3])
    return false;
  for (const ConvAxis& a : {v.y, v.x_axis})
    if (a.first != 0 || (a.stride != 1 && a.out > 1)) return false;
  const auto x = pixels(v.x), out = pixels(v.out);
  if (!x || !out) return false;
  Epilogue e = c.epilogue;
  if (v.residual) {
    e.residual = pixels(*v.residual);
    if (!e.residual) return false;
  }
  const Tensor kernel = v.kernel.squeeze(3).squeeze(2);
  matmul_into(*out, *x, c.transposed ? kernel : kernel.t(), e);
  return true;
}

ConvAxis forward_axis(Index in, Index out, Index taps, Index stride, Index padding,
                      Index dilation) {
  return {in, out, taps, stride, -padding, dilation};
}

/// Outputs phase, phase + stride, ... of a transposed convolution: they meet the places t of the
/// window for which phase + padding - t * dilation is a multiple of the stride.
struct Phase {
  ConvAxis axis;
  Index first_tap, tap_step;
};
Phase phase_of(Index in, Index out, Index taps, Index stride, Index padding, Index dilation,
               Index phase) {
  Phase p{};
  p.tap_step = stride / std::gcd(stride, dilation);
  p.first_tap = 0;
  const Index place = phase + padding;
  while (p.first_tap < std::min(p.tap_step, taps) && (place - p.first_tap * dilation) % stride != 0)
    ++p.first_tap;
  if (p.first_tap == p.tap_step) p.first_tap = taps;  // none
  const Index count = p.first_tap < taps ? ceil_div(taps - p.first_tap, p.tap_step) : 0;
  p.axis = {in,
            ceil_div(out - phase, stride),
            count,
            1,
            count == 0 ? 0 : (place - p.first_tap * dilation) / stride,
            -(dilation / std::gcd(stride, dilation))};
  return p;
}

void run_transposed(const Call& c, const Views& all) {
  const auto size = [](const Tensor& t, int dim) { return t.shape()[dim]; };
  const Tensor &out = all.out, &x = all.x, &kernel = all.kernel;
  for (Index i = 0; i < std::min(c.stride.h, size(out, 2)); ++i) {
    const Phase h = phase_of(size(x, 2), size(out, 2), size(kernel, 2), c.stride.h, c.padding.h,
                             c.dilation.h, i);
    for (Index j = 0; j < std::min(c.stride.w, size(out, 3)); ++j) {
      const Phase w = phase_of(size(x, 3), size(out, 3), size(kernel, 3), c.stride.w, c.padding.w,
                               c.dilation.w, j);
      const auto some = [&](const Tensor& t) {
        return t.slice(2, i, size(out, 2), c.stride.h).slice(3, j, size(out, 3), c.stride.w);
      };
      Views v{some(out),
              x,
              kernel.slice(2, h.first_tap, size(kernel, 2), h.tap_step)
                  .slice(3, w.first_tap, size(kernel, 3), w.tap_step),
              std::nullopt,
              h.axis,
              w.axis};
      if (all.residual) v.residual = some(*all.residual);
      if (!run_pointwise(c, v)) run(c, v);
    }
  }
}

void execute(const Call& c, const Tensor& out) {
  if (out.element_count() == 0) return;
  Views v{c.image(out), c.image(c.x), c.image(c.kernel), std::nullopt, {}, {}};
  if (c.epilogue.residual) v.residual = c.image(c.epilogue.residual->broadcast_as(out.shape()));
  if (c.transposed) return run_transposed(c, v);
  const auto size = [](const Tensor& t, int dim) { return t.shape()[dim]; };
  v.y = forward_axis(size(v.x, 2), size(v.out, 2), size(v.kernel, 2), c.stride.h, c.padding.h,
                     c.dilation.h);
  v.x_axis = forward_axis(size(v.x, 3), size(v.out, 3), size(v.kernel, 3), c.stride.w, c.padding.w,
                          c.dilation.w);
  if (!run_pointwise(c, v)) run(c, v);
}

Tensor make(const Call& c) {
  const Tensor out = Tensor::empty(result_shape(c), c.x.dtype());
  if (c.epilogue.beta != 0)
    throw c.error(ErrorKind::argument,
                  str("wanted a beta of 0 for a new output, got ", c.epilogue.beta));
  check_epilogue(c, out);
  execute(c, out);
  return out;
}

void into(const Call& c, const Tensor& out) {
  check_out(c.op, out, result_shape(c), c.x.dtype());
  check_disjoint(c.op, out, c.x);
  check_disjoint(c.op, out, c.kernel);
  check_epilogue(c, out);
  execute(c, out);
}

Call call(const Tensor& x, const Tensor& kernel, const Conv1dOptions& o) {
  return {"conv1d",        x,   kernel, o.epilogue, o.groups, {1, o.stride}, {0, o.padding},
          {1, o.dilation}, true};
}
Call call(const Tensor& x, const Tensor& kernel, const Conv2dOptions& o) {
  return {"conv2d", x, kernel, o.epilogue, o.groups, o.stride, o.padding, o.dilation};
}
Call call(const Tensor& x, const Tensor& kernel, const ConvTranspose1dOptions& o) {
  return {"conv_transpose1d",
          x,
          kernel,
          o.epilogue,
          o.groups,
          {1, o.stride},
          {0, o.padding},
          {1, o.dilation},
          true,
          true,
          {0, o.output_padding}};
}
Call call(const Tensor& x, const Tensor& kernel, const ConvTranspose2dOptions& o) {
  return {"conv_transpose2d", x,          kernel, o.epilogue, o.groups,        o.stride,
          o.padding,          o.dilation, false,  true,       o.output_padding};
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& kernel, const Conv1dOptions& options) {
  return make(call(x, kernel, options));
}
void conv1d_into(const Tensor& out, const Tensor& x, const Tensor& kernel,
                 const Conv1dOptions& options) {
  into(call(x, kernel, options), out);
}
Tensor conv2d(const Tensor& x, const Tensor& kernel, const Conv2dOptions& options) {
  return make(call(x, kernel, options));
}
void conv2d_into(const Tensor& out, const Tensor& x, const Tensor& kernel,
                 const Conv2dOptions& options) {
  into(call(x, kernel, options), out);
}
Tensor conv_transpose1d(const Tensor& x, const Tensor& kernel,
                        const ConvTranspose1dOptions& options) {
  return make(call(x, kernel, options));
}
void conv_transpose1d_into(const Tensor& out, const Tensor& x, const Tensor& kernel,
                           const ConvTranspose1dOptions& options) {
  into(call(x, kernel, options), out);
}
Tensor conv_transpose2d(const Tensor& x, const Tensor& kernel,
                        const ConvTranspose2dOptions& options) {
  return make(call(x, kernel, options));
}
void conv_transpose2d_into(const Tensor& out, const Tensor& x, const Tensor& kernel,
                           const ConvTranspose2dOptions& options) {
  into(call(x, kernel, options), out);
}

Tensor Tensor::conv1d(const Tensor& kernel, Index stride, Index padding, Index dilation,
                      Index groups) const {
  return wick::conv1d(*this, kernel, {stride, padding, dilation, groups, {}});
}
Tensor Tensor::conv2d(const Tensor& kernel, Index stride, Index padding, Index dilation,
                      Index groups) const {
  return wick::conv2d(*this, kernel, {stride, padding, dilation, groups, {}});
}
Tensor Tensor::conv_transpose1d(const Tensor& kernel, Index stride, Index padding,
                                Index output_padding, Index groups, Index dilation) const {
  return wick::conv_transpose1d(*this, kernel,
                                {stride, padding, output_padding, dilation, groups, {}});
}
Tensor Tensor::conv_transpose2d(const Tensor& kernel, Index stride, Index padding,
                                Index output_padding, Index groups, Index dilation) const {
  return wick::conv_transpose2d(*this, kernel,
                                {stride, padding, output_padding, dilation, groups, {}});
}

}  // namespace wick
