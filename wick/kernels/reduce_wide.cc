// SPDX-License-Identifier: Apache-2.0
// The dtype is known to one small function only, which makes f64 of it; everything else exists
// once.
#include "wick/kernels/reduce_wide.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/reduce_wide.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "wick/kernels/wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<f64>;
using V = hn::Vec<D>;
constexpr std::size_t kBlock = 512;  // elements
constexpr std::size_t kLanes = 16;   // running values
constexpr std::size_t kCols = 64;    // outputs in step: their rows of a block stay in the cache
constexpr std::size_t kN = hn::MaxLanes(D());

/// n elements as f64: in `buffer`, or, if that is allowed, in place where they are f64 already.
using WidenFn = const f64* (*)(f64* buffer, const void* x, std::size_t n, Index stride,
                               bool in_place);
template <class T>
const f64* WidenAs(f64* buffer, const void* x, std::size_t n, Index stride,
                   [[maybe_unused]] bool in_place) {
  if constexpr (std::is_same_v<T, f64>)
    if (stride == 1 && in_place) return static_cast<const f64*>(x);
  Widen(buffer, static_cast<const T*>(x), n, stride);
  return buffer;
}

/// Where elements come from: x and the loop, in bytes.
struct Source {
  const std::byte* x;
  std::size_t bytes;
  WidenFn widen;
  const ReduceLoop& loop;

  const f64* Get(f64* buffer, Index offset, std::size_t n, Index stride, bool in_place) const {
    return widen(buffer, x + offset * static_cast<Index>(bytes), n, stride, in_place);
  }
};

/// One block of one output: n <= kBlock elements side by side.
struct Line {
  const f64* x;
  std::size_t n;

  static constexpr std::size_t kCols = 1;

  /// f folds the elements into 16 running values; `fold` makes one of those.
  template <class F, class Fold>
  HWY_INLINE void Run(f64* result, f64 init, F f, Fold fold) const {
    const D d;
    constexpr std::size_t kParts = kLanes / kN;
    V acc[kParts];
    for (V& part : acc) part = hn::Set(d, init);
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for (std::size_t p = 0; p < kParts; ++p)
        acc[p] = f(d, acc[p], hn::LoadU(d, x + i + p * kN), std::size_t{0});
    HWY_ALIGN f64 lanes[kLanes];
    if (i < n) {
      HWY_ALIGN f64 rest[kLanes] = {};
      std::copy_n(x + i, n - i, rest);
      for (std::size_t p = 0; p * kN < n - i; ++p) {
        const V with = f(d, acc[p], hn::Load(d, rest + p * kN), std::size_t{0});
        const std::size_t left = n - i - p * kN;
        acc[p] = left < kN ? hn::IfThenElse(hn::FirstN(d, left), with, acc[p]) : with;
      }
    }
    for (std::size_t p = 0; p < kParts; ++p) hn::Store(acc[p], d, lanes + p * kN);
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
      for (std::size_t j = 0; j < half; ++j) lanes[j] = fold(lanes[j], lanes[j + half]);
    *result = lanes[0];
  }
  /// A value of each output, as vectors want it.
  HWY_INLINE static V Of(D d, const f64* per_output, std::size_t) {
    return hn::Set(d, *per_output);
  }
  void First(f64* result) const { *result = *x; }
  f64 Element(std::size_t i, std::size_t) const { return x[i]; }
  std::size_t cols() const { return 1; }
};

/// One block of up to kCols outputs in step: row i of the elements goes to row i mod 16 of the
/// running values.
struct Rows {
  const Source& source;
  Index first_col;
  std::size_t count;
  Index begin;
  std::size_t n;

  static constexpr std::size_t kCols = HWY_NAMESPACE::kCols;

  template <class F, class Fold>
  HWY_INLINE void Run(f64* result, f64 init, F f, Fold fold) const {
    const D d;
    const std::size_t width = (count + kN - 1) / kN * kN;
    HWY_ALIGN f64 acc[kLanes * kCols];
    HWY_ALIGN f64 buffer[kLanes * kCols + kN] = {};
    std::fill_n(acc, kLanes * width, init);
    const ReduceLoop& loop = source.loop;
    const ReduceLoop part = PartFrom(0);  // the cursor refers to it
    ReduceCursor cursor(part);
    // Rows without gaps are one run: many are made f64 at once. What a vector reads beyond its row
    // goes to running values that nobody asks for.
    const bool dense = loop.rank == 1 && loop.col_stride == 1 && loop.cols == loop.strides[0] &&
                       loop.cols == static_cast<Index>(count);
    for (std::size_t i = 0; i < n; i += kLanes) {
      const std::size_t rows = std::min(kLanes, n - i);
      const f64* from = buffer;
      const std::size_t step = dense ? count : width;
      Index offset = 0;
      if (dense)
        from = source.Get(buffer, (begin + static_cast<Index>(i)) * loop.cols, rows * count, 1,
                          count % kN == 0);
      for (std::size_t r = 0; r < rows; ++r) {
        const f64* row = from + r * step;
        if (!dense) {
          cursor.next(1, &offset);
          row = source.Get(buffer + r * step, offset + first_col * loop.col_stride, count,
                           loop.col_stride, count % kN == 0);
        }
        f64* to = acc + r * width;
        for (std::size_t c = 0; c < width; c += kN)
          hn::StoreU(f(d, hn::LoadU(d, to + c), hn::LoadU(d, row + c), c), d, to + c);
      }
    }
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
      for (std::size_t j = 0; j < half * width; ++j) acc[j] = fold(acc[j], acc[j + half * width]);
    std::copy_n(acc, count, result);
  }
  HWY_INLINE static V Of(D d, const f64* per_output, std::size_t c) {
    return hn::LoadU(d, per_output + c);
  }
  /// Element 0 of each output.
  void First(f64* result) const {
    const ReduceLoop part = PartFrom(0);
    Index offset = 0;
    ReduceCursor(part).next(1, &offset);
    (void)source.Get(result, offset + first_col * source.loop.col_stride, count,
                     source.loop.col_stride, false);
  }
  f64 Element(std::size_t i, std::size_t c) const {
    const ReduceLoop part = PartFrom(i);
    Index offset = 0;
    ReduceCursor(part).next(1, &offset);
    f64 value = 0;
    offset += (first_col + static_cast<Index>(c)) * source.loop.col_stride;
    return *source.Get(&value, offset, 1, 1, false);
  }
  std::size_t cols() const { return count; }

 private:
  ReduceLoop PartFrom(std::size_t i) const {
    ReduceLoop part = source.loop;
    part.begin = begin + static_cast<Index>(i);
    return part;
  }
};

constexpr auto kAdd = [](f64 a, f64 b) { return a + b; };

// What is reduced: parts of one block, for a Line or for Rows.

struct MomentsOf {
  using P = Moments;
  static constexpr P kNothing{};
  static P Merge(const P& a, const P& b) { return merge(a, b); }
  template <class B>
  static void Block(P* parts, const B& block) {
    HWY_ALIGN f64 origin[B::kCols] = {}, sum[B::kCols], squares[B::kCols], centre[B::kCols] = {};
    const std::size_t cols = block.cols();
    // Distances from the first element first: 0 where all are equal.
    block.First(origin);
    block.Run(
        sum, 0,
        [&](D d, V acc, V x, std::size_t c)
            HWY_ATTR { return hn::Add(acc, hn::Sub(x, B::Of(d, origin, c))); },
        kAdd);
    const auto n = static_cast<f64>(block.n);
    for (std::size_t c = 0; c < cols; ++c) centre[c] = sum[c] / n;
    block.Run(
        squares, 0,
        [&](D d, V acc, V x, std::size_t c) HWY_ATTR {
          const V off = hn::Sub(hn::Sub(x, B::Of(d, origin, c)), B::Of(d, centre, c));
          return hn::MulAdd(off, off, acc);
        },
        kAdd);
    for (std::size_t c = 0; c < cols; ++c) parts[c] = {n, origin[c] + centre[c], squares[c]};
  }
};

struct AbsSumOf {
  using P = f64;
  static constexpr P kNothing = 0;
  static P Merge(P a, P b) { return a + b; }
  template <class B>
  static void Block(P* parts, const B& block) {
    block.Run(
        parts, 0, [](D, V acc, V x, std::size_t) HWY_ATTR { return hn::Add(acc, hn::Abs(x)); },
        kAdd);
  }
};

struct ProductOf {
  using P = f64;
  static constexpr P kNothing = 1;
  static P Merge(P a, P b) { return a * b; }
  template <class B>
  static void Block(P* parts, const B& block) {
    block.Run(
        parts, 1, [](D, V acc, V x, std::size_t) HWY_ATTR { return hn::Mul(acc, x); },
        [](f64 a, f64 b) { return a * b; });
  }
};

struct SquaresOf {
  using P = Squares;
  static constexpr P kNothing{};
  static P Merge(const P& a, const P& b) { return merge(a, b); }
  template <class B>
  static void Block(P* parts, const B& block) {
    HWY_ALIGN f64 sums[B::kCols];
    block.Run(
        sums, 0, [](D, V acc, V x, std::size_t) HWY_ATTR { return hn::MulAdd(x, x, acc); }, kAdd);
    for (std::size_t c = 0; c < block.cols(); ++c) {
      parts[c] = {0, sums[c], 0};
      if (sums[c] >= 0x1p-900 && sums[c] <= 0x1p960) continue;
      parts[c] = {};  // rare: one by one, by size
      for (std::size_t i = 0; i < block.n; ++i) {
        const f64 x = std::fabs(block.Element(i, c));
        if (x > 0x1p480)
          parts[c].large += (x * 0x1p-600) * (x * 0x1p-600);
        else if (x < 0x1p-480)
          parts[c].small += (x * 0x1p600) * (x * 0x1p600);
        else
          parts[c].middle += x * x;
      }
    }
  }
};

/// kShort: to about 33 bits, for results that are rounded to f32.
template <bool kShort>
struct ExpSumOf {
  using P = ExpSum;
  static constexpr P kNothing{};
  static P Merge(const P& a, const P& b) { return merge(a, b); }
  template <class B>
  static void Block(P* parts, const B& block) {
    HWY_ALIGN f64 top[B::kCols], shift[B::kCols] = {}, sums[B::kCols];
    block.Run(
        top, -std::numeric_limits<f64>::infinity(),
        [](D, V acc, V x, std::size_t)
            HWY_ATTR { return hn::IfThenElse(hn::Or(hn::Gt(x, acc), hn::IsNaN(x)), x, acc); },
        [](f64 a, f64 b) { return b > a || std::isnan(b) ? b : a; });
    for (std::size_t c = 0; c < block.cols(); ++c) shift[c] = std::isinf(top[c]) ? 0 : top[c];
    block.Run(
        sums, 0,
        [&](D d, V acc, V x, std::size_t c)
            HWY_ATTR { return hn::Add(acc, Exp64<kShort>(d, hn::Sub(x, B::Of(d, shift, c)))); },
        kAdd);
    for (std::size_t c = 0; c < block.cols(); ++c) parts[c] = {top[c], sums[c]};
  }
};

template <class Op>
void Along(typename Op::P* out, const Source& source) {
  const ReduceLoop& loop = source.loop;
  HWY_ALIGN f64 buffer[kBlock];
  for (Index c = 0; c < loop.cols; ++c) {
    ReduceCursor cursor(loop);
    out[c] = Op::kNothing;
    for (Index begin = loop.begin; begin < loop.end; begin += Index{kBlock}) {
      const Index n = std::min<Index>(kBlock, loop.end - begin);
      const f64* from = buffer;
      for (Index done = 0; done < n;) {
        Index offset = 0;
        const Index run = cursor.next(n - done, &offset);
        const f64* got = source.Get(buffer + done, offset + c * loop.col_stride,
                                    static_cast<std::size_t>(run), loop.strides[0], run == n);
        if (run == n) from = got;
        done += run;
      }
      typename Op::P part;
      Op::Block(&part, Line{from, static_cast<std::size_t>(n)});
      out[c] = begin == loop.begin ? part : Op::Merge(out[c], part);
    }
  }
}

template <class Op>
void Across(typename Op::P* out, const Source& source) {
  const ReduceLoop& loop = source.loop;
  typename Op::P parts[kCols];
  for (Index c = 0; c < loop.cols; c += Index{kCols}) {
    const Index cols = std::min<Index>(kCols, loop.cols - c);
    std::fill_n(out + c, cols, Op::kNothing);
    for (Index begin = loop.begin; begin < loop.end; begin += Index{kBlock}) {
      Op::Block(parts, Rows{source, c, static_cast<std::size_t>(cols), begin,
                            static_cast<std::size_t>(std::min<Index>(kBlock, loop.end - begin))});
      for (Index i = 0; i < cols; ++i)
        out[c + i] = begin == loop.begin ? parts[i] : Op::Merge(out[c + i], parts[i]);
    }
  }
}

template <class T, class Op>
void Reduce(typename Op::P* out, const T* x, const ReduceLoop& loop) {
  const Source source{reinterpret_cast<const std::byte*>(x), sizeof(T), &WidenAs<T>, loop};
  if (loop.cols < 8 || one_by_one(loop)) return Along<Op>(out, source);
  Across<Op>(out, source);
}

template <class T>
WideKernels<T> Kernels() {
  if constexpr (Int<T>) {
    return {&Reduce<T, MomentsOf>, &Reduce<T, AbsSumOf>, &Reduce<T, SquaresOf>, nullptr, nullptr};
  } else {
    return {&Reduce<T, MomentsOf>, &Reduce<T, AbsSumOf>, &Reduce<T, SquaresOf>,
            &Reduce<T, ProductOf>, &Reduce<T, ExpSumOf<!std::is_same_v<T, f64>>>};
  }
}
// HWY_EXPORT wants plain functions.
#define WICK_KERNELS(T) \
  WideKernels<T> Kernels_##T() { return Kernels<T>(); }
WICK_FOR_ELEMENTS(WICK_KERNELS)
#undef WICK_KERNELS

/// 1 where x is not 0; a sign alone does not count.
template <class T>
HWY_INLINE u8 IsTrue(T x) {
  using U = std::conditional_t<
      sizeof(T) == 1, std::uint8_t,
      std::conditional_t<sizeof(T) == 2, std::uint16_t,
                         std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
  constexpr U kMask = static_cast<U>(Float<T> ? static_cast<U>(~U{0}) >> 1 : ~U{0});
  return (std::bit_cast<U>(x) & kMask) != 0 ? 1 : 0;
}

// Plain loops, which compilers make vector code of.
template <class T>
HWY_INLINE void TruthOfRun(Truth& truth, const T* HWY_RESTRICT x, Index n, Index stride) {
  u8 any = 0, all = 1;
  for (Index i = 0; i < n; ++i) {
    const u8 yes = IsTrue(x[i * stride]);
    any = static_cast<u8>(any | yes);
    all = static_cast<u8>(all & yes);
  }
  truth = merge(truth, {any, all});
}
template <class T>
HWY_INLINE void TruthOfRow(u8* HWY_RESTRICT any, u8* HWY_RESTRICT all, const T* HWY_RESTRICT x,
                           Index n, Index stride) {
  for (Index c = 0; c < n; ++c) {
    const u8 yes = IsTrue(x[c * stride]);
    any[c] = static_cast<u8>(any[c] | yes);
    all[c] = static_cast<u8>(all[c] & yes);
  }
}

template <class T>
void TruthOf(Truth* out, const T* x, const ReduceLoop& loop) {
  if (one_by_one(loop)) {
    for (Index c = 0; c < loop.cols; ++c) {
      ReduceCursor cursor(loop);
      out[c] = {};
      for (Index at = loop.begin; at < loop.end;) {
        Index offset = 0;
        const Index run = cursor.next(loop.end - at, &offset);
        const T* from = x + c * loop.col_stride + offset;
        if (loop.strides[0] == 1)
          TruthOfRun(out[c], from, run, 1);
        else
          TruthOfRun(out[c], from, run, loop.strides[0]);
        at += run;
      }
    }
    return;
  }
  u8 any[kReduceCols] = {}, all[kReduceCols];
  std::fill_n(all, kReduceCols, u8{1});
  ReduceCursor cursor(loop);
  for (Index at = loop.begin; at < loop.end; ++at) {
    Index offset = 0;
    cursor.next(1, &offset);
    if (loop.col_stride == 1)
      TruthOfRow(any, all, x + offset, loop.cols, 1);
    else
      TruthOfRow(any, all, x + offset, loop.cols, loop.col_stride);
  }
  for (Index c = 0; c < loop.cols; ++c) out[c] = {any[c], all[c]};
}
#define WICK_TRUTH(T) \
  ReduceFn<T, Truth> Truth_##T() { return &TruthOf<T>; }
WICK_FOR_ELEMENTS(WICK_TRUTH)
#undef WICK_TRUTH

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

#define WICK_EXPORT(T)                          \
  HWY_EXPORT(Kernels_##T);                      \
  HWY_EXPORT(Truth_##T);                        \
  template <>                                   \
  WideKernels<T> wide_kernels<T>() {            \
    return HWY_DYNAMIC_DISPATCH(Kernels_##T)(); \
  }                                             \
  template <>                                   \
  ReduceFn<T, Truth> truth<T>() {               \
    return HWY_DYNAMIC_DISPATCH(Truth_##T)();   \
  }
WICK_FOR_ELEMENTS(WICK_EXPORT)
#undef WICK_EXPORT

namespace {

/// Any order gives the same.
template <class T>
void int_product_of(i64* out, const T* x, const ReduceLoop& loop) {
  std::uint64_t products[kReduceCols];
  std::fill_n(products, loop.cols, std::uint64_t{1});
  ReduceCursor cursor(loop);
  for (Index at = loop.begin; at < loop.end;) {
    Index offset = 0;
    const Index run = cursor.next(loop.cols == 1 ? loop.end - at : 1, &offset);
    const T* row = x + offset;
    if (loop.cols == 1) {
      for (Index i = 0; i < run; ++i)
        products[0] *= static_cast<std::uint64_t>(row[i * loop.strides[0]]);
    } else {
      for (Index c = 0; c < loop.cols; ++c)
        products[c] *= static_cast<std::uint64_t>(row[c * loop.col_stride]);
    }
    at += run;
  }
  for (Index c = 0; c < loop.cols; ++c) out[c] = static_cast<i64>(products[c]);
}

}  // namespace

template <Int T>
ReduceFn<T, i64> int_product() {
  return &int_product_of<T>;
}
#define WICK_PRODUCT(T) template ReduceFn<T, i64> int_product<T>();
WICK_FOR_INTS(WICK_PRODUCT)
#undef WICK_PRODUCT

}  // namespace wick::kernels
#endif
