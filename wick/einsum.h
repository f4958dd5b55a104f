// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "wick/tensor.h"

namespace wick {

/// Sums of products by Einstein's convention, as in NumPy and PyTorch: einsum("bij,bjk->bik", {a,
/// b}) is a batched product. One letter (a-z, A-Z) per dim of each operand; "..." stands for the
/// dims that are not named and broadcast. A letter that the output does not name is summed over;
/// one that occurs twice in an operand takes its diagonal. Without "->" the output has "..." and
/// then, in alphabetical order (capitals first), the letters that occur once in all. A dim of size
/// 1 broadcasts.
///
/// Operands are contracted from left to right, each step one matmul of views; an operand is copied
/// only where several summed letters do not lie in memory as one. Letters of one operand alone are
/// summed first, with one rounding to the dtype. The result is new, row-major, of the operands'
/// dtype; integers wrap. Errors: `argument` for the equation, `shape`, `dtype`.
WICK_API Tensor einsum(std::string_view equation, std::span<const Tensor> operands);
inline Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands) {
  return einsum(equation, std::span<const Tensor>(operands.begin(), operands.size()));
}
/// No operand may overlap `out`.
WICK_API void einsum_into(const Tensor& out, std::string_view equation,
                          std::span<const Tensor> operands);
inline void einsum_into(const Tensor& out, std::string_view equation,
                        std::initializer_list<Tensor> operands) {
  einsum_into(out, equation, std::span<const Tensor>(operands.begin(), operands.size()));
}

}  // namespace wick
