// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "wick/kernels/gemv.h"
#include "wick/ops/gemm_paths.h"
#include "wick/ops/scratch.h"

namespace wick {
namespace {

/// Most rows: a larger product is as fast when B is packed first.
constexpr Index kMostRows = kernels::kGemvRows;
/// Working memory up to this size lives on the stack.
constexpr Index kStackBytes = 32 << 10;
/// Elements of A that are used together stay in L1 beside what is read of B.
constexpr Index kLeftBytes = 24 << 10;

template <Element T, class Out>
class Thin {
 public:
  using Acc = kernels::GemmAcc<T>;
  static constexpr Index kChunk = kGemmChunk<T>;
  static constexpr auto kBytes = static_cast<Index>(sizeof(T));

  Thin(const GemmProblem<T, Out>& problem, const GemmBatch& batch)
      : p_(problem),
        batch_(batch),
        count_(batch.count()),
        gemm_(kernels::gemm<T>()),
        gemv_(kernels::gemv<T>()) {
    if (p_.n < p_.m) turn(p_, batch_);
    by_columns_ = p_.b.row == 1 && (p_.b.col != 1 || p_.n == 1);
  }

  /// Few rows, and the elements of B's rows or columns next to each other.
  bool fits(bool forced) const {
    // Native products of pairs add in another order.
    if (p_.m > kMostRows || p_.k == 0 || gemm_.depth != 1) return false;
    const Index b_size = p_.k * p_.n * static_cast<Index>(sizeof(Acc));
    // Small B is as well off with the block kernel, which has larger tiles.
    const bool large = forced || b_size > cache_sizes().l2 / 4;
    if (!by_columns_) return p_.b.col == 1 && large;
    if (p_.m <= kernels::kGemvColumnRows) return p_.k >= gemv_.lanes || forced;
    return p_.m <= 2 * gemv_.lanes && large;
  }

  void run(Executor& executor, Index ranks) {
    split(executor, ranks);
    choose_kernel();
    in_place_ = holds_sums(p_) && sums_are_results(p_) && slots_ == 1;
    constexpr auto kAcc = static_cast<Index>(sizeof(Acc));
    sum_bytes_ = in_place_ ? 0 : round_up(p_.m * part_n_ * kAcc, 64);
    const Index a_size = across_ ? group_ * a_width_ + kernels::kGemmSlack : p_.m * a_stride_;
    left_bytes_ = copy_a_ ? round_up(a_size * kAcc, 64) : 0;
    const Index bytes = slots_ * sum_bytes_ + split_.ranks * left_bytes_ +
                        (slots_ > 1 ? 0 : (split_.ranks - 1) * sum_bytes_);
    if (bytes <= kStackBytes && split_.ranks == 1) {
      alignas(64) std::byte stack[kStackBytes];
      return run_rank(0, stack, stack + sum_bytes_ * slots_);
    }
    const Scratch scratch(bytes, "gemm");
    std::byte* const left = scratch.data() + bytes - split_.ranks * left_bytes_;
    if (slots_ > 1) return run_chunks(executor, scratch.data(), left);
    executor.run(static_cast<int>(split_.ranks), [&](int rank) {
      run_rank(rank, scratch.data() + rank * sum_bytes_, left + rank * left_bytes_);
    });
  }

 private:
  /// By products or by columns; whole chunks of k where columns are too few for that.
  void split(Executor& executor, Index ranks) {
    // An element of B costs as much as four multiply-adds.
    const Index cost = p_.k * std::max(p_.m, Index{4}) / p_.m;
    const Index unit = by_columns_ ? gemv_.lanes : std::max(gemm_.nr, 64 / kBytes);
    const Index chunks = ceil_div(p_.k, kChunk);
    split_ = gemm_split(p_.m, p_.n, cost, count_, p_.m, unit, executor.threads(), ranks);
    part_n_ = split_.by_product
                  ? p_.n
                  : std::min(p_.n, round_up(ceil_div(p_.n, split_.grid_n), unit) + unit);
    const Index wanted = ranks > 0 ? ranks : executor.threads();
    const Index width = by_columns_ ? 1 : 256 / kBytes;
    if (split_.by_product || count_ > 1 || chunks < 2 * wanted || p_.n >= wanted * unit * 4) return;
    if (p_.n / std::max(split_.ranks, Index{1}) >= width * 16 && split_.ranks == wanted) return;
    const Index pieces = std::min(wanted, p_.m * p_.n * cost / kWorkPerRank);
    if (pieces < 2) return;
    split_ = GemmSplit{};
    split_.ranks = pieces;
    part_n_ = p_.n;
    slots_ = chunks;
  }

  void choose_kernel() {
    const Index lanes = gemv_.lanes;
    far_ = p_.k * p_.n * kBytes > cache_sizes().l2 / 2;
    if (by_columns_) {
      side_ = p_.m * p_.n <= 6 && p_.k >= 2 * kChunk;
      across_ = !side_ && p_.m > kernels::kGemvColumnRows;
      kernel_ = side_ ? gemv_.side : across_ ? gemv_.across : gemv_.columns;
    } else {
      side_ = p_.n <= lanes && p_.k > kChunk;
      kernel_ = side_ ? gemv_.side : gemv_.rows;
    }
    // In another type or order than in memory.
    const bool few = p_.m <= kernels::kGemvColumnRows;
    copy_a_ = sizeof(T) != sizeof(Acc) || across_ || !(p_.a.col == 1 && few);
    a_width_ = across_ ? round_up(p_.m, lanes) : p_.m;
    const Index least = side_ ? 8 : 1;
    const Index chunk_bytes = kChunk * a_width_ * static_cast<Index>(sizeof(Acc));
    const Index most = by_columns_ || copy_a_ ? std::max(kLeftBytes / chunk_bytes, least) : p_.k;
    group_ = std::min(p_.k, most * kChunk);
    a_stride_ = group_ + 16;  // not all rows of A on the same few sets of L1
  }

  void run_rank(Index rank, std::byte* sum, std::byte* left) const {
    const GemmSplit::Part part = split_.part(rank, count_, p_.m, p_.n);
    for (Index i = part.products.begin; i < part.products.end; ++i) {
      const GemmBatch::Offsets at = batch_.offsets(i);
      const kernels::GemmFinish<Acc> finish = gemm_finish(p_, at).at(0, part.columns.begin);
      auto* const sums = reinterpret_cast<Acc*>(in_place_ ? finish.out : sum);
      const Index sum_row = in_place_ ? p_.c.row : part_n_;
      multiply(at, part.columns, {0, p_.k}, sums, sum_row, 0, left);
      if (!in_place_) finish.apply(finish, sums, sum_row, 0, 0, p_.m, part.columns.size());
    }
  }

  /// Every rank some chunks, then their sums in order.
  void run_chunks(Executor& executor, std::byte* memory, std::byte* left) const {
    auto* const sums = reinterpret_cast<Acc*>(memory);
    const Index slot = sum_bytes_ / static_cast<Index>(sizeof(Acc));
    const GemmBatch::Offsets at = batch_.offsets(0);
    executor.run(static_cast<int>(split_.ranks), [&](int rank) {
      const Range chunks = piece(slots_, 1, rank, split_.ranks);
      const Range k{chunks.begin * kChunk, std::min(p_.k, chunks.end * kChunk)};
      multiply(at, {0, p_.n}, k, sums + chunks.begin * slot, p_.n, slot, left + rank * left_bytes_);
    });
    for (Index c = 1; c < slots_; ++c) {
      const Acc* const next = sums + c * slot;
      for (Index i = 0; i < p_.m * p_.n; ++i) sums[i] += next[i];
    }
    const kernels::GemmFinish<Acc> finish = gemm_finish(p_, at);
    finish.apply(finish, sums, p_.n, 0, 0, p_.m, p_.n);
  }

  /// Some columns of C, some chunks of k, of which as many at a time as A has room in L1.
  void multiply(GemmBatch::Offsets at, Range columns, Range k, Acc* sum, Index sum_row,
                Index sum_chunk, std::byte* left) const {
    kernels::GemvBlock<T> g{};
    g.m = p_.m;
    g.n = columns.size();
    g.chunk = kChunk;
    g.b_step = by_columns_ ? p_.b.col : p_.b.row;
    g.sum_row = sum_row;
    g.sum_chunk = sum_chunk;
    g.far = far_;
    const T* a = p_.a.data + at.a;
    const T* b = p_.b.data + at.b + columns.begin * p_.b.col;
    for (Index p = k.begin; p < k.end; p += group_) {
      g.k = std::min(group_, k.end - p);
      if (copy_a_) {
        auto* const copy = reinterpret_cast<Acc*>(left);
        g.a = copy;
        if (across_) {
          gemm_.pack(a + p * p_.a.col, p_.a.row, p_.a.col, p_.m, a_width_, g.k, copy);
          g.a_row = 1;
          g.a_col = a_width_;
        } else {
          for (Index r = 0; r < p_.m; ++r)
            gemv_.copy(a + r * p_.a.row + p * p_.a.col, p_.a.col, g.k, copy + r * a_stride_);
          g.a_row = a_stride_;
          g.a_col = 1;
        }
      } else {
        g.a = reinterpret_cast<const Acc*>(a + p * p_.a.col);
        g.a_row = p_.a.row;
        g.a_col = p_.a.col;
      }
      g.b = b + p * p_.b.row;
      g.sum = sum + (p - k.begin) / kChunk * sum_chunk;
      g.add = p > k.begin;
      if (side_ && by_columns_) {
        one_by_one(g);
      } else {
        kernel_(g);
      }
    }
  }

  /// Columns that lie apart, each as a matrix of one column.
  void one_by_one(kernels::GemvBlock<T> g) const {
    const Index n = g.n;
    g.n = 1;
    g.b_step = 1;
    for (Index j = 0; j < n; ++j, g.b += p_.b.col, ++g.sum) kernel_(g);
  }

  GemmProblem<T, Out> p_;
  GemmBatch batch_;
  Index count_;
  kernels::Gemm<T> gemm_;
  kernels::Gemv<T> gemv_;
  GemmSplit split_;
  typename kernels::Gemv<T>::Run kernel_ = nullptr;
  bool by_columns_ = false;  // B's columns are contiguous
  bool in_place_ = false, far_ = false, side_ = false, across_ = false, copy_a_ = false;
  Index part_n_ = 0;    // most columns of a rank
  Index slots_ = 1;     // places for the sums of single chunks
  Index group_ = 0;     // elements of k at once, whole chunks
  Index a_width_ = 0;   // of a copy of A: elements for each of k,
  Index a_stride_ = 0;  // or from row to row
  Index sum_bytes_ = 0, left_bytes_ = 0;
};

}  // namespace

template <Element T, class Out>
bool gemm_thin([[maybe_unused]] const GemmProblem<T, Out>& problem,
               [[maybe_unused]] const GemmBatch& batch, [[maybe_unused]] Executor& executor,
               [[maybe_unused]] const GemmTuning& tuning) {
  if constexpr (Float<T>) {
    if (std::min(problem.m, problem.n) > kMostRows) return false;
    Thin<T, Out> thin(problem, batch);
    if (!thin.fits(tuning.path == GemmTuning::Path::thin)) return false;
    thin.run(executor, tuning.ranks);
    return true;
  } else {
    return false;
  }
}

#define WICK_INSTANTIATE(T, Out)                                                   \
  template bool gemm_thin(const GemmProblem<T, Out>&, const GemmBatch&, Executor&, \
                          const GemmTuning&);
WICK_FOR_GEMM(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE

}  // namespace wick
