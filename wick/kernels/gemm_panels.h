// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/kernels/gemm.h"

namespace wick::kernels {

/// A few rows times a panel of a packed matrix whose elements are still T: sums of one chunk of k,
/// in the order of the block kernel.
template <Element T>
struct GemmPanel {
  using Acc = GemmAcc<T>;
  Index m, k;         ///< m from 1 to GemmPanels<T>::rows
  const Acc* a;       ///< element [p][row]
  const T* b;         ///< row after row of the panel
  Acc* tile;          ///< m rows of sums, Gemm<T>::nr apart
  bool add;           ///< tile += chunk, else tile = chunk
  const void* ahead;  ///< what is read next of memory, to be asked for
  Index ahead_lines;  ///< cache lines of it to ask for with every two steps of k: 0, 1, 2 or 4
};

template <Element T>
struct GemmPanels {
  Index rows;  ///< most rows of one call
  void (*panel)(const GemmPanel<T>& g);
};

/// The functions for this CPU, for f32, f64 and the small floats.
template <Float T>
GemmPanels<T> gemm_panels();
#define WICK_DECLARE(T) \
  template <>           \
  GemmPanels<T> gemm_panels();
WICK_FOR_FLOATS(WICK_DECLARE)
#undef WICK_DECLARE

}  // namespace wick::kernels
