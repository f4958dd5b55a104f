// SPDX-License-Identifier: Apache-2.0
#include "wick/custom_op.h"

#include "wick/ops/check.h"

namespace wick::detail {

void check_custom(std::string_view op, const Tensor& out,
                  std::initializer_list<const Tensor*> inputs) {
  check_out(op, out, out.shape(), out.dtype());
  for (const Tensor* const x : inputs) check_disjoint(op, out, *x);
}

}  // namespace wick::detail
