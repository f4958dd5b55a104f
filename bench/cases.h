// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "bench/harness.h"
#include "wick/tensor.h"

// Cases that several suites share, and the calls that belong to them.

namespace wick::bench {

/// A product [m, k] x [k, n] against the FMA peak of its dtype.
Case matmul_case(int experiment, DType dtype, Index m, Index n, Index k, int threads, Limit limit);

/// A call that multiplies two matrices of samples of the normal distribution, warm.
std::function<void()> matmul_call(DType dtype, Index m, Index n, Index k);

/// An elementwise op with `inputs` operands of n f32, against the copy bandwidth.
Case elementwise_case(int experiment, std::string_view op, int inputs, Index n, int threads);

/// Sets of operands and results that take turns, so that each comes from memory.
class ColdSets {
 public:
  /// `inputs` vectors and a result of n f32 each; all sets together exceed `bytes`.
  ColdSets(int inputs, Index n, Index bytes);

  /// Calls f(result, inputs) with the next set. The result of the last time is still there.
  template <class F>
  void next(F&& f) {
    Set& set = sets_[place_];
    place_ = (place_ + 1) % sets_.size();
    f(set.result, set.inputs);
  }

 private:
  struct Set {
    Tensor result;
    std::vector<Tensor> inputs;
  };
  std::vector<Set> sets_;
  std::size_t place_ = 0;
};

/// A call of exp, add or mul by the sets, allocating its result as users do.
std::function<void()> elementwise_call(std::string_view op, int inputs, Index n, Index cold_bytes);

}  // namespace wick::bench
