// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace wick::kernels {

/// x less the nearest multiple of pi/2, as an unevaluated sum, and that multiple modulo 4.
struct Reduced {
  double high;
  double low;
  int quadrant;
};

/// Reduces any finite x with |x| >= 1. (Payne and Hanek, "Radian reduction for trigonometric
/// functions", SIGNUM Newsletter 18, 1983.) The result has an error below 2^-100 of itself.
Reduced reduce_pi_2(double x);

}  // namespace wick::kernels
