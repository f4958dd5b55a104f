// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "wick/core/dtype.h"
#include "wick/core/nd_iter.h"

namespace wick::kernels {

// What one thread does for a matrix product: pack parts of A and B, multiply a block, write
// results. The loops around it (caches, threads, batches) are in wick/ops/gemm*.cc. Every element
// of C is the same sequence of operations whatever the tile, the packing or the instruction set is:
// one fused multiply-add after the other from 0, in order of k. (Without FMA, on SSE2, each is two
// roundings.)

namespace detail {
template <class T>
struct GemmAcc {
  using Type = f32;
};
template <Int T>
struct GemmAcc<T> {
  using Type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
};
template <>
struct GemmAcc<f64> {
  using Type = f64;
};
}  // namespace detail

/// What products of T are added in: f32 for f32 and the small floats, f64 for f64; unsigned
/// integers of 32 or 64 bits for the integers, whose low bits are those of the wrapping product.
template <Element T>
using GemmAcc = typename detail::GemmAcc<T>::Type;

/// Splits m rows into the fewest strips of at most `most` rows, of heights that differ by at most 1
/// (the taller first): a last strip of one or two rows would wait for FMA latency.
/// With a unit of more than one row only the last strip is shorter.
struct GemmStrips {
  Index count, base, taller, last;
  GemmStrips(Index m, Index most, Index unit = 1)
      : count(ceil_div(m, most)), base(count == 0 ? 0 : m / count), taller(m - base * count) {
    last = base;
    if (unit == 1 || count == 0) return;
    base = most;
    taller = 0;
    last = m - (count - 1) * most;
  }
  Index height(Index strip) const {
    return strip + 1 == count ? last : base + (strip < taller ? 1 : 0);
  }
};

/// Turns sums into results, element by element and in this order:
///   v = alpha * sum                  alpha == 1: the sum as it is
///   v = fma(beta, out, v)            beta == 0: `out` is not read
///   v = activate(v + bias)           either may be missing
///   v = v * scale + residual         two roundings; either may be missing
///   out = v                          rounded once to the type of `out`
/// These are the operations that the ops matmul, add, the activation, mul and add would do one
/// after the other, so in f32 and f64 the bits are theirs. Integers know alpha and beta only.
template <class Acc>
struct GemmFinish {
  Acc alpha, beta;
  void* out;
  Index row, col;   ///< strides of `out`
  Index out_bytes;  ///< size of an element of `out`
  const Acc* bias;  ///< null: none
  Index bias_row, bias_col;
  /// y = f(x), one of kernels::unary; null: none.
  void (*activate)(Acc* y, const Acc* x, const Loop2<2>& loop);
  Acc scale;
  const void* residual;  ///< of out's type; null: none
  Index residual_row, residual_col;
  /// Does it for the tile of m x n sums (rows `tile_row` apart) that begins at row i and column j
  /// of `out`; the tile is overwritten.
  void (*apply)(const GemmFinish& self, Acc* tile, Index tile_row, Index i, Index j, Index m,
                Index n);

  /// The same for what begins at row i and column j.
  GemmFinish at(Index i, Index j) const {
    GemmFinish f = *this;
    f.out = static_cast<char*>(out) + (i * row + j * col) * out_bytes;
    if (bias != nullptr) f.bias = bias + i * bias_row + j * bias_col;
    if (residual != nullptr)
      f.residual =
          static_cast<const char*>(residual) + (i * residual_row + j * residual_col) * out_bytes;
    return f;
  }
};

/// Memory that will be read soon: `pieces` pieces of `bytes` bytes, `step` bytes apart. The tiles
/// of a block ask for it bit by bit, so that it comes while they multiply.
struct GemmAhead {
  const std::byte* data = nullptr;
  Index pieces = 0, bytes = 0, step = 0;
};

/// How A lies before the block kernel.
enum class GemmForm : std::uint8_t {
  strides,  ///< in place; a_row or a_col is 1
  panels,   ///< strips, in each element [p][row]; the one at row i starts at a + i * k
  rows      ///< element [row][p], rows kGemmRow apart
};

/// Between rows of A in the form `rows`, in elements: room for a chunk of k, and an odd number of
/// cache lines, so that the rows of a strip spread over all sets of L1.
template <class Acc>
inline constexpr Index kGemmRow = std::is_same_v<Acc, f64> ? 264
                                  : sizeof(Acc) == 8       ? 392
                                                           : 400;

/// One call of the block kernel: sums of the m x n products over one chunk of k, strip after strip
/// of A, as GemmStrips cuts them. B is panels of nr columns, b_panel apart, rows b_row apart; b_row
/// == nr where packed, else B's own row stride and b_panel == nr (n must be a multiple of nr / 2
/// then).
template <class Acc>
struct GemmBlock {
  Index m, n, k;
  Index strip;  ///< most rows of a strip, 1 to mr
  const Acc* a;
  GemmForm a_form;
  Index a_row, a_col;
  const Acc* b;
  Index b_row, b_panel;
  Acc* keep;  ///< not null: panels of B, in place and all whole, are also copied there, one behind
              ///< the other; m <= strip then, and A has the form `rows`
  Acc* sum;   ///< running sums, columns next to each other; unused if !add and finish
  Index sum_row;
  bool add;                       ///< sum += chunk, else sum = chunk
  const GemmFinish<Acc>* finish;  ///< not null: the last chunk; results go there, not to sum
  bool cold;  ///< packed panels are not in L2 yet: the first strip asks for the next one
  GemmAhead ahead;
};

/// How this CPU multiplies. T is the element in memory, packed panels hold Acc, or `depth` elements
/// T in the place of each: then the k of a GemmBlock counts rows of panels, steps(k) of them.
template <Element T>
struct Gemm {
  using Acc = GemmAcc<T>;
  using Pack = void (*)(const T* src, Index lane, Index step, Index lanes, Index width, Index k,
                        Acc* out);
  Index mr;              ///< most rows of a strip of A
  Index nr;              ///< columns of a panel of B
  Index chunk = 0;       ///< of k, for one call of `block`; 0: kGemmChunk<T>
  Index depth = 1;       ///< elements of k in one place of a panel
  Index step_unit = 1;   ///< rows of a panel are a multiple of this, zeros at the end
  Index strip_unit = 1;  ///< heights of strips are multiples of this, but the last one's
  /// A may be read in place where its elements lie next to each other along k and rows need no
  /// zeros at the end; a_row is in elements of T then.
  bool a_in_place = false;
  /// Rows of the panels that hold k elements of k.
  Index steps(Index k) const { return round_up(ceil_div(k, depth), step_unit); }
  /// out[p * width + i] = src[i * lane + p * step] for i < lanes, anything for lanes <= i < width,
  /// p < k. Packs a panel of B (width == nr). May write up to kGemmSlack elements past the last
  /// row.
  Pack pack;
  /// The same for a strip of A (width == lanes <= mr), which may be laid out in another way.
  Pack pack_a;
  /// out[i * kGemmRow + p] = src[i * row + p] for i < rows, p < k: a strip of A whose rows lie next
  /// to each other in memory. Null: this kernel does not read the form `rows`.
  void (*pack_rows)(const T* src, Index row, Index rows, Index k, Acc* out) = nullptr;
  void (*block)(const GemmBlock<Acc>& g);
};

/// Elements past its last row that Gemm<T>::pack may write.
inline constexpr Index kGemmSlack = 16;

/// The functions for this CPU. Look them up once per op; never keep them in a static, so that tests
/// can try every instruction set.
template <Element T>
Gemm<T> gemm();
#define WICK_DECLARE(T) \
  template <>           \
  Gemm<T> gemm();
WICK_FOR_ELEMENTS(WICK_DECLARE)
#undef WICK_DECLARE

template <class Acc>
using GemmFinishFn = decltype(GemmFinish<Acc>::apply);

/// GemmFinish::apply for results of type Out.
template <Element Out>
GemmFinishFn<GemmAcc<Out>> gemm_finish();
#define WICK_DECLARE(T) \
  template <>           \
  GemmFinishFn<GemmAcc<T>> gemm_finish<T>();
WICK_FOR_ELEMENTS(WICK_DECLARE)
#undef WICK_DECLARE

}  // namespace wick::kernels
