// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "wick/core/layout.h"

namespace wick {

/// A two-dimensional loop over N operands: `m` runs of `n` elements. Along a run operand i advances
/// by inner[i] elements, from run to run by outer[i]. Operand 0 is the output. This is all that an
/// elementwise kernel knows of shapes.
template <std::size_t N>
struct Loop2 {
  Index n = 0;
  Index m = 0;
  std::array<Index, N> inner{};
  std::array<Index, N> outer{};
};

/// Walks N layouts of one shape in step. Neighbouring dims are merged where all operands allow it,
/// size-1 dims vanish, broadcast zeros merge; dims are put in the order of operand 0's strides, so
/// that a transposed output is written in memory order. What is left is yielded as two-dimensional
/// loops. Rank 0 is one element; an empty shape yields nothing.
template <std::size_t N>
class NdIter {
 public:
  using Offsets = std::array<Index, N>;

  explicit NdIter(const std::array<const Layout*, N>& layouts);

  Index size() const { return size_; }  ///< elements in all
  int rank() const { return rank_; }    ///< dims left after merging, at least 1
  /// Elements and strides of merged dim i; 0 is the innermost.
  Index extent(int i) const { return shape_[static_cast<std::size_t>(i)]; }
  const Offsets& strides(int i) const { return strides_[static_cast<std::size_t>(i)]; }

  /// Calls f(offsets, loop) for two-dimensional loops that cover elements [begin, end) in the
  /// iteration's own order. Threads share a walk by taking disjoint ranges. Offsets are elements
  /// from each operand's storage start; only the first is found by division, the rest by carry.
  template <class F>
  void for_each(Index begin, Index end, F&& f) const;

 private:
  int rank_ = 1;
  Index size_ = 1;
  Offsets start_{};
  std::array<Index, kMaxRank> shape_{};  // innermost first
  std::array<Offsets, kMaxRank> strides_{};
};

template <std::size_t N>
NdIter<N>::NdIter(const std::array<const Layout*, N>& layouts) {
  shape_.fill(1);
  const Layout& first = *layouts[0];
  for (std::size_t k = 0; k < N; ++k) start_[k] = layouts[k]->offset;
  // Dims from the innermost outwards, size 1 left out.
  std::array<int, kMaxRank> dims{};
  int count = 0;
  size_ = first.size();
  if (size_ == 0) return;
  for (int i = first.rank() - 1; i >= 0; --i)
    if (first.shape[i] != 1) dims[static_cast<std::size_t>(count++)] = i;
  const auto stride = [&](std::size_t k, int i) { return layouts[k]->strides[i]; };
  const auto magnitude = [&](int i) {
    const Index s = stride(0, i);
    return s < 0 ? -s : s;
  };
  // Insertion sort by the output's strides: at most eight dims, nearly always sorted. Zero strides
  // (an output never has them; a lone input may) keep their place.
  for (int a = 1; a < count; ++a)
    for (int b = a; b > 0; --b) {
      int& inner = dims[static_cast<std::size_t>(b - 1)];
      int& outer = dims[static_cast<std::size_t>(b)];
      if (magnitude(outer) == 0 || magnitude(outer) >= magnitude(inner)) break;
      std::swap(inner, outer);
    }
  rank_ = 0;
  for (int a = 0; a < count; ++a) {
    const int i = dims[static_cast<std::size_t>(a)];
    const Index extent = first.shape[i];
    bool merge = rank_ > 0;
    if (merge) {
      const auto top = static_cast<std::size_t>(rank_ - 1);
      for (std::size_t k = 0; k < N; ++k) merge &= stride(k, i) == strides_[top][k] * shape_[top];
      if (merge) shape_[top] *= extent;
    }
    if (merge) continue;
    const auto top = static_cast<std::size_t>(rank_++);
    shape_[top] = extent;
    for (std::size_t k = 0; k < N; ++k) strides_[top][k] = stride(k, i);
  }
  rank_ = std::max(rank_, 1);
}

template <std::size_t N>
template <class F>
void NdIter<N>::for_each(Index begin, Index end, F&& f) const {
  if (begin >= end) return;
  const auto rank = static_cast<std::size_t>(rank_);
  std::array<Index, kMaxRank> at{};
  Offsets offsets = start_;
  Index rest = begin;
  for (std::size_t i = 0; i < rank && rest > 0; ++i) {
    at[i] = rest % shape_[i];
    rest /= shape_[i];
    for (std::size_t k = 0; k < N; ++k) offsets[k] += at[i] * strides_[i][k];
  }
  Loop2<N> loop;
  loop.inner = strides_[0];
  if (rank > 1) loop.outer = strides_[1];
  Index done = begin;
  while (done < end) {
    const bool whole_rows = at[0] == 0 && end - done >= shape_[0];
    if (whole_rows) {
      const Index rows_left = rank > 1 ? shape_[1] - at[1] : 1;
      loop.n = shape_[0];
      loop.m = std::min(rows_left, (end - done) / shape_[0]);
    } else {
      loop.n = std::min(shape_[0] - at[0], end - done);
      loop.m = 1;
    }
    f(static_cast<const Offsets&>(offsets), static_cast<const Loop2<N>&>(loop));
    done += loop.n * loop.m;
    if (done >= end) return;
    // Advance by loop.n elements of dim 0 or loop.m steps of dim 1, and carry.
    const std::size_t moved = whole_rows ? 1 : 0;
    Index step = whole_rows ? loop.m : loop.n;
    for (std::size_t i = moved; i < rank; ++i) {
      at[i] += step;
      for (std::size_t k = 0; k < N; ++k) offsets[k] += step * strides_[i][k];
      if (at[i] < shape_[i]) break;
      at[i] = 0;
      for (std::size_t k = 0; k < N; ++k) offsets[k] -= shape_[i] * strides_[i][k];
      step = 1;
    }
  }
}

}  // namespace wick
