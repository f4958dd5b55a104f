// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "wick/core/op_table.h"
#include "wick/tensor.h"

namespace wick {

/// What happens to the sums of a product before they are stored, element by element and in this
/// order:
///
///     y = activation(alpha * AB + beta * out + bias) * scale + residual
///
/// and then one rounding to out's dtype. It is done while the sums are in L1, so it costs no pass
/// over memory. In f32 and f64 the bits are those of the ops one after the other: matmul_into with
/// alpha and beta, add, the activation, mul, add. The small floats are added, biased and activated
/// in f32 and rounded once, at the end. For integers only alpha and beta exist.
struct Epilogue {
  f64 alpha = 1;
  f64 beta = 0;                         ///< 0: the old elements of out are not read
  std::optional<Tensor> bias{};         ///< [n], one for each column; the operands' dtype, or f32
  std::optional<UnaryOp> activation{};  ///< any: relu, gelu, gelu_erf, silu, tanh, ...
  f64 scale = 1;
  std::optional<Tensor> residual{};  ///< broadcasts to out, has its dtype, and may be out itself
};

/// A matrix B [k, n] laid out once in the order in which products read it. For weights: what
/// matmul does to a large right operand on every call is done when the PackedMatrix is made.
/// Immutable, and a handle: copies share the panels and may be used from any thread. Elements keep
/// their dtype, so that bf16 and f16 cost half the memory of f32 and half the time to read.
class WICK_API PackedMatrix {
 public:
  /// [0, 0] of f32.
  PackedMatrix() = default;
  /// Packs b, [k, n] with any strides: a linear layer's weight [out, in] goes in as weight.t(). A
  /// `shape` Error for another rank, an `unsupported_dtype` Error for the raw formats.
  explicit PackedMatrix(const Tensor& b);

  Dims shape() const { return {k_, n_}; }
  DType dtype() const { return panels_.dtype(); }
  /// Memory that the panels take.
  Index bytes() const;
  /// The matrix as it was, row-major.
  Tensor unpack() const;

  /// The matrix as bytes: a head with a version, the dtype, the sizes and a checksum, and then the
  /// elements by rows, little-endian. They do not depend on the machine they were made on.
  std::vector<std::byte> save() const;
  /// Reads what save() wrote, and packs it for this machine. A `format` Error for anything else.
  static PackedMatrix load(std::span<const std::byte> bytes);

 private:
  friend struct PackedAccess;
  Tensor panels_;
  Index k_ = 0, n_ = 0;
  Index width_ = 1;  ///< columns of a panel
};

/// [.., m, k] x [k, n] -> [.., m, n] of the operands' dtype, with the bits of x.matmul(w.unpack()).
/// wick's own engine does it, whatever BLAS is chosen.
WICK_API Tensor matmul(const Tensor& x, const PackedMatrix& w, const Epilogue& epilogue = {});
/// The same through `out`, which may also be f32 where the operands are of a small float, and bf16
/// or f16 where they are f32. It must not overlap x.
WICK_API void matmul_into(const Tensor& out, const Tensor& x, const PackedMatrix& w,
                          const Epilogue& epilogue = {});
/// A product of two tensors with an epilogue; the dtypes as above.
WICK_API void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b,
                          const Epilogue& epilogue);

}  // namespace wick
