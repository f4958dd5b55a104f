// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "wick/tensor.h"

namespace wick {

/// Ids must be u8, u32 or i64.
void check_ids_dtype(std::string_view op, const Tensor& ids);

/// Every id must be in [0, size), else an `index` Error that names the first one that is not, in
/// row-major order, and its place.
void check_ids(std::string_view op, const Tensor& ids, Index size);

/// Ids of rank 1, one for each entry of `dim`, as they are seen from a tensor of this shape.
Layout spread_ids(const Tensor& ids, int dim, const Dims& shape);

}  // namespace wick
