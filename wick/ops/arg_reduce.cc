// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/arg_reduce.h"

#include "wick/core/dispatch.h"
#include "wick/ops/check.h"
#include "wick/ops/reduce.h"

namespace wick {
namespace {

ReducePlan plan_of(std::string_view op, const Tensor& x, const Dims& dims, bool keepdim) {
  if (is_raw(x.dtype())) throw_unsupported(x.dtype(), op);
  ReducePlan plan = plan_reduction(op, x.layout(), dims, keepdim, ReduceOrder::row_major);
  if (plan.n == 0)
    throw error_about(ErrorKind::shape, op,
                      str("wanted at least one element to choose from, got shape ",
                          to_string(x.shape()), " reduced over ", to_string(dims)),
                      {&x});
  if (plan.n > Index{0xFFFFFFFF})
    throw error_about(ErrorKind::shape, op,
                      str("wanted at most 4294967295 elements to choose from, got ", plan.n), {&x});
  return plan;
}

void run(bool least, const ReducePlan& plan, const Tensor& out, const Tensor& x, const Dims& dims) {
  const std::string_view op = least ? "argmin" : "argmax";
  const Layout y = without_kept_dims(op, out.layout(), dims, plan);
  u32* to = std::get_if<Buffer<u32>>(&out.storage())->data();
  dispatch(x.storage(), op, [&]<Element T>(const Buffer<T>& in) {
    reduce(
        op, plan, to, y, static_cast<const T*>(in.data()),
        least ? kernels::arg_min<T>() : kernels::arg_max<T>(),
        [](const kernels::Best& a, const kernels::Best& b) { return merge(a, b); },
        [](const kernels::Best& best) { return static_cast<u32>(best.index); });
  });
}

Tensor apply(bool least, const Tensor& x, const Dims& dims, bool keepdim) {
  const ReducePlan plan = plan_of(least ? "argmin" : "argmax", x, dims, keepdim);
  Tensor out = Tensor::empty(plan.shape, DType::u32);
  run(least, plan, out, x, dims);
  return out;
}

void apply_into(bool least, const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim) {
  const std::string_view op = least ? "argmin" : "argmax";
  const ReducePlan plan = plan_of(op, x, dims, keepdim);
  check_out(op, out, plan.shape, DType::u32);
  check_disjoint(op, out, x);
  run(least, plan, out, x, dims);
}

}  // namespace

Tensor Tensor::argmax() const { return apply(false, *this, all_dims(rank()), false); }
Tensor Tensor::argmin() const { return apply(true, *this, all_dims(rank()), false); }
Tensor Tensor::argmax(Index dim, bool keepdim) const { return apply(false, *this, {dim}, keepdim); }
Tensor Tensor::argmin(Index dim, bool keepdim) const { return apply(true, *this, {dim}, keepdim); }

void argmax_into(const Tensor& out, const Tensor& x, Index dim, bool keepdim) {
  apply_into(false, out, x, {dim}, keepdim);
}
void argmin_into(const Tensor& out, const Tensor& x, Index dim, bool keepdim) {
  apply_into(true, out, x, {dim}, keepdim);
}

}  // namespace wick
