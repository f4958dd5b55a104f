// SPDX-License-Identifier: Apache-2.0
#include "wick/ops/conv_paths.h"

namespace wick {

template <Element T>
bool conv_depthwise(const ConvProblem<T>&) {
  return false;
}

#define WICK_INSTANTIATE(T) template bool conv_depthwise(const ConvProblem<T>&);
WICK_FOR_ELEMENTS(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE

}  // namespace wick
