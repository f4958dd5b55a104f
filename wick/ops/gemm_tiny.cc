// SPDX-License-Identifier: Apache-2.0
#include "wick/ops/gemm_tiny.h"

#include <algorithm>
#include <utility>

#include "wick/ops/gemm_paths.h"

namespace wick {
namespace {

/// Rows or columns of a product that is cut into a batch of tiny ones.
constexpr Index kCut = 64;

/// Neighbouring dims of the batch that are one dim in all three operands become one; the longest
/// of what is left goes last, where the kernel loops over it.
void simplify(GemmBatch& batch) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < batch.rank; ++i) {
    if (batch.shape[i] == 1) continue;
    const auto joins = [&](const auto& steps) {
      return steps[kept - 1] == batch.shape[i] * steps[i];
    };
    if (kept > 0 && joins(batch.a) && joins(batch.b) && joins(batch.c)) {
      --kept;
      batch.shape[kept] *= batch.shape[i];
    } else {
      batch.shape[kept] = batch.shape[i];
    }
    batch.a[kept] = batch.a[i];
    batch.b[kept] = batch.b[i];
    batch.c[kept] = batch.c[i];
    ++kept;
  }
  batch.rank = kept;
  if (kept < 2 || batch.shape[kept - 1] >= 16) return;
  std::size_t longest = kept - 1;
  for (std::size_t i = 0; i + 1 < kept; ++i)
    if (batch.shape[i] > batch.shape[longest]) longest = i;
  for (auto* list : {&batch.shape, &batch.a, &batch.b, &batch.c})
    std::swap((*list)[longest], (*list)[kept - 1]);
}

/// The products [begin, end) of the batch, g being the first of all.
template <Element T, class Out>
void run_part(const kernels::GemmTiny<T, Out>& first, const GemmBatch& batch, Index begin,
              Index end) {
  kernels::GemmTiny<T, Out> g = first;
  Index inner = 1;
  if (batch.rank > 0) {
    const std::size_t last = batch.rank - 1;
    inner = batch.shape[last];
    g.a.step = batch.a[last];
    g.b.step = batch.b[last];
    g.c.step = batch.c[last];
  }
  for (Index i = begin; i < end; i += g.count) {
    const GemmBatch::Offsets at = batch.offsets(i);
    g.a.data = first.a.data + at.a;
    g.b.data = first.b.data + at.b;
    g.c.data = first.c.data + at.c;
    g.count = std::min(end - i, inner - i % inner);
    kernels::gemm_tiny(g);
  }
}

template <Element T, class Out>
bool run_batch(const GemmProblem<T, Out>& p, GemmBatch batch, Executor& executor) {
  const bool turned = tiny_turns(p.m, p.n, p.a, p.c);
  if (turned) std::swap(batch.a, batch.b);
  const auto g = tiny_product<T, Out>(p.m, p.n, p.k, p.alpha, p.a, p.b, p.beta, p.c, turned);
  if (!tiny_is_best(g)) return false;
  simplify(batch);
  const Index count = batch.count();
  // An element costs about as much as four multiply-adds.
  const Index each = g.m * g.n * g.k + 4 * (g.m * g.k + g.k * g.n + g.m * g.n);
  const Index most = count / (kWorkPerRank / each + 1);
  const Index ranks = most < 2 ? 1 : std::min(most, Index{executor.threads()});
  if (ranks < 2) {
    run_part(g, batch, 0, count);
  } else {
    executor.run(static_cast<int>(ranks), [&](int rank) {
      run_part(g, batch, piece(count, 1, rank, ranks).begin, piece(count, 1, rank, ranks).end);
    });
  }
  return true;
}

/// Many rows by a small B, or the mirror image: a batch of products of kCut rows.
template <Element T, class Out>
bool run_cut(const GemmProblem<T, Out>& p, const GemmBatch& batch, Executor& executor) {
  const bool rows = p.m > kTinyMost;
  if (std::max(rows ? p.n : p.m, p.k) > 32 || batch.rank == GemmBatch::kMaxRank) return false;
  // Rows of B that run on: a few of A are better read past them (thin).
  if (!rows && p.m <= 4) return false;
  GemmProblem<T, Out> part = p;
  GemmBatch parts = batch;
  Index& size = rows ? part.m : part.n;
  const std::size_t last = parts.rank++;
  const Index count = size / kCut, rest = size % kCut;
  parts.shape[last] = count;
  parts.a[last] = rows ? kCut * p.a.row : 0;
  parts.b[last] = rows ? 0 : kCut * p.b.col;
  parts.c[last] = kCut * (rows ? p.c.row : p.c.col);
  size = kCut;
  if (!run_batch(part, parts, executor)) return false;
  if (rest == 0) return true;
  part.a.data += count * parts.a[last];
  part.b.data += count * parts.b[last];
  part.c.data += count * parts.c[last];
  size = rest;
  return run_batch(part, batch, executor);
}

}  // namespace

template <Element T, class Out>
bool gemm_tiny([[maybe_unused]] const GemmProblem<T, Out>& p,
               [[maybe_unused]] const GemmBatch& batch, [[maybe_unused]] Executor& executor) {
  if constexpr (!kTiny<T, Out>) {
    return false;
  } else {
    if (std::max(p.m, p.n) > kTinyMost)
      return std::min(p.m, p.n) <= kTinyMost && run_cut(p, batch, executor);
    if (batch.rank > 0) return run_batch(p, batch, executor);
    return gemm_tiny<T, Out>(p.m, p.n, p.k, p.alpha, p.a, p.b, p.beta, p.c);
  }
}

#define WICK_INSTANTIATE(T, Out) \
  template bool gemm_tiny(const GemmProblem<T, Out>&, const GemmBatch&, Executor&);
WICK_FOR_GEMM(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE

}  // namespace wick
