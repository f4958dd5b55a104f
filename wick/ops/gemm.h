// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <type_traits>

#include "wick/core/dtype.h"
#include "wick/kernels/gemm.h"
#include "wick/parallel/executor.h"

namespace wick {

/// Elements of T seen as a matrix: element (i, j) at data[i * row + j * col]. Strides may be
/// negative, and 0 for operands that are only read.
template <class T>
struct MatrixRef {
  T* data = nullptr;
  Index row = 0;
  Index col = 0;
};

/// What is done to alpha * A·B + beta * C before it is rounded and stored; see kernels::GemmFinish.
template <Element T, class Out>
struct GemmEpilogue {
  using Acc = kernels::GemmAcc<T>;
  MatrixRef<const Acc> bias;  ///< data null: none
  decltype(kernels::GemmFinish<Acc>::activate) activate = nullptr;
  Compute<T> scale = static_cast<Compute<T>>(1);
  MatrixRef<const Out> residual;  ///< data null: none; may be C itself, but not overlap it in part
  bool empty() const {
    return bias.data == nullptr && activate == nullptr && residual.data == nullptr &&
           scale == static_cast<Compute<T>>(1);
  }
};

/// C = alpha * A·B + beta * C for A [m, k], B [k, n], C [m, n]. Out is T, or f32 for the small
/// floats. beta == 0: C is not read. Sizes are >= 0; nothing else is checked here.
template <Element T, class Out = T>
struct GemmProblem {
  Index m = 0, n = 0, k = 0;
  Compute<T> alpha = static_cast<Compute<T>>(1);
  MatrixRef<const T> a, b;
  Compute<T> beta = static_cast<Compute<T>>(0);
  MatrixRef<Out> c;
  GemmEpilogue<T, Out> epilogue{};
  /// B lies in panels at b.data (its strides mean nothing): chunk of k after chunk, in each panel
  /// after panel of Gemm<T>::nr columns, the last filled up with zeros, in each row after row.
  bool b_packed = false;
};

/// Many equal products: product i has the index i in `shape` (row-major), and its operands lie the
/// dot product of that index with their strides (in elements) behind the first's. C's must not
/// overlap; A's and B's may repeat (stride 0).
struct GemmBatch {
  static constexpr std::size_t kMaxRank = 8;
  std::size_t rank = 0;
  std::array<Index, kMaxRank> shape{}, a{}, b{}, c{}, residual{};
  Index count() const {
    Index n = 1;
    for (std::size_t i = 0; i < rank; ++i) n *= shape[i];
    return n;
  }
  struct Offsets {
    Index a, b, c, residual;
  };
  /// Where product i's operands lie behind the first's.
  Offsets offsets(Index i) const {
    Offsets at{0, 0, 0, 0};
    for (std::size_t d = rank; d-- > 0;) {
      const Index index = i % shape[d];
      i /= shape[d];
      at.a += index * a[d];
      at.b += index * b[d];
      at.c += index * c[d];
      at.residual += index * residual[d];
    }
    return at;
  }
};

/// A single product. (A batch is large: making one takes as long as a tiny product.)
inline constexpr GemmBatch kNoBatch{};

/// What the loops may choose freely: results have the same bits for every choice. 0: worked out
/// from the caches of this machine. Tests and trials set them.
struct GemmTuning {
  Index mc = 0;       ///< rows of C that are finished before the next
  Index nb = 0;       ///< columns of B packed at once, for L2
  Index whole_a = 0;  ///< 1: a chunk of A is packed at once, 2: strip by strip
  Index whole_b = 0;  ///< 1: all of packed B stays until the product is done, 2: never
  Index ranks = 0;    ///< pieces that run in parallel
  enum class Path { automatic, packed, direct_a, direct_b, direct, thin } path = Path::automatic;
};

/// Length of the chunks that k is cut into. Inside a chunk products are added one after the other
/// by FMA, from 0; sums of chunks are added in order. Part of the contract: never tuned.
template <Element T>
inline constexpr Index kGemmChunk = std::is_same_v<T, f64> ? 256 : 384;

/// All products of the batch, on `executor`. The bits of C depend on k, the dtypes and the
/// operands' elements alone.
template <Element T, class Out>
void gemm_batch(const GemmProblem<T, Out>& problem, const GemmBatch& batch, Executor& executor,
                const GemmTuning& tuning = {});

/// One product.
template <Element T, class Out>
void gemm(const GemmProblem<T, Out>& problem, Executor& executor, const GemmTuning& tuning = {}) {
  gemm_batch(problem, kNoBatch, executor, tuning);
}

}  // namespace wick
