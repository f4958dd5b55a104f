// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/where.h"

#include "wick/core/dispatch.h"
#include "wick/ops/check.h"
#include "wick/ops/loop.h"

namespace wick {
namespace {

constexpr std::string_view kOp = "where_cond";

Dims shape_of(const Tensor& condition, const Tensor& a, const Tensor& b) {
  check_same_dtype(a.dtype(), b.dtype(), kOp);
  return broadcast_shapes(broadcast_shapes(a.shape(), b.shape(), kOp), condition.shape(), kOp);
}

void run(const Tensor& out, const Tensor& condition, const Tensor& a, const Tensor& b) {
  if (is_raw(out.dtype())) throw_unsupported(out.dtype(), kOp);
  const int bytes = bits(out.dtype()) / 8, condition_bytes = bits(condition.dtype()) / 8;
  const auto kernel = kernels::where(bytes, condition.dtype());
  if (kernel == nullptr)
    throw Error(ErrorKind::dtype, kOp,
                str("wanted a condition of u8, u32 or i64, got ", name(condition.dtype())));
  const auto seen = [&](const Tensor& t) { return t.layout().broadcast_to(out.shape(), kOp); };
  const Layout c = seen(condition), x = seen(a), y = seen(b);
  const auto base = [](const Tensor& t) { return view(t.storage()).data; };
  for_each_loop<4>({&out.layout(), &c, &x, &y}, kCheapGrain,
                   [&](const auto& at, const Loop2<4>& loop) {
                     kernel(base(out) + at[0] * bytes, base(condition) + at[1] * condition_bytes,
                            base(a) + at[2] * bytes, base(b) + at[3] * bytes, loop);
                   });
}

}  // namespace

void where_into(const Tensor& out, const Tensor& condition, const Tensor& on_true,
                const Tensor& on_false) {
  check_out(kOp, out, shape_of(condition, on_true, on_false), on_true.dtype());
  for (const Tensor* in : {&condition, &on_true, &on_false}) check_overlap(kOp, out, *in);
  run(out, condition, on_true, on_false);
}

Tensor Tensor::where_cond(const Tensor& on_true, const Tensor& on_false) const {
  Tensor out = empty(shape_of(*this, on_true, on_false), on_true.dtype());
  run(out, *this, on_true, on_false);
  return out;
}

}  // namespace wick
