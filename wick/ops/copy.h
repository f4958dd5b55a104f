// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/tensor.h"

namespace wick {

/// copy_into() without its checks, for outputs that have been checked: x broadcasts to out, and the
/// two share no element.
void copy_elements(const Tensor& out, const Tensor& x);

}  // namespace wick
