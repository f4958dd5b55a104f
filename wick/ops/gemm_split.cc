// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>

#include "wick/base/made_once.h"
#include "wick/ops/gemm_paths.h"

namespace wick {

const CacheSizes& cache_sizes() {
  static constinit MadeOnce<const CacheSizes> sizes;
  return sizes.get([] {
    CacheSizes found;
#if defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
    if (const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0) found.l2 = l2;
    if (const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE); l3 > 0) found.l3 = l3;
#endif
    return std::make_unique<const CacheSizes>(found);
  });
}

Range piece(Index n, Index unit, Index i, Index pieces) {
  const Index units = ceil_div(n, unit);
  return {std::min(n, units * i / pieces * unit), std::min(n, units * (i + 1) / pieces * unit)};
}

GemmSplit::Part GemmSplit::part(Index rank, Index count, Index m, Index n) const {
  if (by_product) return {piece(count, 1, rank, ranks), {0, m}, {0, n}};
  return {
      {0, count}, piece(m, unit_m, rank / grid_n, grid_m), piece(n, unit_n, rank % grid_n, grid_n)};
}

namespace {

/// A grid of at most `ranks` parts of C with the least cost: multiply-adds of the largest part,
/// and its packing, where an element costs about as much as eight of them.
void choose_grid(GemmSplit& split, Index m, Index n, Index ranks) {
  double best = -1;
  for (Index rows = 1; rows <= ranks; ++rows) {
    const Index columns = ranks / rows;
    const auto part_m =
        static_cast<double>(ceil_div(ceil_div(m, split.unit_m), rows) * split.unit_m);
    const auto part_n =
        static_cast<double>(ceil_div(ceil_div(n, split.unit_n), columns) * split.unit_n);
    const double cost = part_m * part_n + 8 * (part_m + part_n);
    if (best < 0 || cost < best) {
      best = cost;
      split.grid_m = std::min(rows, ceil_div(m, split.unit_m));
      split.grid_n = std::min(columns, ceil_div(n, split.unit_n));
    }
  }
}

}  // namespace

GemmSplit gemm_split(Index m, Index n, Index k, Index count, Index unit_m, Index unit_n,
                     Index threads, Index ranks) {
  if (ranks == 0) {
    const double most = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                        static_cast<double>(count) / static_cast<double>(kWorkPerRank);
    ranks = threads;
    if (most < static_cast<double>(ranks)) ranks = std::max(Index{1}, static_cast<Index>(most));
  }
  GemmSplit split;
  split.unit_m = unit_m;
  split.unit_n = unit_n;
  split.by_product = count >= 4 * ranks || (count > 1 && count % ranks == 0);
  if (!split.by_product && ranks > 1) choose_grid(split, m, n, ranks);
  split.ranks = split.by_product ? std::min(ranks, count) : split.grid_m * split.grid_n;
  return split;
}

}  // namespace wick
