// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/softmax.h"

#include "wick/core/dispatch.h"
#include "wick/nn.h"
#include "wick/ops/check.h"
#include "wick/ops/lines.h"

namespace wick {
namespace {

constexpr std::string_view name_of(bool log) { return log ? "log_softmax" : "softmax"; }

int check_input(bool log, const Tensor& x, Index dim) {
  if (!is_float(x.dtype())) throw_unsupported(x.dtype(), name_of(log));
  return normalize_axis(dim, x.rank(), name_of(log));
}

void run(bool log, const Tensor& out, const Tensor& x, int dim) {
  dispatch(out.storage(), x.storage(), name_of(log),
           [&]<Float T>(const Buffer<T>& y, const Buffer<T>& in) {
             const auto kernel = log ? kernels::log_softmax<T>() : kernels::softmax<T>();
             const Index n = x.shape()[dim];
             const Index step = x.layout().strides[dim];
             // Lines side by side share cache lines.
             const Index least = kernels::softmax_across(n, step) ? 16 : 1;
             for_each_line<Compute<T>>(
                 name_of(log), out.layout(), x.layout(), dim,
                 kernels::softmax_scratch(n, step, name_of(log)), kCostlyGrain, least,
                 [&](Index to, Index from, const kernels::LineLoop& loop, Compute<T>* scratch) {
                   kernel(y.data() + to, in.data() + from, loop, scratch);
                 });
           });
}

Tensor apply(bool log, const Tensor& x, Index dim) {
  const int d = check_input(log, x, dim);
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  run(log, out, x, d);
  return out;
}

void apply_into(bool log, const Tensor& out, const Tensor& x, Index dim) {
  const int d = check_input(log, x, dim);
  check_out(name_of(log), out, x.shape(), x.dtype());
  check_overlap(name_of(log), out, x);
  run(log, out, x, d);
}

}  // namespace

Tensor softmax(const Tensor& x, Index dim) { return apply(false, x, dim); }
Tensor log_softmax(const Tensor& x, Index dim) { return apply(true, x, dim); }
void softmax_into(const Tensor& out, const Tensor& x, Index dim) { apply_into(false, out, x, dim); }
void log_softmax_into(const Tensor& out, const Tensor& x, Index dim) {
  apply_into(true, out, x, dim);
}

}  // namespace wick
