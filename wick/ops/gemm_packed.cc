// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "wick/ops/gemm_paths.h"
#include "wick/ops/scratch.h"

namespace wick {
namespace {
// The loops follow Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (ACM
// TOMS 2008), with the chunk of k fixed by the order of summation: panels of B are packed for as
// many columns as the share of L3 holds, strips of A for as many rows as half of L2 holds; the
// kernel keeps one strip of A in L1 and streams panels of B past it, `nb` columns at a time, that
// stay in L2.

/// Rows this far apart fall on few sets of L1: a tile's rows of A, or a panel of B, push each other
/// out.
constexpr bool awkward_stride(Index bytes) { return bytes % 4096 == 0; }

/// Packed operands up to this size live on the stack.
constexpr std::size_t kStackBytes = 32 << 10;

/// Everything that is decided before the loops.
template <Element T>
struct Plan {
  using Acc = kernels::GemmAcc<T>;
  kernels::Gemm<T> kernel;
  bool direct_a, direct_b;            // read in place, not packed
  bool in_place;                      // C holds the running sums
  bool finish;                        // sums are not yet results
  Index strip;                        // most rows of a strip of A
  Index mc, nb, nc, group;            // group: elements of k, whole chunks
  Index a_bytes, b_bytes, sum_bytes;  // scratch of one rank
  Index bytes() const { return a_bytes + b_bytes + sum_bytes; }
};

constexpr Index aligned(Index bytes) { return round_up(bytes, 64); }

template <Element T, class Out>
class Driver {
 public:
  using Acc = kernels::GemmAcc<T>;
  static constexpr bool kSameBits = sizeof(T) == sizeof(Acc);

  Driver(const GemmProblem<T, Out>& problem, const GemmBatch& batch, Executor& executor,
         const GemmTuning& tuning)
      : p_(problem), batch_(batch), count_(batch.count()) {
    plan_.kernel = kernels::gemm<T>();
    chunk_ = plan_.kernel.chunk > 0 && !p_.b_packed ? plan_.kernel.chunk : kGemmChunk<T>;
    if (!p_.b_packed) orient();
    plan_.in_place = holds_sums(p_);
    plan_.finish = !plan_.in_place || !sums_are_results(p_);
    // Panels that were packed before are not cut.
    const Index unit = p_.b_packed ? plan_.kernel.nr : plan_.kernel.nr / 2;
    split_ = gemm_split(p_.m, p_.n, p_.k, count_, std::max(Index{4}, plan_.kernel.strip_unit), unit,
                        executor.threads(), tuning.ranks);
    choose_blocks(tuning);
  }

  void run(Executor& executor) {
    if (split_.ranks == 1 && plan_.bytes() <= static_cast<Index>(kStackBytes)) {
      alignas(64) std::byte stack[kStackBytes];
      return run_rank(0, stack);
    }
    const Scratch scratch(checked_mul(plan_.bytes(), split_.ranks, "gemm", "scratch"), "gemm");
    executor.run(static_cast<int>(split_.ranks),
                 [&](int rank) { run_rank(rank, scratch.data() + rank * plan_.bytes()); });
  }

 private:
  /// Lanes run along n and C is written along rows: swaps the operands (C^T = B^T A^T) where that
  /// suits C's strides or fills the lanes better. The products and their order stay the same.
  void orient() {
    const Index lanes = plan_.kernel.nr / 2;
    const bool thin = p_.n < lanes && p_.n < p_.m && !plan_.kernel.a_in_place;
    const bool upright = p_.c.col != 1 && p_.c.row == 1 && !(p_.m < lanes && p_.m < p_.n);
    // What may be read in place as the left operand should not be packed, above all if it is large.
    const bool b_fits = plan_.kernel.a_in_place && p_.b.row == 1 && p_.b.col != 1;
    const bool fits = b_fits && (p_.a.col != 1 || (p_.m <= 64 && 2 * p_.m <= p_.n));
    if (!thin && !upright && !fits &&
        !(kSameBits && p_.b.row == 1 && p_.b.col != 1 && turning_pays(lanes)))
      return;
    turn(p_, batch_);
  }

  /// B lies by columns and A has few rows: packing B would cost as much as multiplying, but turned
  /// round it is read in place as the left operand, a row of it at a time. Cycles per element of B:
  /// packing takes about half of one, two vectors of products take one, a result written across the
  /// rows of C takes one.
  bool turning_pays(Index lanes) const {
    if (p_.m > 8 * lanes) return false;
    const auto m = static_cast<double>(p_.m), width = static_cast<double>(lanes);
    const double plain = 0.45 + std::max(m, 4.0) / (2 * width);
    const double turned = 0.55 * static_cast<double>(ceil_div(p_.m, lanes)) +
                          m / static_cast<double>(std::max(p_.k, Index{1}));
    return turned < plain;
  }

  void choose_blocks(const GemmTuning& tuning) {
    using Path = GemmTuning::Path;
    const Index mr = plan_.kernel.mr, nr = plan_.kernel.nr;
    // Steps of k are rows of panels.
    const Index kc = plan_.kernel.steps(std::min(p_.k, chunk_));
    const Index depth = plan_.kernel.steps(p_.k);
    constexpr auto kAcc = static_cast<Index>(sizeof(Acc)), kT = static_cast<Index>(sizeof(T));
    // The largest part of C that one rank gets.
    const Index m = std::min(p_.m, round_up(ceil_div(p_.m, split_.grid_m), 4) + 4);
    const Index n = std::min(p_.n, round_up(ceil_div(p_.n, split_.grid_n), nr / 2) + nr / 2);
    const bool can_a = kSameBits || (plan_.kernel.a_in_place && p_.a.col == 1),
               can_b = kSameBits && p_.b.col == 1 && !p_.b_packed;
    const CacheSizes& cache = cache_sizes();
    const Index a_size = depth * m * kAcc, b_size = depth * n * kAcc;
    // Packing pays where a part is read often from beyond L2, or in an awkward order.
    const Index a_step = std::min(std::abs(p_.a.row), std::abs(p_.a.col));
    plan_.direct_a =
        can_a &&
        (n <= 2 * nr || (a_size <= cache.l2 && a_step <= 1 && !awkward_stride(p_.a.row * kT)));
    plan_.direct_b =
        can_b && (m <= 2 * mr || (b_size <= cache.l2 && !awkward_stride(p_.b.row * kAcc)));
    if (tuning.path != Path::automatic) {
      plan_.direct_a = can_a && (tuning.path == Path::direct || tuning.path == Path::direct_a);
      plan_.direct_b = can_b && (tuning.path == Path::direct || tuning.path == Path::direct_b);
    }
    plan_.strip = plan_.direct_a && awkward_stride(p_.a.row * kT) ? std::min(mr, Index{8}) : mr;
    const Index row_bytes = std::max(kc * kAcc, Index{1});
    plan_.mc = tuning.mc > 0 ? tuning.mc : cache.l2 / 2 / row_bytes;
    plan_.mc = std::clamp(round_up(plan_.mc, mr), mr, round_up(m, mr));
    plan_.nb = tuning.nb > 0 ? tuning.nb : cache.l2 * 2 / 5 / row_bytes;
    plan_.nb = std::max(plan_.nb / nr * nr, nr);
    // Few rows, which stay in L1: a panel is used up before the next one is touched.
    if (p_.b_packed && m <= 2 * mr && tuning.nb == 0) plan_.nb = nr;
    // A share of L3 for the packed panels of B: all of k if at least 512 columns fit, else groups
    // of chunks. Where sums wait in scratch, k is never cut into groups.
    const Index budget = std::clamp(cache.l3 / 2 / split_.ranks, Index{1} << 20, Index{16} << 20);
    const Index least = std::min(round_up(n, nr), Index{512});
    Index columns = budget / std::max(depth * kAcc, Index{1});
    plan_.group = p_.k;
    if (columns < least && plan_.in_place) {
      plan_.group =
          std::max(budget / (least * kAcc) / plan_.kernel.steps(chunk_), Index{1}) * chunk_;
      columns = least;
    }
    plan_.nc = tuning.nc > 0 ? tuning.nc : columns;
    plan_.nc = std::clamp(plan_.nc / nr * nr, nr, round_up(n, nr));
    if (tuning.group > 0 && plan_.in_place) plan_.group = tuning.group * chunk_;
    plan_.group = std::min(plan_.group, p_.k);
    if (p_.b_packed) choose_panels(m, n, tuning);

    plan_.a_bytes = plan_.direct_a && whole_steps(p_.k)
                        ? 0
                        : aligned((plan_.mc * kc + kernels::kGemmSlack) * kAcc);
    // In place, only the columns after the last whole panel are packed.
    const Index packed = p_.b_packed && kSameBits ? 0
                         : plan_.direct_b ? (n % (nr / 2) == 0 && split_.grid_n == 1 ? 0 : nr)
                                          : plan_.nc;
    plan_.b_bytes =
        packed == 0
            ? 0
            : aligned((packed * plan_.kernel.steps(plan_.group) + kernels::kGemmSlack) * kAcc);
    plan_.sum_bytes = plan_.in_place || p_.k <= chunk_ ? 0 : aligned(plan_.mc * plan_.nc * kAcc);
  }

  /// B is packed already. Panels of what the kernel reads are read in place; narrow ones are
  /// widened into L2, a chunk of them at a time where sums can wait.
  void choose_panels(Index m, Index n, const GemmTuning& tuning) {
    const Index nr = plan_.kernel.nr;
    if constexpr (kSameBits) {
      static_cast<void>(m);
      plan_.nc = round_up(n, nr);
      plan_.group = p_.k;
    } else {
      // Sums wait in C, or in scratch where that holds all rows.
      const bool keeps_sums = plan_.in_place || m <= plan_.mc;
      plan_.group = keeps_sums ? std::min(p_.k, chunk_) : p_.k;
      const Index column =
          std::max(plan_.kernel.steps(plan_.group) * static_cast<Index>(sizeof(Acc)), Index{1});
      plan_.nc = tuning.nc > 0 ? tuning.nc : cache_sizes().l2 * 2 / 5 / column;
      plan_.nc = std::clamp(plan_.nc / nr * nr, nr, round_up(n, nr));
    }
  }

  void run_rank(Index rank, std::byte* scratch) const {
    Work w{};
    w.a = reinterpret_cast<Acc*>(scratch);
    w.b = reinterpret_cast<Acc*>(scratch + plan_.a_bytes);
    w.sum = reinterpret_cast<Acc*>(scratch + plan_.a_bytes + plan_.b_bytes);
    const GemmSplit::Part part = split_.part(rank, count_, p_.m, p_.n);
    w.rows = part.rows;
    w.columns = part.columns;
    for (Index i = part.products.begin; i < part.products.end; ++i) {
      const GemmBatch::Offsets at = batch_.offsets(i);
      multiply(w, p_.a.data + at.a, p_.b.data + at.b, gemm_finish(p_, at));
    }
  }

  /// The state of one rank.
  struct Work {
    Acc *a, *b, *sum;
    Range rows, columns;
    const T* packed_b = nullptr;  // what w.b holds: all columns and chunks of this operand
  };

  void multiply(Work& w, const T* a, const T* b, const kernels::GemmFinish<Acc>& result) const {
    for (Index j = w.columns.begin; j < w.columns.end; j += plan_.nc) {
      const Range columns{j, std::min(j + plan_.nc, w.columns.end)};
      for (Index p = 0; p < p_.k || p == 0; p += plan_.group) {
        const Range group{p, std::min(p + plan_.group, p_.k)};
        const bool whole = columns.size() == w.columns.size() && group.size() == p_.k;
        if (!(p_.b_packed && kSameBits) && (!whole || w.packed_b != b))
          pack_b(w, b, columns, group);
        w.packed_b = whole ? b : nullptr;
        for (Index i = w.rows.begin; i < w.rows.end; i += plan_.mc) {
          const Range rows{i, std::min(i + plan_.mc, w.rows.end)};
          multiply_rows(w, a, b, result, rows, columns, group);
        }
        if (plan_.group == 0) break;
      }
    }
  }

  /// Whether k elements fill the last step of a panel: else A must be packed, with zeros.
  bool whole_steps(Index k) const { return k % (plan_.kernel.depth * plan_.kernel.step_unit) == 0; }

  /// Columns that are read in place; the others are packed.
  Index direct_columns(Range columns) const {
    const Index lanes = plan_.kernel.nr / 2;
    return plan_.direct_b ? columns.size() / lanes * lanes : 0;
  }

  /// Packed: chunk after chunk, in each panel after panel.
  void pack_b(Work& w, const T* b, Range columns, Range group) const {
    const Index nr = plan_.kernel.nr;
    Acc* to = w.b;
    for (Index p = group.begin; p < group.end; p += chunk_) {
      const Index kc = std::min(chunk_, group.end - p);
      if (p_.b_packed && plan_.kernel.depth == 1) {  // panels next to each other: one long row
        const Index size = round_up(columns.size(), nr) * kc;
        plan_.kernel.pack(panels(b, columns.begin, p, kc), 1, size, size, size, 1, to);
        to += size;
        continue;
      }
      for (Index j = columns.begin + direct_columns(columns); j < columns.end;
           j += nr, to += nr * plan_.kernel.steps(kc)) {
        if (p_.b_packed) {
          plan_.kernel.pack(panels(b, j, p, kc), 1, nr, nr, nr, kc, to);
        } else {
          plan_.kernel.pack(b + p * p_.b.row + j * p_.b.col, p_.b.col, p_.b.row,
                            std::min(nr, columns.end - j), nr, kc, to);
        }
      }
    }
  }

  /// The panel at column j of the chunk at p, of a B that was packed before.
  const T* panels(const T* b, Index j, Index p, Index kc) const {
    return b + p * round_up(p_.n, plan_.kernel.nr) + j * kc;
  }

  void pack_a(const Work& w, const T* a, Range rows, Index p, Index kc) const {
    const kernels::GemmStrips strips(rows.size(), plan_.strip, plan_.kernel.strip_unit);
    const Index steps = plan_.kernel.steps(kc);
    Index i = 0;
    for (Index s = 0; s < strips.count; ++s) {
      const Index height = strips.height(s);
      plan_.kernel.pack_a(a + (rows.begin + i) * p_.a.row + p * p_.a.col, p_.a.row, p_.a.col,
                          height, height, kc, w.a + i * steps);
      i += height;
    }
  }

  /// One block of rows over a group of chunks.
  void multiply_rows(Work& w, const T* a, const T* b, const kernels::GemmFinish<Acc>& result,
                     Range rows, Range columns, Range group) const {
    const Index nr = plan_.kernel.nr;
    const Index direct = direct_columns(columns);
    const Index packed = round_up(columns.size() - direct, nr);
    const kernels::GemmFinish<Acc> finish = result.at(rows.begin, columns.begin);
    kernels::GemmBlock<Acc> g{};
    g.m = rows.size();
    g.strip = plan_.strip;
    if (plan_.in_place) {
      g.sum = reinterpret_cast<Acc*>(finish.out);
      g.sum_row = p_.c.row;
    } else {
      g.sum = w.sum;
      g.sum_row = plan_.nc;
    }
    const Acc* scratch = w.b;
    for (Index p = group.begin; p < group.end || p == 0; p += chunk_) {
      const Index kc = std::min(chunk_, group.end - p);
      g.k = plan_.kernel.steps(kc);
      g.add = p > 0;
      const bool last = p + kc == p_.k;
      const T* from = a + rows.begin * p_.a.row + p * p_.a.col;
      g.a_packed = !plan_.direct_a || !whole_steps(kc);
      if (!g.a_packed) {
        g.a = reinterpret_cast<const Acc*>(from);
        g.a_row = p_.a.row;
        g.a_col = p_.a.col;
      } else {
        pack_a(w, a, rows, p, kc);
        g.a = w.a;
      }
      g.finish = last && plan_.finish ? &finish : nullptr;
      if (direct > 0) {
        g.b = reinterpret_cast<const Acc*>(b + p * p_.b.row + columns.begin);
        g.b_row = p_.b.row;
        g.b_panel = nr;
        columns_loop(g, finish, 0, direct);
      }
      if (packed > 0) {
        g.b = p_.b_packed && kSameBits
                  ? reinterpret_cast<const Acc*>(panels(b, columns.begin, p, g.k))
                  : scratch;
        g.b_row = nr;
        g.b_panel = nr * g.k;
        columns_loop(g, finish, direct, columns.size());
        scratch += packed * g.k;
      }
      if (g.k == 0) break;
    }
  }

  /// The block kernel on columns [begin, end), of which g.b is the first, as many at a time as L2
  /// holds.
  void columns_loop(kernels::GemmBlock<Acc> g, const kernels::GemmFinish<Acc>& whole, Index begin,
                    Index end) const {
    kernels::GemmFinish<Acc> finish;
    if (g.finish != nullptr) g.finish = &finish;
    Acc* const sum = g.sum;
    for (Index j = begin; j < end; j += plan_.nb) {
      g.n = std::min(plan_.nb, end - j);
      g.sum = sum == nullptr ? nullptr : sum + j;
      finish = whole.at(0, j);
      plan_.kernel.block(g);
      g.b += plan_.nb / plan_.kernel.nr * g.b_panel;
    }
  }

  GemmProblem<T, Out> p_;
  GemmBatch batch_;
  Index count_;
  Index chunk_ = 0;  // of k, packed and multiplied at once
  Plan<T> plan_{};
  GemmSplit split_;
};

}  // namespace

template <Element T, class Out>
void gemm_packed(const GemmProblem<T, Out>& problem, const GemmBatch& batch, Executor& executor,
                 const GemmTuning& tuning) {
  Driver<T, Out>(problem, batch, executor, tuning).run(executor);
}

#define WICK_INSTANTIATE(T, Out)                                                     \
  template void gemm_packed(const GemmProblem<T, Out>&, const GemmBatch&, Executor&, \
                            const GemmTuning&);
WICK_FOR_GEMM(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE

}  // namespace wick
