// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/base/checked.h"

namespace wick::kernels {

/// `lines` vectors of n elements, as softmax and the norms walk them. Along a line y and x advance
/// by y_step and x_step elements, from line to line by y_line and x_line.
struct LineLoop {
  Index n = 0;
  Index y_step = 0;
  Index x_step = 0;
  Index lines = 0;
  Index y_line = 0;
  Index x_line = 0;
};

/// Elements that a buffer for n of them needs, so that whole vectors may be read and written.
constexpr Index padded(Index n) { return round_up(n, 16) + 16; }

}  // namespace wick::kernels
