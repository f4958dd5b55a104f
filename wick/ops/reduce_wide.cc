// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/reduce_wide.h"

#include "wick/core/convert.h"
#include "wick/core/dispatch.h"
#include "wick/kernels/min_max.h"
#include "wick/ops/check.h"
#include "wick/ops/reduce.h"

namespace wick {
namespace {

enum class Which : std::uint8_t { prod, var, std, norm, logsumexp, any, all };
constexpr std::string_view kNames[] = {"prod", "var", "std", "norm", "logsumexp", "any", "all"};

struct Request {
  Which which;
  f64 number = 0;  ///< the correction of var and std, the p of norm

  std::string_view op() const { return kNames[static_cast<int>(which)]; }
};

DType result_dtype(Which which, DType t) {
  if (which == Which::any || which == Which::all) return DType::u8;
  if (is_float(t)) return t;
  return which == Which::prod ? DType::i64 : DType::f64;
}

bool is_max_norm(const Request& r) { return r.which == Which::norm && std::isinf(r.number); }

void check_request(const Request& r, DType t) {
  if (is_raw(t) || (r.which == Which::logsumexp && is_int(t))) throw_unsupported(t, r.op());
  const f64 v = r.number;
  if ((r.which == Which::var || r.which == Which::std) && !(std::isfinite(v) && v >= 0))
    throw Error(ErrorKind::argument, r.op(), str("wanted a finite correction >= 0, got ", v));
  if (r.which == Which::norm && !(v == 1 || v == 2 || v == INFINITY))
    throw Error(ErrorKind::argument, r.op(), str("wanted p = 1, 2 or infinity, got ", v));
}

ReducePlan plan_of(const Request& r, const Tensor& x, const Dims& dims, bool keepdim) {
  check_request(r, x.dtype());
  const bool any_order = r.which == Which::any || r.which == Which::all || is_max_norm(r) ||
                         (r.which == Which::prod && is_int(x.dtype()));
  return plan_reduction(r.op(), x.layout(), dims, keepdim,
                        any_order ? ReduceOrder::any : ReduceOrder::row_major);
}

/// What all of these have in common: parts merge by a function of the same name.
constexpr auto kMerge = [](const auto& a, const auto& b) { return merge(a, b); };

/// The largest magnitude of a range, in f64.
template <Element T>
f64 largest(kernels::Range<T> range) {
  const f64 high = convert<f64>(range.value(true)), low = convert<f64>(range.value(false));
  return std::isnan(high) ? high : std::max(std::fabs(high), std::fabs(low));
}

template <Element T>
void run_on(const Request& r, const ReducePlan& plan, const Tensor& out, const Layout& y,
            const T* x) {
  using Wide = std::conditional_t<Float<T>, T, f64>;
  const std::string_view op = r.op();
  const auto to = [&]<class Out>(std::type_identity<Out>) {
    return std::get_if<Buffer<Out>>(&out.storage())->data();
  };
  constexpr std::type_identity<Wide> kWide;
  constexpr std::type_identity<u8> kFlag;
  const auto kernels = kernels::wide_kernels<T>();
  switch (r.which) {
    case Which::any:
      return reduce(op, plan, to(kFlag), y, x, kernels::truth<T>(), kMerge,
                    [](const kernels::Truth& t) { return t.any; });
    case Which::all:
      return reduce(op, plan, to(kFlag), y, x, kernels::truth<T>(), kMerge,
                    [](const kernels::Truth& t) { return t.all; });
    case Which::var:
    case Which::std: {
      const f64 divisor = std::max(static_cast<f64>(plan.n) - r.number, 0.0);
      const bool root = r.which == Which::std;
      return reduce(op, plan, to(kWide), y, x, kernels.moments, kMerge,
                    [divisor, root](const kernels::Moments& m) {
                      const f64 variance = m.squares / divisor;
                      return convert<Wide>(root ? std::sqrt(variance) : variance);
                    });
    }
    case Which::norm:
      if (is_max_norm(r) && plan.n > 0)
        return reduce(op, plan, to(kWide), y, x, kernels::min_max<T>(), kMerge,
                      [](kernels::Range<T> range) { return convert<Wide>(largest<T>(range)); });
      if (r.number == 2)
        return reduce(op, plan, to(kWide), y, x, kernels.squares, kMerge,
                      [](const kernels::Squares& s) { return convert<Wide>(s.root()); });
      return reduce(
          op, plan, to(kWide), y, x, kernels.abs_sum, [](f64 a, f64 b) { return a + b; },
          [](f64 sum) { return convert<Wide>(sum); });
    case Which::prod:
      if constexpr (Int<T>) {
        return reduce(
            op, plan, to(std::type_identity<i64>()), y, x, kernels::int_product<T>(),
            [](i64 a, i64 b) {
              return static_cast<i64>(static_cast<std::uint64_t>(a) *
                                      static_cast<std::uint64_t>(b));
            },
            [](i64 product) { return product; });
      } else {
        return reduce(
            op, plan, to(kWide), y, x, kernels.product, [](f64 a, f64 b) { return a * b; },
            [](f64 product) { return convert<Wide>(product); });
      }
    case Which::logsumexp:
      if constexpr (Float<T>)
        return reduce(op, plan, to(kWide), y, x, kernels.exp_sum, kMerge,
                      [](const kernels::ExpSum& s) { return convert<Wide>(s.value()); });
  }
}

void run(const Request& r, const ReducePlan& plan, const Tensor& out, const Tensor& x,
         const Dims& dims) {
  if (runs_across(x.layout(), plan)) {
    const Tensor compact = x.copy();
    return run(r, plan_of(r, compact, dims, false), out, compact, dims);
  }
  const Layout y = without_kept_dims(r.op(), out.layout(), dims, plan);
  dispatch(x.storage(), r.op(),
           [&]<Element T>(const Buffer<T>& in) { run_on<T>(r, plan, out, y, in.data()); });
}

void apply_into(const Request& r, const Tensor& out, const Tensor& x, const Dims& dims,
                bool keepdim) {
  const ReducePlan plan = plan_of(r, x, dims, keepdim);
  check_out(r.op(), out, plan.shape, result_dtype(r.which, x.dtype()));
  check_disjoint(r.op(), out, x);
  run(r, plan, out, x, dims);
}

Tensor apply(const Request& r, const Tensor& x, const Dims& dims, bool keepdim) {
  const ReducePlan plan = plan_of(r, x, dims, keepdim);
  Tensor out = Tensor::empty(plan.shape, result_dtype(r.which, x.dtype()));
  run(r, plan, out, x, dims);
  return out;
}

}  // namespace

Tensor Tensor::prod() const { return prod(all_dims(rank())); }
Tensor Tensor::var() const { return var(all_dims(rank())); }
Tensor Tensor::std() const { return std(all_dims(rank())); }
Tensor Tensor::norm(f64 p) const { return norm(p, all_dims(rank())); }
Tensor Tensor::any() const { return any(all_dims(rank())); }
Tensor Tensor::all() const { return all(all_dims(rank())); }

Tensor Tensor::prod(const Dims& dims, bool keepdim) const {
  return apply({Which::prod}, *this, dims, keepdim);
}
Tensor Tensor::var(const Dims& dims, bool keepdim, f64 correction) const {
  return apply({Which::var, correction}, *this, dims, keepdim);
}
Tensor Tensor::std(const Dims& dims, bool keepdim, f64 correction) const {
  return apply({Which::std, correction}, *this, dims, keepdim);
}
Tensor Tensor::norm(f64 p, const Dims& dims, bool keepdim) const {
  return apply({Which::norm, p}, *this, dims, keepdim);
}
Tensor Tensor::logsumexp(const Dims& dims, bool keepdim) const {
  return apply({Which::logsumexp}, *this, dims, keepdim);
}
Tensor Tensor::any(const Dims& dims, bool keepdim) const {
  return apply({Which::any}, *this, dims, keepdim);
}
Tensor Tensor::all(const Dims& dims, bool keepdim) const {
  return apply({Which::all}, *this, dims, keepdim);
}

void prod_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim) {
  apply_into({Which::prod}, out, x, dims, keepdim);
}
void var_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim, f64 correction) {
  apply_into({Which::var, correction}, out, x, dims, keepdim);
}
void std_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim, f64 correction) {
  apply_into({Which::std, correction}, out, x, dims, keepdim);
}
void norm_into(const Tensor& out, const Tensor& x, f64 p, const Dims& dims, bool keepdim) {
  apply_into({Which::norm, p}, out, x, dims, keepdim);
}
void logsumexp_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim) {
  apply_into({Which::logsumexp}, out, x, dims, keepdim);
}
void any_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim) {
  apply_into({Which::any}, out, x, dims, keepdim);
}
void all_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim) {
  apply_into({Which::all}, out, x, dims, keepdim);
}

}  // namespace wick
