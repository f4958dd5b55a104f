// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "bench/gemm_cases.h"
#include "wick/linear.h"
#include "wick/tensor.h"

namespace wick::bench {

/// wick's side of a row: operands by the formula of gemm_operands.h, and the calls. Copies for rows
/// from memory are made once and kept while rows follow that need them.
class GemmCalls {
 public:
  /// Rows from memory rotate over sets of operands that together exceed `cold_bytes`.
  explicit GemmCalls(Index cold_bytes) : cold_bytes_(cold_bytes) {}

  /// Makes the operands. Calls of an earlier row must be gone.
  void set(const Gemm& row);

  std::function<void()> raw();         ///< wick::gemm; one product, B not packed
  std::function<void()> into();        ///< matmul_into; B packed where the row says so
  std::function<void()> packed();      ///< matmul_into with B packed, whatever the row says
  std::function<void()> allocating();  ///< Tensor::matmul
  /// The result's elements at sample_place() after a call.
  std::vector<double> samples() const;
  /// How many sets take turns.
  std::size_t sets() const { return sets_.size(); }

 private:
  struct Set {
    Tensor a, b, c;
    PackedMatrix w;  ///< where the row is packed
  };
  using Key = std::tuple<std::uint32_t, DType, Index>;  ///< seed, dtype, elements

  /// Copy number `i` of an operand, as one dimension.
  Tensor operand(std::uint32_t seed, Index elements, std::size_t i);
  /// Copy number `i` of b as a packed matrix.
  PackedMatrix pack(const Tensor& b, std::size_t i);
  Set make_set(std::size_t i);
  Set& next();

  Index cold_bytes_;
  Gemm row_;
  std::vector<Set> sets_;
  std::size_t place_ = 0;
  std::map<Key, std::vector<Tensor>> operands_;
  std::vector<PackedMatrix> packed_;  ///< of one B
  bool packed_transposed_ = false;
};

/// How much longer the first call of a shape takes than later ones: the median over new shapes near
/// n x n x n of the first call by the median of the following few.
double first_call_ratio(Index n, int shapes);

}  // namespace wick::bench
