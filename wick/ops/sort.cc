// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/sort.h"

#include <atomic>
#include <span>

#include "wick/arrange.h"
#include "wick/core/dispatch.h"
#include "wick/ops/check.h"
#include "wick/ops/lines.h"

namespace wick {
namespace {

using kernels::IndexedKey;
using kernels::LineLoop;
using kernels::SortKey;

/// From this length on a line is worth sharing among threads.
constexpr Index kLong = 64 * 1024;

Index magnitude(Index stride) { return stride < 0 ? -stride : stride; }

/// Calls f(offsets, strides from line to line, number of lines, scratch) for sets of lines that
/// together cover the layouts, the last of which is that of x; they lack the sorted dim.
template <class E, std::size_t N, class F>
void for_each_lines(std::string_view op, const NdIter<N>& it, Index n, Index x_step, F&& f) {
  if (n == 0 || it.size() == 0) return;
  // Lines side by side share cache lines: some are read and written at a time.
  constexpr Index kMost = 128 * 1024;  // entries that an L2 cache holds
  const bool across = it.extent(0) > 1 && magnitude(it.strides(0)[N - 1]) < magnitude(x_step);
  const Index together = across ? std::clamp<Index>(kMost / n, 1, kernels::kSortLines) : 1;
  const Index entries = checked_mul(together + 1, kernels::sort_pitch(n), op, "working memory");
  parallel_for(it.size(), std::max(together, kCostlyGrain / n), [&](Index begin, Index end) {
    const Buffer<E> scratch(entries, op);
    it.for_each(begin, end, [&](const auto& at, const Loop2<N>& run) {
      for (Index j = 0; j < run.m; ++j)
        for (Index i = 0; i < run.n; i += together) {
          std::array<Index, N> place = at;
          for (std::size_t k = 0; k < N; ++k) place[k] += j * run.outer[k] + i * run.inner[k];
          f(place, run.inner, std::min(together, run.n - i), scratch.data());
        }
    });
  });
}

/// Sorts n entries by their bits [low, high) on all threads; each has a stretch of them. Returns
/// where the result is: x or spare. Stable, so that it does not depend on the stretches.
template <class E>
E* radix_sort(std::string_view op, E* x, E* spare, Index n, int low, int high) {
  constexpr Index kBins = 256;
  const Index parts = current_executor().threads();
  const Buffer<Index> buffer(parts * kBins, op);
  Index* counts = buffer.data();
  const Index size = ceil_div(n, parts);
  const auto each = [&](auto&& f) {
    parallel_for(parts, 1, [&](Index begin, Index end) {
      for (Index p = begin; p < end; ++p)
        if (p * size < n) f(p * size, std::min(size, n - p * size), counts + p * kBins);
    });
  };
  for (int shift = low; shift < high; shift += 8) {
    std::fill_n(counts, parts * kBins, 0);
    each([&](Index from, Index count, Index* at) {
      kernels::radix_count(x + from, count, shift, at);
    });
    Index sum = 0;
    bool one_value = false;
    for (Index b = 0; b < kBins; ++b) {
      const Index before = sum;
      for (Index p = 0; p < parts; ++p) sum += std::exchange(counts[p * kBins + b], sum);
      one_value |= sum - before == n;
    }
    if (one_value) continue;
    each([&](Index from, Index count, Index* at) {
      kernels::radix_move(spare, x + from, count, shift, at);
    });
    std::swap(x, spare);
  }
  return x;
}

/// Whether there are too few lines for all threads, and long ones.
bool few_long_lines(Index lines, Index n) {
  return n >= kLong && lines < current_executor().threads();
}

// --- sort ---

int check_input(std::string_view op, const Tensor& x, Index dim) {
  if (is_raw(x.dtype())) throw_unsupported(x.dtype(), op);
  return normalize_axis(dim, x.rank(), op);
}

template <Element T>
void sort_long(T* y, const T* x, const LineLoop& loop, bool descending, SortKey<T>* scratch) {
  const Index n = loop.n;
  std::atomic<bool> special = false;
  parallel_for(n, kCostlyGrain, [&](Index begin, Index end) {
    if (kernels::load_keys(scratch + begin, x + begin * loop.x_step, loop.x_step, end - begin,
                           descending))
      special.store(true, std::memory_order_relaxed);
  });
  if (special) return kernels::sort_lines(y, x, loop, descending, scratch);
  const SortKey<T>* sorted =
      radix_sort("sort", scratch, scratch + n, n, 0, 8 * static_cast<int>(sizeof(T)));
  parallel_for(n, kCostlyGrain, [&](Index begin, Index end) {
    kernels::store_values(y + begin * loop.y_step, loop.y_step, sorted + begin, end - begin,
                          descending);
  });
}

void run_sort(const Tensor& out, const Tensor& x, int dim, bool descending) {
  const Layout y_rest = without_dim(out.layout(), dim), x_rest = without_dim(x.layout(), dim);
  const NdIter<2> it({&y_rest, &x_rest});
  const Index n = x.shape()[dim];
  LineLoop loop{n, out.layout().strides[dim], x.layout().strides[dim], 1, 0, 0};
  dispatch(
      out.storage(), x.storage(), "sort", [&]<Element T>(const Buffer<T>& y, const Buffer<T>& in) {
        if (few_long_lines(it.size(), n)) {
          const Buffer<SortKey<T>> scratch(
              checked_mul(2, kernels::sort_pitch(n), "sort", "working memory"), "sort");
          return it.for_each(0, it.size(), [&](const auto& at, const Loop2<2>& run) {
            for (Index j = 0; j < run.m; ++j)
              for (Index i = 0; i < run.n; ++i)
                sort_long(
                    y.data() + at[0] + j * run.outer[0] + i * run.inner[0],
                    static_cast<const T*>(in.data()) + at[1] + j * run.outer[1] + i * run.inner[1],
                    loop, descending, scratch.data());
          });
        }
        for_each_lines<SortKey<T>>(
            "sort", it, n, loop.x_step,
            [&](const auto& at, const auto& step, Index lines, SortKey<T>* scratch) {
              const LineLoop here{n, loop.y_step, loop.x_step, lines, step[0], step[1]};
              kernels::sort_lines(y.data() + at[0], static_cast<const T*>(in.data()) + at[1], here,
                                  descending, scratch);
            });
      });
}

// --- argsort ---

void check_countable(std::string_view op, const Tensor& x, int dim) {
  if (x.shape()[dim] > Index{0xFFFFFFFF})
    throw error_about(ErrorKind::shape, op,
                      str("wanted at most 4294967295 elements along an axis, got ", x.shape()[dim]),
                      {&x});
}

template <Element T>
void argsort_long(u32* y, const T* x, const LineLoop& loop, bool descending,
                  IndexedKey<T>* scratch) {
  const Index n = loop.n;
  parallel_for(n, kCostlyGrain, [&](Index begin, Index end) {
    kernels::load_indexed_keys(scratch + begin, x + begin * loop.x_step, loop.x_step, end - begin,
                               begin, descending);
  });
  constexpr int kLow = sizeof(T) == 8 ? 0 : 32;
  const IndexedKey<T>* sorted =
      radix_sort("argsort", scratch, scratch + n, n, kLow, kLow + 8 * static_cast<int>(sizeof(T)));
  parallel_for(n, kCostlyGrain, [&](Index begin, Index end) {
    kernels::store_indices(y + begin * loop.y_step, loop.y_step, sorted + begin, end - begin);
  });
}

void run_argsort(const Tensor& out, const Tensor& x, int dim, bool descending) {
  const Layout y_rest = without_dim(out.layout(), dim), x_rest = without_dim(x.layout(), dim);
  const NdIter<2> it({&y_rest, &x_rest});
  const Index n = x.shape()[dim];
  LineLoop loop{n, out.layout().strides[dim], x.layout().strides[dim], 1, 0, 0};
  u32* y = std::get_if<Buffer<u32>>(&out.storage())->data();
  dispatch(x.storage(), "argsort", [&]<Element T>(const Buffer<T>& in) {
    if (few_long_lines(it.size(), n)) {
      const Buffer<IndexedKey<T>> scratch(
          checked_mul(2, kernels::sort_pitch(n), "argsort", "working memory"), "argsort");
      return it.for_each(0, it.size(), [&](const auto& at, const Loop2<2>& run) {
        for (Index j = 0; j < run.m; ++j)
          for (Index i = 0; i < run.n; ++i)
            argsort_long(
                y + at[0] + j * run.outer[0] + i * run.inner[0],
                static_cast<const T*>(in.data()) + at[1] + j * run.outer[1] + i * run.inner[1],
                loop, descending, scratch.data());
      });
    }
    for_each_lines<IndexedKey<T>>(
        "argsort", it, n, loop.x_step,
        [&](const auto& at, const auto& step, Index lines, IndexedKey<T>* scratch) {
          const LineLoop here{n, loop.y_step, loop.x_step, lines, step[0], step[1]};
          kernels::argsort_lines(y + at[0], static_cast<const T*>(in.data()) + at[1], here,
                                 descending, scratch);
        });
  });
}

// --- topk ---

Dims topk_shape(const Tensor& x, int dim, Index k) {
  if (k < 0 || k > x.shape()[dim])
    throw error_about(
        ErrorKind::argument, "topk",
        str("wanted k from 0 to ", x.shape()[dim], ", the size of axis ", dim, ", got ", k), {&x});
  check_countable("topk", x, dim);
  Dims shape = x.shape();
  shape[dim] = k;
  return shape;
}

void run_topk(const Tensor& values, const Tensor& indices, const Tensor& x, Index k, int dim,
              bool largest) {
  if (k == 0) return;
  const Layout y_rest = without_dim(values.layout(), dim),
               i_rest = without_dim(indices.layout(), dim), x_rest = without_dim(x.layout(), dim);
  const NdIter<3> it({&y_rest, &i_rest, &x_rest});
  const Index n = x.shape()[dim], y_step = values.layout().strides[dim],
              i_step = indices.layout().strides[dim], x_step = x.layout().strides[dim];
  u32* places = std::get_if<Buffer<u32>>(&indices.storage())->data();
  dispatch(values.storage(), x.storage(), "topk",
           [&]<Element T>(const Buffer<T>& y, const Buffer<T>& in) {
             for_each_lines<IndexedKey<T>>(
                 "topk", it, n, x_step,
                 [&](const auto& at, const auto& step, Index lines, IndexedKey<T>* scratch) {
                   const LineLoop loop{n, y_step, x_step, lines, step[0], step[2]};
                   kernels::topk_lines(y.data() + at[0], places + at[1], i_step, step[1],
                                       static_cast<const T*>(in.data()) + at[2], k, loop, largest,
                                       scratch);
                 });
           });
}

}  // namespace

Tensor Tensor::sort(Index dim, bool descending) const {
  const int d = check_input("sort", *this, dim);
  Tensor out = empty(shape(), dtype());
  run_sort(out, *this, d, descending);
  return out;
}

void sort_into(const Tensor& out, const Tensor& x, Index dim, bool descending) {
  const int d = check_input("sort", x, dim);
  check_out("sort", out, x.shape(), x.dtype());
  check_overlap("sort", out, x);
  run_sort(out, x, d, descending);
}

Tensor Tensor::argsort(Index dim, bool descending) const {
  const int d = check_input("argsort", *this, dim);
  check_countable("argsort", *this, d);
  Tensor out = empty(shape(), DType::u32);
  run_argsort(out, *this, d, descending);
  return out;
}

void argsort_into(const Tensor& out, const Tensor& x, Index dim, bool descending) {
  const int d = check_input("argsort", x, dim);
  check_countable("argsort", x, d);
  check_out("argsort", out, x.shape(), DType::u32);
  check_disjoint("argsort", out, x);
  run_argsort(out, x, d, descending);
}

TopK Tensor::topk(Index k, Index dim, bool largest) const {
  const int d = check_input("topk", *this, dim);
  const Dims shape = topk_shape(*this, d, k);
  TopK best{empty(shape, dtype()), empty(shape, DType::u32)};
  run_topk(best.values, best.indices, *this, k, d, largest);
  return best;
}

void topk_into(const Tensor& values, const Tensor& indices, const Tensor& x, Index k, Index dim,
               bool largest) {
  const int d = check_input("topk", x, dim);
  const Dims shape = topk_shape(x, d, k);
  check_out("topk", values, shape, x.dtype());
  check_out("topk", indices, shape, DType::u32);
  check_disjoint("topk", values, x);
  check_disjoint("topk", indices, x);
  check_disjoint("topk", values, indices);
  run_topk(values, indices, x, k, d, largest);
}

}  // namespace wick
