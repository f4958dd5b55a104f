// SPDX-License-Identifier: Apache-2.0
#include "wick/ops/reduce.h"

#include "wick/core/convert.h"
#include "wick/core/dispatch.h"
#include "wick/kernels/arg_reduce.h"
#include "wick/kernels/min_max.h"
#include "wick/ops/check.h"

namespace wick {
namespace {

template <class T>
T* data_of(const Tensor& t) {
  return std::get_if<Buffer<T>>(&t.storage())->data();
}

enum class Which : std::uint8_t { sum, mean, max, min };
constexpr std::string_view kNames[] = {"sum", "mean", "max", "min"};
constexpr std::string_view name_of(Which which) { return kNames[static_cast<int>(which)]; }

DType result_dtype(Which which, DType t) {
  if (!is_int(t)) return t;
  return which == Which::sum ? DType::i64 : which == Which::mean ? DType::f64 : t;
}

/// Float sums depend on their order; nothing else does.
ReduceOrder order_of(Which which, DType t) {
  const bool adds = which == Which::sum || which == Which::mean;
  return adds && (is_float(t) || t == DType::i64) ? ReduceOrder::row_major : ReduceOrder::any;
}

ReducePlan plan_of(Which which, const Tensor& x, const Dims& dims, bool keepdim) {
  const std::string_view op = name_of(which);
  if (is_raw(x.dtype())) throw_unsupported(x.dtype(), op);
  ReducePlan plan = plan_reduction(op, x.layout(), dims, keepdim, order_of(which, x.dtype()));
  if (plan.n == 0 && (which == Which::max || which == Which::min))
    throw error_about(ErrorKind::shape, op,
                      str("wanted at least one element to choose from, got shape ",
                          to_string(x.shape()), " reduced over ", to_string(dims)),
                      {&x});
  return plan;
}

/// Wrapping sums of i64; on f64 as usual.
constexpr auto kPlus = [](auto a, auto b) {
  if constexpr (std::same_as<decltype(a), i64>) {
    return static_cast<i64>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
};

template <Element T>
void run_sum(const ReducePlan& plan, const Tensor& out, const Layout& y, const T* x) {
  using Out = std::conditional_t<Float<T>, T, i64>;
  reduce("sum", plan, data_of<Out>(out), y, x, kernels::sum<T>(), kPlus,
         [](kernels::SumOf<T> s) { return convert<Out>(s); });
}

template <Element T>
void run_mean(const ReducePlan& plan, const Tensor& out, const Layout& y, const T* x) {
  using Out = std::conditional_t<Float<T>, T, f64>;
  const auto n = static_cast<f64>(plan.n);
  const auto divide = [n](auto s) { return convert<Out>(static_cast<f64>(s) / n); };
  Out* to = data_of<Out>(out);
  if constexpr (std::same_as<T, i64>) {
    reduce("mean", plan, to, y, x, kernels::sum_i64_as_f64(), kPlus, divide);
  } else {
    reduce("mean", plan, to, y, x, kernels::sum<T>(), kPlus, divide);
  }
}

template <Element T>
void run_range(Which which, const ReducePlan& plan, const Tensor& out, const Layout& y,
               const T* x) {
  const bool greatest = which == Which::max;
  reduce(
      name_of(which), plan, data_of<T>(out), y, x, kernels::min_max<T>(),
      [](kernels::Range<T> a, kernels::Range<T> b) { return merge(a, b); },
      [greatest](kernels::Range<T> r) { return r.value(greatest); });
}

void run(Which which, const ReducePlan& plan, const Tensor& out, const Tensor& x,
         const Dims& dims) {
  if (order_of(which, x.dtype()) == ReduceOrder::row_major && runs_across(x.layout(), plan)) {
    const Tensor compact = x.copy();
    return run(which, plan_of(which, compact, dims, false), out, compact, dims);
  }
  const Layout y = without_kept_dims(name_of(which), out.layout(), dims, plan);
  dispatch(x.storage(), name_of(which), [&]<Element T>(const Buffer<T>& in) {
    switch (which) {
      case Which::sum: return run_sum(plan, out, y, in.data());
      case Which::mean: return run_mean(plan, out, y, in.data());
      case Which::max:
      case Which::min: return run_range(which, plan, out, y, in.data());
    }
  });
}

void apply_into(Which which, const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim) {
  const ReducePlan plan = plan_of(which, x, dims, keepdim);
  check_out(name_of(which), out, plan.shape, result_dtype(which, x.dtype()));
  check_disjoint(name_of(which), out, x);
  run(which, plan, out, x, dims);
}

Tensor apply(Which which, const Tensor& x, const Dims& dims, bool keepdim) {
  const ReducePlan plan = plan_of(which, x, dims, keepdim);
  Tensor out = Tensor::empty(plan.shape, result_dtype(which, x.dtype()));
  run(which, plan, out, x, dims);
  return out;
}

}  // namespace

Tensor Tensor::sum() const { return sum(all_dims(rank())); }
Tensor Tensor::mean() const { return mean(all_dims(rank())); }
Tensor Tensor::max() const { return max(all_dims(rank())); }
Tensor Tensor::min() const { return min(all_dims(rank())); }

Tensor Tensor::sum(const Dims& dims, bool keepdim) const {
  return apply(Which::sum, *this, dims, keepdim);
}
Tensor Tensor::mean(const Dims& dims, bool keepdim) const {
  return apply(Which::mean, *this, dims, keepdim);
}
Tensor Tensor::max(const Dims& dims, bool keepdim) const {
  return apply(Which::max, *this, dims, keepdim);
}
Tensor Tensor::min(const Dims& dims, bool keepdim) const {
  return apply(Which::min, *this, dims, keepdim);
}

void sum_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim) {
  apply_into(Which::sum, out, x, dims, keepdim);
}
void mean_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim) {
  apply_into(Which::mean, out, x, dims, keepdim);
}
void max_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim) {
  apply_into(Which::max, out, x, dims, keepdim);
}
void min_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim) {
  apply_into(Which::min, out, x, dims, keepdim);
}

}  // namespace wick
