// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <string_view>

#include "wick/core/nd_iter.h"
#include "wick/core/storage.h"
#include "wick/kernels/reduce.h"
#include "wick/ops/loop.h"

namespace wick {

// What all reductions share: which dims go and which stay, threads, and the merging of parts. A new
// one is a kernel (kernels::ReduceFn) that makes a part P of at most kReduceChunk elements, a merge
// of two neighbouring parts, and what makes a result of a part.

/// A reduction of one layout over a set of dims.
struct ReducePlan {
  Dims shape;                ///< of the result
  Layout kept;               ///< the input's dims that stay
  kernels::ReduceLoop loop;  ///< the reduced dims; the rest is set for each call
  Index n = 1;               ///< reduced elements of one result
};

/// Whether the result depends on the order of the elements.
enum class ReduceOrder : std::uint8_t { row_major, any };

/// Checks `dims`: an axis out of range is an `index` Error, a repeated one an `argument` Error. No
/// dims: every element is reduced by itself.
ReducePlan plan_reduction(std::string_view op, const Layout& x, const Dims& dims, bool keepdim,
                          ReduceOrder order);

/// The layout of a result, of plan.shape, without the reduced dims that it kept with size 1.
Layout without_kept_dims(std::string_view op, const Layout& out, const Dims& dims,
                         const ReducePlan& plan);

/// True where a fixed order of the elements runs across memory, as in a sum over all of a
/// transposed matrix: the elements that lie next to each other are reduced, but not one after the
/// other. They are best copied first then, by tiles.
bool runs_across(const Layout& x, const ReducePlan& plan);

/// All dims of a tensor of this rank.
Dims all_dims(int rank);

namespace detail {

/// Calls kernel for the outputs [begin, end) of `it` and reduced elements [from, to), and
/// sink(offset in out, stride in out, parts, count) for what it gave, in the order of `it`.
template <class P, class T, class Sink>
void reduce_outputs(const ReducePlan& plan, const NdIter<2>& it, Index begin, Index end, Index from,
                    Index to, const T* x, kernels::ReduceFn<T, P> kernel, Sink&& sink) {
  it.for_each(begin, end, [&](const auto& at, const Loop2<2>& run) {
    kernels::ReduceLoop loop = plan.loop;
    loop.begin = from;
    loop.end = to;
    loop.col_stride = run.inner[1];
    P parts[kernels::kReduceCols];
    for (Index j = 0; j < run.m; ++j)
      for (Index i = 0; i < run.n; i += loop.cols) {
        loop.cols = std::min(kernels::kReduceCols, run.n - i);
        kernel(parts, x + at[1] + j * run.outer[1] + i * run.inner[1], loop);
        sink(at[0] + j * run.outer[0] + i * run.inner[0], run.inner[0], parts, loop.cols);
      }
  });
}

/// Merges `count` parts that lie `stride` apart by a tree whose shape depends on the count alone.
template <class P, class Merge>
P merge_parts(const P* parts, Index count, Index stride, const Merge& merge) {
  if (count == 1) return *parts;
  const auto half = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(count - 1)));
  return merge(merge_parts(parts, half, stride, merge),
               merge_parts(parts + half * stride, count - half, stride, merge));
}

}  // namespace detail

/// y = finish(part) for every output. `y_layout` has the shape of plan.kept.
template <class P, class T, class Out, class Merge, class Finish>
void reduce(std::string_view op, const ReducePlan& plan, Out* y, const Layout& y_layout, const T* x,
            kernels::ReduceFn<T, P> kernel, const Merge& merge, const Finish& finish) {
  const NdIter<2> it({&y_layout, &plan.kept});
  const auto store = [&](Index at, Index stride, const P* parts, Index count) {
    for (Index i = 0; i < count; ++i) y[at + i * stride] = finish(parts[i]);
  };
  const Index outputs = it.size();
  if (plan.n <= kernels::kReduceChunk) {
    // Columns side by side share cache lines: a thread takes some at least.
    const bool across = it.strides(0)[1] == 1 && it.extent(0) > 1;
    const Index grain = std::max<Index>(across ? 16 : 1, kCheapGrain / std::max<Index>(plan.n, 1));
    return parallel_for(outputs, grain, [&](Index begin, Index end) {
      detail::reduce_outputs(plan, it, begin, end, 0, plan.n, x, kernel, store);
    });
  }
  const Index chunks = ceil_div(plan.n, kernels::kReduceChunk);
  Buffer<P> buffer(checked_mul(chunks, outputs, op, "partial results"), op);
  P* parts = buffer.data();
  // One task is one chunk of one output; chunk by chunk.
  parallel_for(chunks * outputs, kCheapGrain / kernels::kReduceChunk, [&](Index begin, Index end) {
    while (begin < end) {
      const Index chunk = begin / outputs, first = begin % outputs;
      const Index last = std::min(outputs, first + end - begin);
      const Index from = chunk * kernels::kReduceChunk;
      detail::reduce_outputs(plan, it, first, last, from,
                             std::min(plan.n, from + kernels::kReduceChunk), x, kernel,
                             [&](Index, Index, const P* got, Index count) {
                               std::copy_n(got, count, parts + begin);
                               begin += count;
                             });
    }
  });
  parallel_for(outputs, ceil_div(kCheapGrain, chunks), [&](Index begin, Index end) {
    it.for_each(begin, end, [&](const auto& at, const Loop2<2>& run) {
      for (Index j = 0; j < run.m; ++j)
        for (Index i = 0; i < run.n; ++i) {
          const P whole = detail::merge_parts(parts + begin++, chunks, outputs, merge);
          store(at[0] + j * run.outer[0] + i * run.inner[0], 0, &whole, 1);
        }
    });
  });
}

}  // namespace wick
