// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "wick/tensor.h"

namespace wick {

// What every op asks of its output before it writes anything.

/// `out` must have this shape and dtype, must not be read-only and must not overlap itself.
void check_out(std::string_view op, const Tensor& out, const Dims& shape, DType dtype);

/// For ops that read an element of `in` before they write the element of `out` at the same place:
/// `in`, broadcast to out's shape, may be `out` itself; any other overlap is an `overlap` Error.
void check_overlap(std::string_view op, const Tensor& out, const Tensor& in);

/// For ops that may write an element before they have read all: any overlap is an `overlap` Error.
void check_disjoint(std::string_view op, const Tensor& out, const Tensor& in);

/// An Error about these tensors: their dtypes and shapes travel with it.
Error error_about(ErrorKind kind, std::string_view op, std::string_view message,
                  std::initializer_list<const Tensor*> tensors);

/// Whether an op may write its result into x itself: nobody else sees the elements.
bool is_reusable(const Tensor& x);

}  // namespace wick
