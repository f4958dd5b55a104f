// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "wick/ops/gemm_paths.h"
#include "wick/ops/scratch.h"

namespace wick {
namespace {
// The loops follow Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (ACM
// TOMS 2008), with the chunk of k fixed by the order of summation. A block of B, one chunk high and
// as many columns wide as fit in less than half of L2, is packed while the first strip of A is
// multiplied by it; then strip after strip of A meets all of its panels. Strips are read where they
// lie, unless their rows collide in L1: then they are copied there just before.

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
  bool direct_a, direct_b;  // read in place, not packed
  kernels::GemmForm form;   // how strips of A are packed
  bool strips;              // strips of A come one by one, the next is asked for meanwhile
  bool keep;                // whole panels of B are packed by the kernel, on the way
  bool whole_a;             // all strips of a chunk are packed at once, for several blocks of B
  bool whole_b;             // all of packed B stays, for the next product or block of rows
  bool in_place;            // C holds the running sums
  bool finish;              // sums are not yet results
  Index strip;              // most rows of a strip of A
  Index mc, nb;             // rows and columns of a block
  Index sum_row;            // between rows of sums in scratch
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
    const bool can_a = p_.a.col == 1 ? kSameBits || plan_.kernel.a_in_place
                                     : kSameBits && p_.a.row == 1,
               can_b = kSameBits && p_.b.col == 1 && !p_.b_packed;
    const CacheSizes& cache = cache_sizes();
    const Index b_size = depth * n * kAcc;
    const bool fits = depth * m * kAcc + b_size + m * n * kAcc <= cache.l2;
    // Packing pays where a part is read often from beyond L2, or in an awkward order.
    plan_.direct_a =
        can_a && (n <= 2 * nr || ((fits || p_.a.col == 1) && !awkward_stride(p_.a.row * kT)));
    plan_.direct_b = can_b && (m <= 2 * mr || (fits && !awkward_stride(p_.b.row * kAcc)));
    if (tuning.path != Path::automatic) {
      plan_.direct_a = can_a && (tuning.path == Path::direct || tuning.path == Path::direct_a);
      plan_.direct_b = can_b && (tuning.path == Path::direct || tuning.path == Path::direct_b);
    }
    plan_.strip = plan_.direct_a && awkward_stride(p_.a.row * kT) ? std::min(mr, Index{8}) : mr;
    const bool rows_form = p_.a.col == 1 && plan_.kernel.pack_rows != nullptr;
    plan_.form = rows_form ? kernels::GemmForm::rows : kernels::GemmForm::panels;
    const bool forced = tuning.path == Path::direct_a;
    plan_.keep = can_b && !plan_.direct_b && rows_form && !(forced && plan_.direct_a);
    plan_.strips = !fits && !(plan_.direct_a && p_.a.col != 1);
    choose_columns(m, n, kc, tuning);
    // Sums that wait in scratch should not grow with m.
    const bool sums = !plan_.in_place && p_.k > chunk_;
    plan_.mc = tuning.mc > 0 ? tuning.mc : sums ? Index{1024} : m;
    plan_.mc = std::clamp(round_up(plan_.mc, mr), mr, round_up(m, mr));
    const Index row = plan_.form == kernels::GemmForm::rows ? kernels::kGemmRow<Acc> : kc;
    plan_.whole_a = !plan_.direct_a && tuning.whole_a != 2 &&
                    (tuning.whole_a == 1 || (plan_.nb < n && a_stays(plan_.mc)));
    // A share of L3 for packed B that is used again.
    const Index budget = std::clamp(cache.l3 / 2 / split_.ranks, Index{1} << 20, Index{16} << 20);
    const bool again = b_repeats() || plan_.mc < m;
    plan_.whole_b = !plan_.direct_b && !panels_in_place() && tuning.whole_b != 2 &&
                    (tuning.whole_b == 1 || (again && b_size <= budget));

    const Index rows = plan_.whole_a ? plan_.mc : mr;
    plan_.a_bytes = plan_.direct_a && whole_steps(p_.k)
                        ? 0
                        : aligned((rows * row + kernels::kGemmSlack) * kAcc);
    // In place, only the columns after the last whole panel are packed.
    const Index columns = plan_.direct_b ? nr : plan_.whole_b ? round_up(n, nr) : plan_.nb;
    const bool none =
        panels_in_place() || (plan_.direct_b && n % (nr / 2) == 0 && split_.grid_n == 1);
    const Index height = plan_.whole_b ? depth : kc;
    plan_.b_bytes = none ? 0 : aligned((columns * height + kernels::kGemmSlack) * kAcc);
    plan_.sum_row = plan_.whole_a ? round_up(n, nr) : plan_.nb;
    plan_.sum_bytes = sums ? aligned(plan_.mc * plan_.sum_row * kAcc) : 0;
  }

  void choose_columns(Index m, Index n, Index kc, const GemmTuning& tuning) {
    const Index nr = plan_.kernel.nr;
    const Index bytes = std::max(kc * static_cast<Index>(sizeof(Acc)), Index{1});
    plan_.nb = tuning.nb > 0 ? tuning.nb : cache_sizes().l2 * 2 / 5 / bytes;
    // Few rows, which stay in L1: a panel is used up before the next one is touched.
    if (panels_in_place() && m <= 2 * plan_.kernel.mr && tuning.nb == 0) plan_.nb = nr;
    plan_.nb = std::max(plan_.nb / nr * nr, nr);
    plan_.nb = std::max(round_up(ceil_div(n, ceil_div(n, plan_.nb)), nr), nr);
  }

  /// Whether a packed chunk of so many rows of A is a small part of L2.
  static bool a_stays(Index rows) {
    return rows * kernels::kGemmRow<Acc> * static_cast<Index>(sizeof(Acc)) <= cache_sizes().l2 / 4;
  }

  /// B was packed before as the kernel reads it.
  bool panels_in_place() const { return p_.b_packed && kSameBits; }

  /// Whether products of the batch share their B.
  bool b_repeats() const {
    for (std::size_t d = 0; d < batch_.rank; ++d)
      if (batch_.shape[d] > 1 && batch_.b[d] == 0) return true;
    return false;
  }

  void run_rank(Index rank, std::byte* scratch) const {
    Work w{};
    w.a = reinterpret_cast<Acc*>(scratch);
    w.b = reinterpret_cast<Acc*>(scratch + plan_.a_bytes);
    w.sum = plan_.sum_bytes == 0 ? nullptr
                                 : reinterpret_cast<Acc*>(scratch + plan_.a_bytes + plan_.b_bytes);
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
    const T* packed_b = nullptr;  // the operand that w.b holds all of
  };

  /// A chunk of k of some rows and columns.
  struct Block {
    Range rows, columns;
    Index p, kc, steps;  // of k; steps: what kc is for the kernel
    const T *a, *b;      // the first element of A; B as it was passed
    const Acc* panels;   // packed B
    Acc* to;             // the same where it is not yet packed, else null
    kernels::GemmFinish<Acc> finish;
  };

  void multiply(Work& w, const T* a, const T* b, const kernels::GemmFinish<Acc>& result) const {
    bool packed = panels_in_place() || (plan_.whole_b && w.packed_b == b);
    for (Index i = w.rows.begin; i < w.rows.end; i += plan_.mc) {
      const Range rows{i, std::min(i + plan_.mc, w.rows.end)};
      const auto chunk = [&](Index j, Index p) {
        Block block{};
        block.rows = rows;
        block.columns = {j, std::min(j + plan_.nb, w.columns.end)};
        block.p = p;
        block.kc = std::min(chunk_, p_.k - p);
        block.steps = plan_.kernel.steps(block.kc);
        block.a = a + i * p_.a.row + p * p_.a.col;
        block.b = b;
        Acc* const scratch = place(w, block.columns, p);
        block.to = packed ? nullptr : scratch;
        block.panels =
            panels_in_place()
                ? reinterpret_cast<const Acc*>(panels(b, block.columns.begin, p, block.kc))
                : scratch;
        block.finish = result.at(i, j);
        return block;
      };
      if (plan_.whole_a) {
        for (Index p = 0; p < p_.k || p == 0; p += chunk_) {
          pack_all(w, chunk(w.columns.begin, p));
          for (Index j = w.columns.begin; j < w.columns.end; j += plan_.nb)
            multiply_block(w, chunk(j, p));
        }
      } else {
        for (Index j = w.columns.begin; j < w.columns.end; j += plan_.nb)
          for (Index p = 0; p < p_.k || p == 0; p += chunk_) multiply_block(w, chunk(j, p));
      }
      packed = packed || plan_.whole_b;
    }
    w.packed_b = plan_.whole_b ? b : nullptr;
  }

  /// Where this chunk of these columns is packed.
  Acc* place(const Work& w, Range columns, Index p) const {
    if (!plan_.whole_b) return w.b;
    return w.b + (columns.begin - w.columns.begin) * plan_.kernel.steps(p_.k) +
           round_up(columns.size(), plan_.kernel.nr) * plan_.kernel.steps(p);
  }

  /// The panel at column j of the chunk at p, of a B that was packed before.
  const T* panels(const T* b, Index j, Index p, Index kc) const {
    return b + p * round_up(p_.n, plan_.kernel.nr) + j * kc;
  }

  /// Columns of the block that the kernel reads in place; the others it finds packed. `first`: for
  /// the strip that packs.
  Index columns_in_place(const Block& block, bool first) const {
    const Index n = block.columns.size();
    if (plan_.direct_b) return n / (plan_.kernel.nr / 2) * (plan_.kernel.nr / 2);
    return plan_.keep && first && block.to != nullptr ? n / plan_.kernel.nr * plan_.kernel.nr : 0;
  }

  /// Packs what the kernel does not: panel after panel.
  void pack_b(const Block& block, Acc* to) const {
    const Index nr = plan_.kernel.nr, n = block.columns.size(), kc = block.kc;
    if (p_.b_packed && plan_.kernel.depth == 1) {  // panels next to each other: one long row
      const Index size = round_up(n, nr) * kc;
      return plan_.kernel.pack(panels(block.b, block.columns.begin, block.p, kc), 1, size, size,
                               size, 1, to);
    }
    const T* from = block.b + block.p * p_.b.row + block.columns.begin * p_.b.col;
    const Index begin = columns_in_place(block, true);
    if (!plan_.direct_b) to += begin * block.steps;
    for (Index j = begin; j < n; j += nr, to += nr * block.steps) {
      if (p_.b_packed) {
        plan_.kernel.pack(panels(block.b, block.columns.begin + j, block.p, kc), 1, nr, nr, nr, kc,
                          to);
      } else {
        plan_.kernel.pack(from + j * p_.b.col, p_.b.col, p_.b.row, std::min(nr, n - j), nr, kc, to);
      }
    }
  }

  /// Whether k elements fill the last step of a panel: else A must be packed, with zeros.
  bool whole_steps(Index k) const { return k % (plan_.kernel.depth * plan_.kernel.step_unit) == 0; }

  void pack_strip(const T* from, Index height, Index kc, Acc* to) const {
    if (plan_.form == kernels::GemmForm::rows) {
      plan_.kernel.pack_rows(from, p_.a.row, height, kc, to);
    } else {
      plan_.kernel.pack_a(from, p_.a.row, p_.a.col, height, height, kc, to);
    }
  }

  /// Where the strip at row i is in w.a.
  Acc* strip_of_a(const Work& w, Index i, Index steps) const {
    if (!plan_.whole_a) return w.a;
    return w.a + i * (plan_.form == kernels::GemmForm::rows ? kernels::kGemmRow<Acc> : steps);
  }

  /// All strips of the block's rows.
  void pack_all(const Work& w, const Block& block) const {
    const kernels::GemmStrips strips(block.rows.size(), plan_.strip, plan_.kernel.strip_unit);
    Index i = 0;
    for (Index s = 0; s < strips.count; ++s) {
      const Index height = strips.height(s);
      pack_strip(block.a + i * p_.a.row, height, block.kc, strip_of_a(w, i, block.steps));
      i += height;
    }
  }

  /// Strip after strip of A, or several at once where nothing is to be done between them.
  void multiply_block(const Work& w, const Block& block) const {
    const Index m = block.rows.size();
    if (block.to != nullptr) pack_b(block, block.to);
    const kernels::GemmStrips strips(m, plan_.strip, plan_.kernel.strip_unit);
    kernels::GemmBlock<Acc> g{};
    g.strip = plan_.strip;
    g.k = block.steps;
    g.add = block.p > 0;
    const bool direct_a = plan_.direct_a && whole_steps(block.kc);
    const bool at_once = plan_.whole_a || (direct_a && !plan_.strips);
    Index s = 0;
    for (Index i = 0; i < m; ++s) {
      const bool first = i == 0 && plan_.keep && block.to != nullptr;
      g.m = at_once && !first ? m - i : strips.height(s);
      const T* from = block.a + i * p_.a.row;
      if (!at_once) {
        g.ahead = next_strip(block, i + g.m, g.m);
      } else if (panels_in_place()) {
        g.ahead = next_panels(block, strips.count);
      }
      if (direct_a || first) {
        g.a = reinterpret_cast<const Acc*>(from);
        g.a_form = kernels::GemmForm::strides;
        g.a_row = p_.a.row;
        g.a_col = p_.a.col;
      } else {
        Acc* to = strip_of_a(w, i, block.steps);
        if (!plan_.whole_a) pack_strip(from, g.m, block.kc, to);
        g.a = to;
        g.a_form = plan_.form;
      }
      g.cold = i == 0 && panels_in_place();
      multiply_strips(w, block, g, i, columns_in_place(block, first), first);
      i += g.m;
    }
  }

  /// As many panels as those of this block, the ones behind them in memory: a part for each strip.
  kernels::GemmAhead next_panels(const Block& block, Index strips) const {
    const Index size = round_up(block.columns.size(), plan_.kernel.nr) * block.steps;
    const Index bytes = ceil_div(size * static_cast<Index>(sizeof(Acc)), strips);
    return {reinterpret_cast<const std::byte*>(block.panels + size), strips, bytes, bytes};
  }

  /// The strip at row i of the block, or the first one of the next chunk.
  kernels::GemmAhead next_strip(const Block& block, Index i, Index height) const {
    constexpr auto kSize = static_cast<Index>(sizeof(T));
    kernels::GemmAhead ahead;
    const Index m = block.rows.size();
    const T* from = block.a + i * p_.a.row;
    Index kc = block.kc;
    if (i >= m) {
      kc = std::min(chunk_, p_.k - block.p - block.kc);
      if (kc <= 0) return ahead;
      from = block.a + block.kc * p_.a.col;
    } else {
      height = std::min(height, m - i);
    }
    if (p_.a.col == 1) {
      ahead.pieces = height, ahead.step = p_.a.row * kSize, ahead.bytes = kc * kSize;
    } else if (p_.a.row == 1) {
      ahead.pieces = kc, ahead.step = p_.a.col * kSize, ahead.bytes = height * kSize;
    }
    ahead.data = reinterpret_cast<const std::byte*>(from);
    return ahead;
  }

  /// g.m rows of the block from the i-th on: `in_place` columns of B as they lie, the others
  /// packed.
  void multiply_strips(const Work& w, const Block& block, kernels::GemmBlock<Acc>& g, Index i,
                       Index in_place, bool keep) const {
    const Index nr = plan_.kernel.nr, n = block.columns.size();
    kernels::GemmFinish<Acc> finish;
    for (Index j = 0; j < n; j += g.n) {
      const bool direct = j < in_place;
      g.n = direct ? in_place : n - j;
      if (direct) {
        g.b = reinterpret_cast<const Acc*>(block.b + block.p * p_.b.row +
                                           block.columns.begin * p_.b.col);
        g.b_row = p_.b.row;
        g.b_panel = nr;
        g.keep = keep ? block.to : nullptr;
      } else {
        g.b = block.panels + (plan_.direct_b ? 0 : j * block.steps);
        g.b_row = nr;
        g.b_panel = nr * block.steps;
        g.keep = nullptr;
      }
      finish = block.finish.at(i, j);
      g.finish = plan_.finish && block.p + block.kc == p_.k ? &finish : nullptr;
      if (plan_.in_place) {
        g.sum = static_cast<Acc*>(finish.out);
        g.sum_row = p_.c.row;
      } else {
        g.sum_row = plan_.sum_row;
        g.sum = w.sum == nullptr ? nullptr
                                 : w.sum + i * g.sum_row + j +
                                       (plan_.whole_a ? block.columns.begin - w.columns.begin : 0);
      }
      plan_.kernel.block(g);
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
