// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/cumsum.h"

#include "wick/core/dispatch.h"
#include "wick/ops/check.h"
#include "wick/ops/lines.h"

namespace wick {
namespace {

constexpr std::string_view kOp = "cumsum";

int check_input(const Tensor& x, Index dim) {
  if (is_raw(x.dtype())) throw_unsupported(x.dtype(), kOp);
  return normalize_axis(dim, x.rank(), kOp);
}

DType result_dtype(DType t) { return is_int(t) ? DType::i64 : t; }

void run(const Tensor& out, const Tensor& x, int dim) {
  dispatch(x.storage(), kOp, [&]<Element T>(const Buffer<T>& in) {
    using Out = kernels::CumsumOf<T>;
    Out* y = std::get_if<Buffer<Out>>(&out.storage())->data();
    const auto kernel = kernels::cumsum<T>();
    // Lines go in step; those side by side share cache lines.
    for_each_line<u8>(kOp, out.layout(), x.layout(), dim, 0, kCheapGrain, 16,
                      [&](Index to, Index from, const kernels::LineLoop& loop, u8*) {
                        kernel(y + to, in.data() + from, loop);
                      });
  });
}

}  // namespace

Tensor Tensor::cumsum(Index dim) const {
  const int d = check_input(*this, dim);
  Tensor out = empty(shape(), result_dtype(dtype()));
  run(out, *this, d);
  return out;
}

void cumsum_into(const Tensor& out, const Tensor& x, Index dim) {
  const int d = check_input(x, dim);
  check_out(kOp, out, x.shape(), result_dtype(x.dtype()));
  check_overlap(kOp, out, x);
  run(out, x, d);
}

}  // namespace wick
