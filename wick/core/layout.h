// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "wick/base/checked.h"
#include "wick/base/export.h"

namespace wick {

inline constexpr int kMaxRank = 8;

/// Up to kMaxRank integers held in place: a shape, a set of strides, a list of dims.
class WICK_API Dims {
 public:
  constexpr Dims() = default;
  /// A `shape` Error past kMaxRank values.
  Dims(std::initializer_list<Index> values) : Dims(std::span(values.begin(), values.size())) {}
  explicit Dims(std::span<const Index> values);
  /// `rank` times `value`.
  static Dims filled(int rank, Index value);

  void push_back(Index v);
  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  Index operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  Index& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  const Index* begin() const { return values_.data(); }
  const Index* end() const { return values_.data() + rank_; }
  /// The value counted from the end: last(1) is the last one.
  Index last(int i) const { return (*this)[rank_ - i]; }
  /// Without place i; with v put before place i.
  Dims erased(int i) const;
  Dims inserted(int i, Index v) const;
  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  std::array<Index, kMaxRank> values_{};
  int rank_ = 0;
};

/// "[2, 3]".
WICK_API std::string to_string(const Dims& dims);

/// The number of elements of a shape. A zero wins over any overflow; negative sizes are a `shape`
/// Error, a product that does not fit an `overflow` Error.
WICK_API Index element_count(const Dims& shape, std::string_view op = "shape");

/// An axis in [-rank, rank) as one in [0, rank); else an `index` Error that names `op`.
WICK_API int normalize_axis(Index axis, int rank, std::string_view op);

/// The shape that NumPy's broadcasting gives two shapes, or a `shape` Error that names both.
WICK_API Dims broadcast_shapes(const Dims& a, const Dims& b, std::string_view op);

/// Where a tensor's elements lie in its storage. Strides count elements and may be 0 (one element
/// repeated) or negative (a reversed view). Views never copy; their errors name the view.
struct WICK_API Layout {
  Dims shape;
  Dims strides;
  Index offset = 0;  ///< of the element with all indices zero

  static Layout contiguous(const Dims& shape);  ///< row-major, no gaps

  int rank() const { return shape.rank(); }
  Index size() const;     ///< number of elements
  bool is_empty() const;  ///< some dim has size 0
  /// Row-major without gaps; the strides of size-1 dims do not matter, empty layouts are.
  bool is_contiguous() const;

  Layout transpose(Index a, Index b) const;
  Layout permute(const Dims& order) const;
  /// Elements [start, start + length) of a dim.
  Layout narrow(Index dim, Index start, Index length) const;
  /// Elements start, start + step, ... before `stop` of a dim, as Python's slices with
  /// non-negative bounds. A negative step runs from `start` down to above `stop`.
  Layout slice(Index dim, Index start, Index stop, Index step) const;
  Layout flip(Index dim) const;
  Layout broadcast_to(const Dims& target, std::string_view op = "broadcast_to") const;
  Layout squeeze(Index dim) const;    ///< drops a dim of size 1; other sizes stay as they are
  Layout unsqueeze(Index dim) const;  ///< puts a dim of size 1 before `dim`
  /// Empty if the new shape cannot be seen without a copy. Sizes must agree, else a `shape` Error.
  std::optional<Layout> reshape(const Dims& target) const;

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Lowest and highest element offset that a layout touches; empty for empty layouts.
struct Extent {
  Index low;
  Index high;
};
WICK_API std::optional<Extent> extent(const Layout& layout);

/// Whether two layouts on one storage may share an element. Errs only towards true; exact for
/// disjoint extents, for equal layouts and for equally strided views that lie in separate columns.
WICK_API bool may_overlap(const Layout& a, const Layout& b);

/// Whether two different indices may reach one element (as broadcast views do).
WICK_API bool self_overlaps(const Layout& layout);

/// The three forms in which the chapter walks a single layout.
struct WICK_API StridedBlocks {
  enum class Form { single, uniform, general };
  Form form;      ///< one run; equal runs; every element on its own (block == 1)
  Index block;    ///< elements per contiguous run
  Index count;    ///< number of runs
  Layout starts;  ///< the layout of the runs' first elements

  explicit StridedBlocks(const Layout& layout);
};

}  // namespace wick
