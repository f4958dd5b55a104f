// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/linear.h"

namespace wick {

/// What products need to know of a PackedMatrix.
struct PackedAccess {
  static const Tensor& panels(const PackedMatrix& w) { return w.panels_; }
  static Index width(const PackedMatrix& w) { return w.width_; }
};

}  // namespace wick
