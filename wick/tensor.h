// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wick/core/convert.h"
#include "wick/core/layout.h"
#include "wick/core/op_table.h"
#include "wick/core/storage.h"

namespace wick {

/// A number of the host language. It takes the dtype of the tensor it meets; where that is an
/// integer type that cannot hold it exactly, the op computes in f64 and casts the result.
class Scalar {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Scalar(T value)  // NOLINT(google-explicit-constructor): numbers are scalars
      : float_(static_cast<f64>(value)) {
    if constexpr (std::is_integral_v<T>) {
      // Larger ones are taken as an f64.
      is_int_ = std::is_signed_v<T> || static_cast<std::uint64_t>(value) <= INT64_MAX;
      if (is_int_) int_ = static_cast<i64>(value);
    }
  }

  constexpr f64 to_f64() const { return float_; }
  constexpr bool is_int() const { return is_int_; }
  /// The value as an element, by the rules of convert().
  template <Element T>
  T to() const {
    return is_int_ ? convert<T>(int_) : convert<T>(float_);
  }
  /// True where to_f64() is not the value: an integer beyond 2^53.
  constexpr bool beyond_f64() const {
    return is_int_ && (!(float_ < 9223372036854775808.0) || static_cast<i64>(float_) != int_);
  }
  /// Whether to<T>() loses nothing that matters: always for floats, exact values for integers.
  template <Element T>
  bool fits() const {
    if constexpr (Float<T>) return true;
    if (!is_int_ && (!(std::fabs(float_) < 9.2e18) || std::trunc(float_) != float_)) return false;
    const i64 value = is_int_ ? int_ : static_cast<i64>(float_);
    return convert<i64>(convert<T>(value)) == value;
  }

 private:
  f64 float_;
  i64 int_ = 0;
  bool is_int_ = false;
};

/// What pad() puts around a tensor: one value, the elements mirrored at the edge (which is not
/// repeated), or the edge itself.
enum class PadMode : std::uint8_t { constant, reflect, replicate };

/// Elements start, start + step, ... before stop of one dim; see Layout::slice. A `stop` left out
/// means all the way in the direction of the step.
struct Slice {
  static constexpr Index kAll = INT64_MAX;
  Index start = 0;
  Index stop = kAll;
  Index step = 1;
};

struct TopK;

/// An n-dimensional array: a storage seen through a layout. A small value; copying it shares the
/// storage, and views alias it, as in NumPy. Ops return new tensors and leave their inputs alone;
/// their `_into` forms write through an existing tensor. Axes may be negative. Safe to read from
/// many threads at once.
class WICK_API Tensor {
 public:
  Tensor() noexcept : layout_(nothing()) {}
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  /// Leaves an empty f32 tensor behind.
  Tensor(Tensor&& other) noexcept
      : storage_(std::exchange(other.storage_, Storage(Buffer<f32>()))),
        layout_(std::exchange(other.layout_, nothing())) {}
  Tensor& operator=(Tensor&& other) noexcept {
    storage_ = std::exchange(other.storage_, Storage(Buffer<f32>()));
    layout_ = std::exchange(other.layout_, nothing());
    return *this;
  }
  ~Tensor() = default;
  /// A `shape` Error if the layout reaches outside the storage.
  Tensor(Storage storage, Layout layout);

  // --- Making ---
  /// Uninitialised elements.
  static Tensor empty(const Dims& shape, DType dtype = DType::f32);
  static Tensor zeros(const Dims& shape, DType dtype = DType::f32);
  static Tensor ones(const Dims& shape, DType dtype = DType::f32);
  static Tensor full(const Dims& shape, Scalar value, DType dtype = DType::f32);
  /// start, start + step, ... below stop: ceil((stop - start) / step) values, each start + i *
  /// step.
  static Tensor arange(Scalar start, Scalar stop, Scalar step = 1, DType dtype = DType::f32);
  /// `count` values from start to stop, both included, evenly spaced: ((count - 1 - i) start + i
  /// stop) / (count - 1), computed in f64. Of one value: start.
  static Tensor linspace(Scalar start, Scalar stop, Index count, DType dtype = DType::f32);
  /// Ones where row and column are equal, zeros elsewhere.
  static Tensor eye(Index rows, Index columns, DType dtype = DType::f32);
  static Tensor eye(Index n, DType dtype = DType::f32) { return eye(n, n, dtype); }
  /// A copy of `values`, row-major. A `shape` Error if the count differs from the shape's.
  template <Element T>
  static Tensor from_span(std::span<const T> values, const Dims& shape);
  template <Element T>
  static Tensor from_vector(const std::vector<T>& values, const Dims& shape) {
    return from_span(std::span<const T>(values), shape);
  }
  /// A rank 0 tensor.
  static Tensor scalar(Scalar value, DType dtype = DType::f32);
  /// Foreign memory seen without a copy (copied if it is not aligned for its dtype). `owner` is
  /// kept as long as a tensor sees it. The layout must stay within [data, data + bytes).
  static Tensor from_foreign(void* data, Index bytes, DType dtype, const Layout& layout,
                             std::shared_ptr<const void> owner, bool read_only = false);
  /// Samples of the standard normal / of the uniform distribution on [0, 1), from the thread's
  /// current generator (see set_seed). The numbers do not depend on the thread count.
  static Tensor randn(const Dims& shape, DType dtype = DType::f32);
  static Tensor rand(const Dims& shape, DType dtype = DType::f32);

  // --- Asking ---
  const Dims& shape() const { return layout_.shape; }
  Index size(Index dim) const { return shape()[normalize_axis(dim, rank(), "size")]; }
  int rank() const { return layout_.rank(); }
  Index element_count() const { return layout_.size(); }
  DType dtype() const { return wick::dtype(storage_); }
  const Layout& layout() const { return layout_; }
  const Storage& storage() const { return storage_; }
  bool is_contiguous() const { return layout_.is_contiguous(); }
  bool is_read_only() const { return view(storage_).read_only; }
  /// Address of the element with all indices zero. T must be the tensor's dtype.
  template <class T>
  T* data() const;

  /// The only element, converted to T. A `shape` Error unless there is exactly one.
  template <Element T>
  T item() const;
  /// All elements in row-major order, converted to T.
  template <Element T>
  std::vector<T> to_vector() const;
  /// As NumPy prints arrays, shortened when large.
  std::string to_string() const;

  // --- Views: the same storage, no copy ---
  Tensor transpose(Index a, Index b) const { return seen(layout_.transpose(a, b)); }
  Tensor t() const { return transpose(-2, -1); }  ///< the last two dims swapped
  Tensor permute(const Dims& order) const { return seen(layout_.permute(order)); }
  Tensor narrow(Index dim, Index start, Index length) const {
    return seen(layout_.narrow(dim, start, length));
  }
  /// Elements start, start + step, ... before stop; see Layout::slice.
  Tensor slice(Index dim, Index start, Index stop, Index step = 1) const {
    return seen(layout_.slice(dim, start, stop, step));
  }
  Tensor flip(Index dim) const { return seen(layout_.flip(dim)); }
  Tensor flip(const Dims& dims) const;
  Tensor broadcast_as(const Dims& shape) const {
    return seen(layout_.broadcast_to(shape, "broadcast_as"));
  }
  Tensor squeeze(Index dim) const { return seen(layout_.squeeze(dim)); }
  Tensor unsqueeze(Index dim) const { return seen(layout_.unsqueeze(dim)); }
  /// One index of a dim, which vanishes.
  Tensor select(Index dim, Index index) const;
  /// A view where the strides allow it, else a copy. One size may be -1: it is worked out.
  Tensor reshape(const Dims& shape) const;
  /// Dims [first, last] as one.
  Tensor flatten(Index first = 0, Index last = -1) const;
  /// Pieces of `size` entries of a dim, side by side; the last one has what is left.
  std::vector<Tensor> split(Index size, Index dim = 0) const;
  /// Pieces of these sizes, whose sum is that of the dim.
  std::vector<Tensor> split_with_sizes(const std::vector<Index>& sizes, Index dim = 0) const;
  /// At most `count` pieces of ceil(size / count) entries, as PyTorch's chunk.
  std::vector<Tensor> chunk(Index count, Index dim = 0) const;

  // --- Copies and casts ---
  /// This tensor if it is row-major without gaps, else a copy that is.
  Tensor contiguous() const;
  Tensor copy() const;
  /// By the rules of convert(). This tensor itself if it has that dtype already.
  Tensor to_dtype(DType dtype) const;

  // --- Elementwise: core/ops.inc ---
#define WICK_UNARY(name, ...) \
  Tensor name() const&;       \
  Tensor name()&&; /* writes in place if nobody else sees the elements */
#define WICK_PARAM(...)
#define WICK_BINARY(name, ...)                                           \
  Tensor name(const Tensor& rhs) const;                                  \
  Tensor broadcast_##name(const Tensor& rhs) const { return name(rhs); } \
  Tensor name(Scalar rhs) const;
#define WICK_COMPARE(name, ...)         \
  Tensor name(const Tensor& rhs) const; \
  Tensor name(Scalar rhs) const;
#include "wick/core/ops.inc"
  Tensor affine(f64 mul, f64 add) const;
  Tensor clamp(Scalar low, Scalar high) const;
  Tensor elu(f64 alpha = 1.0) const;
  Tensor powf(f64 exponent) const;
  /// Where this (u8, u32 or i64) is not 0: on_true, else on_false. All three broadcast.
  Tensor where_cond(const Tensor& on_true, const Tensor& on_false) const;

  Tensor isnan() const;        ///< u8: 1 where NaN
  Tensor isinf() const;        ///< u8: 1 where infinite
  Tensor isfinite() const;     ///< u8: 1 where neither
  Tensor logical_not() const;  ///< u8: 1 where 0

  // --- Reductions over a set of dims; `keepdim` leaves them with size 1 ---
  // Sums and products of integers are i64 and wrap; their means, variances and norms are f64. Half
  // types add up in f32. NaN wins in max, min, argmax, argmin. arg* give the first index, as u32;
  // without an axis, that in row-major order of all elements.
  Tensor sum() const;
  Tensor sum(const Dims& dims, bool keepdim = false) const;
  Tensor sum(Index dim, bool keepdim = false) const { return sum(Dims{dim}, keepdim); }
  Tensor mean() const;
  Tensor mean(const Dims& dims, bool keepdim = false) const;
  Tensor mean(Index dim, bool keepdim = false) const { return mean(Dims{dim}, keepdim); }
  Tensor max() const;
  Tensor max(const Dims& dims, bool keepdim = false) const;
  Tensor max(Index dim, bool keepdim = false) const { return max(Dims{dim}, keepdim); }
  Tensor min() const;
  Tensor min(const Dims& dims, bool keepdim = false) const;
  Tensor min(Index dim, bool keepdim = false) const { return min(Dims{dim}, keepdim); }
  Tensor argmax() const;
  Tensor argmax(Index dim, bool keepdim = false) const;
  Tensor argmin() const;
  Tensor argmin(Index dim, bool keepdim = false) const;
  Tensor prod() const;
  Tensor prod(const Dims& dims, bool keepdim = false) const;
  Tensor prod(Index dim, bool keepdim = false) const { return prod(Dims{dim}, keepdim); }
  /// The sum of (x - mean)^2 over max(n - correction, 0), in two passes: never negative, and 0
  /// where all are equal. NaN where nothing is left to divide by. correction must be finite and >=
  /// 0.
  Tensor var() const;
  Tensor var(const Dims& dims, bool keepdim = false, f64 correction = 1) const;
  Tensor var(Index dim, bool keepdim = false, f64 correction = 1) const {
    return var(Dims{dim}, keepdim, correction);
  }
  Tensor std() const;  ///< sqrt(var)
  Tensor std(const Dims& dims, bool keepdim = false, f64 correction = 1) const;
  Tensor std(Index dim, bool keepdim = false, f64 correction = 1) const {
    return std(Dims{dim}, keepdim, correction);
  }
  /// The p-norm: p = 1 (sum |x|), 2 (sqrt(sum x^2)) or infinity (max |x|). Scaled: it overflows or
  /// vanishes only where the result does. 0 for no elements.
  Tensor norm(f64 p = 2) const;
  Tensor norm(f64 p, const Dims& dims, bool keepdim = false) const;
  Tensor norm(f64 p, Index dim, bool keepdim = false) const { return norm(p, Dims{dim}, keepdim); }
  /// log(sum(e^x)), by way of the maximum. Floats only; -inf for no elements.
  Tensor logsumexp(const Dims& dims, bool keepdim = false) const;
  Tensor logsumexp(Index dim, bool keepdim = false) const { return logsumexp(Dims{dim}, keepdim); }
  /// u8: whether any element, or all elements, are not 0 (NaN is not 0). No elements: 0, or 1.
  Tensor any() const;
  Tensor any(const Dims& dims, bool keepdim = false) const;
  Tensor any(Index dim, bool keepdim = false) const { return any(Dims{dim}, keepdim); }
  Tensor all() const;
  Tensor all(const Dims& dims, bool keepdim = false) const;
  Tensor all(Index dim, bool keepdim = false) const { return all(Dims{dim}, keepdim); }
  /// The sums of all elements up to each one along a dim. Integers give i64, which wraps; the small
  /// floats are added up in f32, f32 and f64 in f64.
  Tensor cumsum(Index dim) const;

  // --- Products ---
  /// [.., m, k] x [.., k, n] -> [.., m, n]; batch dims broadcast. Vectors: see mv and dot.
  Tensor matmul(const Tensor& rhs) const;
  Tensor broadcast_matmul(const Tensor& rhs) const { return matmul(rhs); }
  Tensor mv(const Tensor& rhs) const;   ///< [m, k] x [k] -> [m]
  Tensor dot(const Tensor& rhs) const;  ///< [k] x [k] -> []

  // --- Convolutions, pools, resizing: wick/conv.h has all options and the _into forms ---
  /// This [n, c, l] with a kernel [o, c / groups, k] -> [n, o, l'].
  Tensor conv1d(const Tensor& kernel, Index stride = 1, Index padding = 0, Index dilation = 1,
                Index groups = 1) const;
  /// This [n, c, h, w] with a kernel [o, c / groups, kh, kw] -> [n, o, h', w'].
  Tensor conv2d(const Tensor& kernel, Index stride = 1, Index padding = 0, Index dilation = 1,
                Index groups = 1) const;
  /// This [n, c, l] with a kernel [c, o / groups, k] -> [n, o, l'].
  Tensor conv_transpose1d(const Tensor& kernel, Index stride = 1, Index padding = 0,
                          Index output_padding = 0, Index groups = 1, Index dilation = 1) const;
  /// This [n, c, h, w] with a kernel [c, o / groups, kh, kw] -> [n, o, h', w'].
  Tensor conv_transpose2d(const Tensor& kernel, Index stride = 1, Index padding = 0,
                          Index output_padding = 0, Index groups = 1, Index dilation = 1) const;
  /// Windows of [n, c, h, w]; a stride of 0 is the kernel's size.
  Tensor avg_pool2d(Index kernel, Index stride = 0, Index padding = 0,
                    bool ceil_mode = false) const;
  Tensor max_pool2d(Index kernel, Index stride = 0, Index padding = 0, Index dilation = 1,
                    bool ceil_mode = false) const;
  Tensor upsample_nearest1d(Index length) const;
  Tensor upsample_nearest2d(Index height, Index width) const;
  Tensor upsample_bilinear2d(Index height, Index width, bool align_corners = false) const;

  // --- Building: copies arranged in another way ---
  /// The tensor repeats[i] times along dim i, end to end. More repeats than dims add leading dims.
  Tensor repeat(const Dims& repeats) const;
  /// repeat(), where missing repeats of leading dims are 1, as NumPy's tile.
  Tensor tile(const Dims& repeats) const;
  /// before[i] and after[i] >= 0 more elements at the ends of dim i, one of each for every dim.
  /// reflect needs fewer than the dim has, replicate at least one to repeat.
  Tensor pad(const Dims& before, const Dims& after, PadMode mode = PadMode::constant,
             Scalar value = 0) const;
  Tensor pad(Index dim, Index before, Index after, PadMode mode = PadMode::constant,
             Scalar value = 0) const;
  /// Element i moves to i + shift along a dim; what leaves at one end comes in at the other.
  Tensor roll(Index shift, Index dim) const { return roll(Dims{shift}, Dims{dim}); }
  Tensor roll(const Dims& shifts, const Dims& dims) const;
  /// Of each matrix of the last two dims the elements with column - row <= diagonal (tril) or >=
  /// diagonal (triu); zeros elsewhere.
  Tensor tril(Index diagonal = 0) const;
  Tensor triu(Index diagonal = 0) const;
  /// [..] of u8, u32 or i64 -> [.., classes]: `on` at the class that an element names, else `off`.
  Tensor one_hot(Index classes, DType dtype = DType::f32, Scalar on = 1, Scalar off = 0) const;

  // --- Indexing: ids are u8, u32 or i64. One that is negative or too large is an `index` Error
  // that names it and its place, and nothing is written ---
  /// The entries ids[0], ids[1], ... along a dim; ids is of rank 1.
  Tensor index_select(Index dim, const Tensor& ids) const;
  /// y[i, j, k] = x[i, ids[i, j, k], k] for dim 1. ids has the rank of x and is no larger but along
  /// `dim`; y has its shape.
  Tensor gather(Index dim, const Tensor& ids) const;
  /// A copy with y[i, ids[i, j, k], k] = src[i, j, k] for dim 1, over the shape of ids, which is
  /// nowhere larger than src nor, but along `dim`, than x. Of several writes to one element the
  /// last in the order of the index along `dim` wins.
  Tensor scatter(Index dim, const Tensor& ids, const Tensor& src) const;
  /// scatter() that adds, in the order of the index along `dim`. Integers wrap; the small floats
  /// add up in f32 and are rounded once.
  Tensor scatter_add(Index dim, const Tensor& ids, const Tensor& src) const;
  /// A copy with entry j of src added to entry ids[j] along a dim, as scatter_add() adds. ids is of
  /// rank 1; src has the shape of x, but along `dim` as many entries as ids.
  Tensor index_add(Index dim, const Tensor& ids, const Tensor& src) const;
  /// A copy whose elements in these slices (one for each leading dim) are those of src, which
  /// broadcasts. In place: copy_into(x.slice(..), src).
  Tensor slice_assign(const std::vector<Slice>& slices, const Tensor& src) const;
  /// A copy with `value` where the mask, which broadcasts to x, is not 0.
  Tensor masked_fill(const Tensor& mask, Scalar value) const;

  // --- Sorting along a dim: stable; NaN is greater than any number, -0 equals 0 ---
  Tensor sort(Index dim = -1, bool descending = false) const;
  /// The indices, as u32, that sort() would take the elements from.
  Tensor argsort(Index dim = -1, bool descending = false) const;
  /// The first k elements of sort(dim, largest) and of argsort(dim, largest).
  TopK topk(Index k, Index dim = -1, bool largest = true) const;

 private:
  friend struct TensorAccess;
  struct Unchecked {};
  Tensor(Storage storage, const Layout& layout, Unchecked) noexcept
      : storage_(std::move(storage)), layout_(layout) {}
  Tensor seen(const Layout& layout) const { return {storage_, layout, Unchecked{}}; }

  static Layout nothing() { return {Dims{0}, Dims{1}, 0}; }

  Storage storage_{Buffer<f32>()};
  Layout layout_;
};

/// The result of topk(): k elements of each line, best first, and where they were (u32).
struct TopK {
  Tensor values;
  Tensor indices;
};

/// For ops inside the library: a tensor whose layout is known to fit.
struct TensorAccess {
  static Tensor make(Storage storage, const Layout& layout) noexcept {
    return {std::move(storage), layout, Tensor::Unchecked{}};
  }
};

// The `_into` forms write through `out`: any strided view of the right shape and dtype that is not
// read-only and does not overlap itself. It may be an input itself; an overlap in part is an
// `overlap` Error. An op that fails on its arguments has written nothing. Those of indexing,
// building and sorting are in arrange.h.
#define WICK_UNARY(name, ...) WICK_API void name##_into(const Tensor& out, const Tensor& x);
#define WICK_BINARY(name, ...)                                                    \
  WICK_API void name##_into(const Tensor& out, const Tensor& a, const Tensor& b); \
  WICK_API void name##_into(const Tensor& out, const Tensor& a, Scalar b);        \
  WICK_API void name##_into(const Tensor& out, Scalar a, const Tensor& b);        \
  WICK_API Tensor name(Scalar a, const Tensor& b); /* the number on the left */
#define WICK_COMPARE(name, ...)                                                   \
  WICK_API void name##_into(const Tensor& out, const Tensor& a, const Tensor& b); \
  WICK_API void name##_into(const Tensor& out, const Tensor& a, Scalar b);
#include "wick/core/ops.inc"
WICK_API void affine_into(const Tensor& out, const Tensor& x, f64 mul, f64 add);
WICK_API void clamp_into(const Tensor& out, const Tensor& x, Scalar low, Scalar high);
WICK_API void elu_into(const Tensor& out, const Tensor& x, f64 alpha);
WICK_API void powf_into(const Tensor& out, const Tensor& x, f64 exponent);
WICK_API void isnan_into(const Tensor& out, const Tensor& x);
WICK_API void isinf_into(const Tensor& out, const Tensor& x);
WICK_API void isfinite_into(const Tensor& out, const Tensor& x);
WICK_API void logical_not_into(const Tensor& out, const Tensor& x);
WICK_API void where_into(const Tensor& out, const Tensor& condition, const Tensor& on_true,
                         const Tensor& on_false);
/// Copies x, converting it to out's dtype; x broadcasts to out.
WICK_API void copy_into(const Tensor& out, const Tensor& x);
/// Every element of out becomes `value`.
WICK_API void fill_into(const Tensor& out, Scalar value);
WICK_API void sum_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim = false);
WICK_API void mean_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim = false);
WICK_API void max_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim = false);
WICK_API void min_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim = false);
WICK_API void argmax_into(const Tensor& out, const Tensor& x, Index dim, bool keepdim = false);
WICK_API void argmin_into(const Tensor& out, const Tensor& x, Index dim, bool keepdim = false);
WICK_API void prod_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim = false);
WICK_API void var_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim = false,
                       f64 correction = 1);
WICK_API void std_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim = false,
                       f64 correction = 1);
WICK_API void norm_into(const Tensor& out, const Tensor& x, f64 p, const Dims& dims,
                        bool keepdim = false);
WICK_API void logsumexp_into(const Tensor& out, const Tensor& x, const Dims& dims,
                             bool keepdim = false);
WICK_API void any_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim = false);
WICK_API void all_into(const Tensor& out, const Tensor& x, const Dims& dims, bool keepdim = false);
WICK_API void cumsum_into(const Tensor& out, const Tensor& x, Index dim);
/// out = alpha a b + beta out. With beta 0 the old out is not read. The output has the
/// inputs' dtype, or f32 for the small floats, or bf16 or f16 for f32.
WICK_API void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b, f64 alpha = 1,
                          f64 beta = 0);

/// The seed of the current generator; the next random op starts its sequence anew.
WICK_API void set_seed(std::uint64_t seed);
WICK_API std::uint64_t get_seed();

inline Tensor operator+(const Tensor& a, const Tensor& b) { return a.add(b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return a.sub(b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return a.mul(b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return a.div(b); }
inline Tensor operator+(const Tensor& a, Scalar b) { return a.add(b); }
inline Tensor operator-(const Tensor& a, Scalar b) { return a.sub(b); }
inline Tensor operator*(const Tensor& a, Scalar b) { return a.mul(b); }
inline Tensor operator/(const Tensor& a, Scalar b) { return a.div(b); }
inline Tensor operator+(Scalar a, const Tensor& b) { return b.add(a); }
inline Tensor operator*(Scalar a, const Tensor& b) { return b.mul(a); }
inline Tensor operator-(Scalar a, const Tensor& b) { return sub(a, b); }
inline Tensor operator/(Scalar a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& x) { return x.neg(); }
WICK_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

template <class T>
T* Tensor::data() const {
  const auto* buffer = std::get_if<Buffer<T>>(&storage_);
  if (buffer == nullptr)
    throw Error(ErrorKind::dtype, "data",
                str("wanted ", name(dtype_of<T>), ", got ", name(dtype())));
  if constexpr (Raw<T>) {
    // A T is a byte here, which may hold a part of an element.
    const Index bit = layout_.offset * bits(dtype_of<T>);
    if (bit % 8 != 0)
      throw Error(ErrorKind::argument, "data",
                  str("wanted a view that starts on a byte, got one that starts at element ",
                      layout_.offset, " of ", name(dtype())));
    return buffer->data() + bit / 8;
  } else {
    return buffer->data() + layout_.offset;
  }
}

template <Element T>
Tensor Tensor::from_span(std::span<const T> values, const Dims& shape) {
  const Index n = wick::element_count(shape, "from_span");
  if (n != static_cast<Index>(values.size()))
    throw Error(
        ErrorKind::shape, "from_span",
        str("wanted ", n, " values for shape ", wick::to_string(shape), ", got ", values.size()));
  Buffer<T> buffer(n, "from_span");
  if (n > 0) std::memcpy(static_cast<void*>(buffer.data()), values.data(), values.size_bytes());
  return {Storage(std::move(buffer)), Layout::contiguous(shape), Unchecked{}};
}

template <Element T>
std::vector<T> Tensor::to_vector() const {
  const Tensor x = to_dtype(dtype_of<T>).contiguous();
  const T* first = x.data<T>();
  return x.element_count() == 0 ? std::vector<T>()
                                : std::vector<T>(first, first + x.element_count());
}

template <Element T>
T Tensor::item() const {
  if (element_count() != 1)
    throw Error(ErrorKind::shape, "item",
                str("wanted one element, got shape ", wick::to_string(shape())));
  return *to_dtype(dtype_of<T>).template data<T>();
}

}  // namespace wick
