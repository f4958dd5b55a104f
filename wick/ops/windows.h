// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "wick/base/checked.h"

namespace wick {

// Sizes of what slides over an axis: kernels of convolutions, windows of pools.

/// An `overflow` Error for padded sizes with which sums of places might not fit into an Index.
inline void check_window_limit(std::string_view op, Index padded) {
  if (padded > Index{1} << 60)
    throw Error(ErrorKind::overflow, op,
                str("wanted a padded input of at most 2^60 elements, got ", padded));
}

/// Errors for what no window can be.
inline void check_window(std::string_view op, Index taps, Index stride, Index padding,
                         Index dilation) {
  if (taps < 1)
    throw Error(ErrorKind::shape, op, str("wanted a kernel of at least one element, got ", taps));
  if (stride < 1 || dilation < 1 || padding < 0)
    throw Error(
        ErrorKind::argument, op,
        str("wanted a stride and a dilation of at least 1 and a padding of at least 0, got ",
            stride, ", ", dilation, " and ", padding));
}

/// How many windows there are: ceil_mode keeps a last one that reaches past the padded input, if it
/// begins inside the input or its left padding.
inline Index window_count(std::string_view op, Index in, Index taps, Index stride, Index padding,
                          Index dilation, bool ceil_mode) {
  const Index padded =
      checked_add(in, checked_mul(padding, 2, op, "padded size"), op, "padded size");
  const Index reach = checked_add(checked_mul(dilation, taps - 1, op, "size of the window"), 1, op,
                                  "size of the window");
  check_window_limit(op, padded);
  if (stride > Index{1} << 60)
    throw Error(ErrorKind::overflow, op, str("wanted a stride of at most 2^60, got ", stride));
  if (reach > padded)
    throw Error(ErrorKind::shape, op,
                str("wanted a kernel that fits into the padded input, got ", reach, " elements (",
                    taps, " with dilation ", dilation, ") for ", padded, " (", in, " with padding ",
                    padding, ")"));
  const Index rest = padded - reach;
  Index count = (ceil_mode ? ceil_div(rest, stride) : rest / stride) + 1;
  if (ceil_mode && (count - 1) * stride >= in + padding) --count;
  return count;
}

}  // namespace wick
