// SPDX-License-Identifier: Apache-2.0
#include "wick/core/convert.h"
#include "wick/core/dispatch.h"
#include "wick/kernels/gate.h"
#include "wick/kernels/reduce_wide.h"
#include "wick/nn.h"
#include "wick/ops/check.h"
#include "wick/ops/reduce.h"

namespace wick {
namespace {

void check_input(std::string_view op, const Tensor& x, f64 eps) {
  if (!is_float(x.dtype())) throw_unsupported(x.dtype(), op);
  if (x.rank() < 2)
    throw error_about(ErrorKind::shape, op,
                      str("wanted [batch, channels, ..], got ", to_string(x.shape())), {&x});
  if (!(eps >= 0)) throw Error(ErrorKind::argument, op, str("wanted eps >= 0, got ", eps));
}

void check_channels(std::string_view op, std::string_view what, const Tensor& x, const Tensor& v) {
  check_same_dtype(x.dtype(), v.dtype(), op);
  if (v.rank() != 1 || v.shape()[0] != x.shape()[1])
    throw error_about(
        ErrorKind::shape, op,
        str("wanted a ", what, " of shape [", x.shape()[1], "], got ", to_string(v.shape())),
        {&x, &v});
}

void check_groups(const Tensor& x, Index groups) {
  if (groups < 1 || x.shape()[1] % groups != 0)
    throw error_about(
        ErrorKind::argument, "group_norm",
        str("wanted a number of groups that divides ", x.shape()[1], " channels, got ", groups),
        {&x});
}

/// What is done to an element, by batch and channel: three planes, as kernels::normalize wants it.
struct Params {
  Buffer<f64> values;
  Index plane;

  Params(Index n, std::string_view op)
      : values(checked_add(checked_mul(n, 3, op, "parameters"), 16, op, "parameters"), op),
        plane(n) {
    std::fill_n(values.data() + 3 * n, 16, 0.0);
  }
  /// (x - mean) / sqrt(variance + eps) * weight + bias; 0 * weight + bias if both are 0.
  void set(Index i, f64 mean, f64 variance, f64 eps, f64 weight, f64 bias) const {
    const f64 power = variance + eps;
    f64* p = values.data() + i;
    p[0] = mean;
    p[plane] = power == 0 ? 0 : weight / std::sqrt(power);
    p[2 * plane] = bias;
  }
};

template <Float T>
f64 element(const Tensor& v, Index i) {
  return convert<f64>(v.data<T>()[i * v.layout().strides[0]]);
}

template <Float T>
void normalize(const Tensor& out, const Tensor& x, const Params& params, Index per_batch) {
  Layout layout{x.shape(), Dims::filled(x.rank(), 0), 0};
  layout.strides[0] = per_batch;
  layout.strides[1] = 1;
  const auto kernel = kernels::normalize<T>();
  T* y = std::get_if<Buffer<T>>(&out.storage())->data();
  const T* in = std::get_if<Buffer<T>>(&x.storage())->data();
  for_each_loop<3>({&out.layout(), &x.layout(), &layout}, kCheapGrain,
                   [&](const auto& at, const Loop2<3>& loop) {
                     kernel(y + at[0], in + at[1], params.values.data() + at[2], params.plane,
                            loop);
                   });
}

constexpr auto kMerge = [](const kernels::Moments& a, const kernels::Moments& b) {
  return merge(a, b);
};

void run_group(const Tensor& out, const Tensor& x, Index groups, const Tensor& weight,
               const Tensor& bias, f64 eps) {
  constexpr std::string_view kOp = "group_norm";
  if (x.element_count() == 0) return;
  const Index batch = x.shape()[0], channels = x.shape()[1], each = channels / groups;
  // Channel by channel, so that vectors go along the plane or across the channels, whichever lie
  // side by side. Where the planes are tiny, whole groups: one group reduced, and the groups as one
  // more dim that stays.
  const bool by_channel = x.element_count() / (batch * channels) >= 16;
  Dims dims;
  for (int i = by_channel ? 2 : 1; i < x.rank(); ++i) dims.push_back(i);
  ReducePlan plan = plan_reduction(kOp, by_channel ? x.layout() : x.layout().narrow(1, 0, each),
                                   dims, false, ReduceOrder::row_major);
  if (!by_channel) {
    plan.kept.shape.push_back(groups);
    plan.kept.strides.push_back(x.layout().strides[1] * each);
  }
  const Index parts = by_channel ? each : 1;  // of a group
  const Layout stats_layout = Layout::contiguous(plan.kept.shape);
  const Buffer<kernels::Moments> stats(stats_layout.size(), kOp);
  const Params params(checked_mul(batch, channels, kOp, "parameters"), kOp);
  dispatch(x.storage(), kOp, [&]<Float T>(const Buffer<T>& in) {
    reduce(kOp, plan, stats.data(), stats_layout, static_cast<const T*>(in.data()),
           kernels::wide_kernels<T>().moments, kMerge, [](const kernels::Moments& m) { return m; });
    for (Index n = 0; n < batch; ++n)
      for (Index c = 0; c < channels; ++c) {
        kernels::Moments* const group = stats.data() + (n * groups + c / each) * parts;
        if (c % each == 0) *group = detail::merge_parts(group, parts, 1, kMerge);
        const kernels::Moments& m = *group;
        params.set(n * channels + c, m.mean, m.squares / m.count, eps, element<T>(weight, c),
                   element<T>(bias, c));
      }
    normalize<T>(out, x, params, channels);
  });
}

void run_batch(const Tensor& out, const Tensor& x, const Tensor& mean, const Tensor& variance,
               const Tensor& weight, const Tensor& bias, f64 eps) {
  if (x.element_count() == 0) return;
  const Index channels = x.shape()[1];
  const Params params(channels, "batch_norm");
  dispatch(x.storage(), "batch_norm", [&]<Float T>(const Buffer<T>&) {
    for (Index c = 0; c < channels; ++c)
      params.set(c, element<T>(mean, c), element<T>(variance, c), eps, element<T>(weight, c),
                 element<T>(bias, c));
    normalize<T>(out, x, params, 0);
  });
}

void check_group(const Tensor& x, Index groups, const Tensor& weight, const Tensor& bias, f64 eps) {
  check_input("group_norm", x, eps);
  check_groups(x, groups);
  check_channels("group_norm", "weight", x, weight);
  check_channels("group_norm", "bias", x, bias);
}

void check_batch(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& weight,
                 const Tensor& bias, f64 eps) {
  check_input("batch_norm", x, eps);
  check_channels("batch_norm", "mean", x, mean);
  check_channels("batch_norm", "variance", x, variance);
  check_channels("batch_norm", "weight", x, weight);
  check_channels("batch_norm", "bias", x, bias);
}

}  // namespace

Tensor group_norm(const Tensor& x, Index groups, const Tensor& weight, const Tensor& bias,
                  f64 eps) {
  check_group(x, groups, weight, bias, eps);
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  run_group(out, x, groups, weight, bias, eps);
  return out;
}
void group_norm_into(const Tensor& out, const Tensor& x, Index groups, const Tensor& weight,
                     const Tensor& bias, f64 eps) {
  check_group(x, groups, weight, bias, eps);
  check_out("group_norm", out, x.shape(), x.dtype());
  check_overlap("group_norm", out, x);
  run_group(out, x, groups, weight, bias, eps);
}

Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& weight,
                  const Tensor& bias, f64 eps) {
  check_batch(x, mean, variance, weight, bias, eps);
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  run_batch(out, x, mean, variance, weight, bias, eps);
  return out;
}
void batch_norm_into(const Tensor& out, const Tensor& x, const Tensor& mean, const Tensor& variance,
                     const Tensor& weight, const Tensor& bias, f64 eps) {
  check_batch(x, mean, variance, weight, bias, eps);
  check_out("batch_norm", out, x.shape(), x.dtype());
  check_overlap("batch_norm", out, x);
  run_batch(out, x, mean, variance, weight, bias, eps);
}

}  // namespace wick
