// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "wick/core/dtype.h"
#include "wick/core/layout.h"

namespace wick::kernels {

/// The most outputs of one call of a reduction kernel.
inline constexpr Index kReduceCols = 256;

/// Reduced elements of one call, at most. Longer reductions are cut into chunks of this length,
/// always at the same places, and what the chunks gave is merged by a fixed tree.
inline constexpr Index kReduceChunk = 8192;

/// `cols` reductions in step. The reduced elements are numbered 0, 1, ... in row-major order of the
/// reduced dims; a call covers those in [begin, end), where begin is a multiple of kReduceChunk and
/// end - begin at most kReduceChunk. Output c reduces the elements that lie c * col_stride further.
struct ReduceLoop {
  int rank = 1;                         ///< reduced dims, at least 1
  std::array<Index, kMaxRank> shape{};  ///< innermost first, none 0 unless begin == end
  std::array<Index, kMaxRank> strides{};
  Index begin = 0;
  Index end = 0;
  Index cols = 0;  ///< at most kReduceCols
  Index col_stride = 0;
};

/// The kernel of a reduction of T: writes for each of the `cols` outputs what its elements gave so
/// far, a P. One thread, no allocation.
template <class T, class P>
using ReduceFn = void (*)(P* out, const T* x, const ReduceLoop& loop);

/// True where each output is best reduced on its own, along the reduced dim, instead of all in
/// step. It only decides about speed.
inline bool one_by_one(const ReduceLoop& loop) {
  const auto size = [](Index stride) { return stride < 0 ? -stride : stride; };
  return loop.cols == 1 || (size(loop.strides[0]) < size(loop.col_stride) && loop.shape[0] > 32);
}

/// Walks the elements [begin, end) of one output, run by run.
class ReduceCursor {
 public:
  explicit ReduceCursor(const ReduceLoop& loop) : loop_(loop) {
    Index rest = loop.begin;
    for (std::size_t i = 0; i < rank() && rest > 0; ++i) {
      at_[i] = rest % loop.shape[i];
      rest /= loop.shape[i];
      offset_ += at_[i] * loop.strides[i];
    }
  }

  /// The next run: at most `most` elements, loop.strides[0] apart, the first at *offset.
  Index next(Index most, Index* offset) {
    *offset = offset_;
    const Index n = std::min(most, loop_.shape[0] - at_[0]);
    at_[0] += n;
    offset_ += n * loop_.strides[0];
    for (std::size_t i = 0; i + 1 < rank() && at_[i] == loop_.shape[i]; ++i) {
      at_[i] = 0;
      ++at_[i + 1];
      offset_ += loop_.strides[i + 1] - loop_.shape[i] * loop_.strides[i];
    }
    return n;
  }

 private:
  std::size_t rank() const { return static_cast<std::size_t>(loop_.rank); }

  const ReduceLoop& loop_;
  std::array<Index, kMaxRank> at_{};
  Index offset_ = 0;
};

/// Sums. Floats: an f64 that lacks only the last rounding. The order is that of the element
/// numbers, whatever the strides: blocks of kSumBlock elements (sum-inl.h), then one block after
/// the other in f64. Integers: i64, wrapping.
template <Element T>
using SumOf = std::conditional_t<Float<T>, f64, i64>;
template <Element T>
using SumFn = ReduceFn<T, SumOf<T>>;
template <Element T>
SumFn<T> sum();

/// The sum of i64 in f64, in the order of an f64 sum: for means, which must not wrap.
ReduceFn<i64, f64> sum_i64_as_f64();

}  // namespace wick::kernels
