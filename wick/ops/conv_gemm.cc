// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <type_traits>

#include "wick/base/function_ref.h"
#include "wick/kernels/cast.h"
#include "wick/kernels/copy.h"
#include "wick/ops/conv_paths.h"
#include "wick/ops/gemm_paths.h"
#include "wick/ops/scratch.h"

namespace wick {
namespace {

/// The most outputs of one part: further ones would only take more of the cache.
constexpr Index kMostColumns = 2048;
/// Lines longer than this are cut.
constexpr Index kLongLine = 1024;

/// What does not depend on the type of the elements.
struct Geometry {
  Index batch, groups, outputs, channels;
  ConvAxis y, x;
  const std::byte* in;
  ConvStrides in_step;
  const std::byte* kernel;
  Index kernel_g, kernel_o, kernel_c, kernel_y, kernel_x;
  Index element;         ///< bytes of one
  kernels::CastFn load;  ///< to what is added in
  Index chunk;
  bool one_run;  ///< neighbouring lines of the output, and of the residual, follow each other
  Index out_line, residual_line;

  Index taps() const { return y.taps * x.taps; }
  Index k() const { return channels * taps(); }
};

template <class Acc>
class Driver {
 public:
  using FinishAt = FunctionRef<kernels::GemmFinish<Acc>(Index n, Index g, Index y, Index x)>;
  using PackElement =
      std::conditional_t<std::is_same_v<Acc, std::uint32_t>, u32,
                         std::conditional_t<std::is_same_v<Acc, std::uint64_t>, i64, Acc>>;

  Driver(const Geometry& geometry, FinishAt finish)
      : g_(geometry),
        finish_(finish),
        kernel_(kernels::conv<Acc>()),
        pack_(kernels::gemm<PackElement>().pack_a) {}

  void run(Executor& executor) {
    const double work = static_cast<double>(g_.batch * g_.groups) *
                        static_cast<double>(g_.outputs * g_.y.out * g_.x.out) *
                        static_cast<double>(g_.k());
    threads_ = executor.threads();
    if (work < static_cast<double>(kWorkPerRank * threads_))
      threads_ = std::max(Index{1}, static_cast<Index>(work / static_cast<double>(kWorkPerRank)));
    choose();
    const Scratch weights(gather_bytes(), "conv");
    prepare_weights(weights.data(), executor);
    const Index ranks = std::min(threads_, tasks_);
    const Scratch scratch(checked_mul(bytes_, ranks, "conv", "scratch"), "conv");
    executor.run(static_cast<int>(ranks), [&](int rank) {
      run_tasks(piece(tasks_, 1, rank, ranks), scratch.data() + rank * bytes_);
    });
  }

 private:
  static constexpr Index kAcc = sizeof(Acc);

  // --- What is decided before the loops
  // -----------------------------------------------------------

  Planes lines(Index rows) const { return Planes(g_.y, rows, true); }
  /// Where a part is more than one line, what follows an output's line is the next one.
  Planes columns(Index rows, Index width) const { return Planes(g_.x, width, rows == 1); }

  Index buffer_elements(Index rows, Index width, Index channels) const {
    const Planes l = lines(rows), c = columns(rows, width);
    return channels * l.count * c.count * l.size * c.size;
  }

  /// Channels that one chunk of k meets.
  Index chunk_channels() const {
    return g_.k() == 0 ? 0 : std::min(g_.channels, (g_.chunk - 1) / g_.taps() + 2);
  }

  void choose() {
    const Index room = cache_sizes().l2 * 2 / 5, nr = kernel_.nr;
    const Index once = chunk_channels();
    width_ = g_.x.out;
    const Index line_bytes = buffer_elements(1, width_, once) * kAcc;
    Index pieces = ceil_div(width_, kLongLine);
    if (width_ > nr) pieces = std::max(pieces, ceil_div(line_bytes, room));
    if (pieces > 1) width_ = std::min(width_, round_up(ceil_div(width_, pieces), nr));
    rows_ = pieces > 1 ? 1 : choose_rows(room, once);
    bands_ = ceil_div(g_.y.out, rows_);
    blocks_ = ceil_div(g_.x.out, width_);
    const Index parts = g_.batch * g_.groups * bands_ * blocks_;
    // Sums of a part stay in L2.
    const Index most = std::max(kernel_.mr, room / (rows_ * width_ * kAcc));
    Index cuts = ceil_div(g_.outputs, most);
    if (parts * cuts < threads_) cuts = ceil_div(threads_, parts);
    height_ = round_up(ceil_div(g_.outputs, cuts), kernel_.mr);
    cuts_ = ceil_div(g_.outputs, height_);
    tasks_ = checked_mul(parts, cuts_, "conv", "parts");

    whole_ = buffer_elements(rows_, width_, g_.channels) * kAcc <= room;
    const Index channels = whole_ ? g_.channels : once;
    const Index kc = std::min(g_.chunk, g_.k());
    const bool sums = g_.k() > g_.chunk;
    at_bytes_ = round_up((kc + 2 * kernels::kConvAhead) * Index{sizeof(Index)}, 64);
    a_bytes_ = round_up((kernel_.mr * kc + kernels::kGemmSlack) * kAcc, 64);
    const Index elements =
        checked_add(checked_mul(buffer_elements(rows_, width_, 1), channels, "conv", "scratch"), nr,
                    "conv", "scratch");
    buffer_bytes_ = round_up(checked_mul(elements, kAcc, "conv", "scratch"), 64);
    sum_row_ = round_up(rows_ * width_, nr);
    sum_bytes_ = sums ? round_up(std::min(height_, g_.outputs) * sum_row_ * kAcc, 64) : 0;
    bytes_ = at_bytes_ + a_bytes_ + buffer_bytes_ + sum_bytes_;
  }

  /// Lines of the output that are done at once: many share more lines of the input, and fill whole
  /// tiles, few fit into L2 and are a share for every thread. In cycles: two vectors of products in
  /// one, a third for an element that is copied or packed.
  Index choose_rows(Index room, Index once) const {
    const Index half = kernel_.nr / 2;
    const auto k = static_cast<double>(g_.k()), outputs = static_cast<double>(g_.outputs);
    Index best = 1;
    double least = -1;
    for (Index rows = 1; rows <= std::min(g_.y.out, Index{256}); ++rows) {
      const Index size = rows * g_.x.out;
      if (rows > 1 && (size > kMostColumns || buffer_elements(rows, g_.x.out, once) * kAcc > room))
        break;
      const Index parts = g_.batch * g_.groups * ceil_div(g_.y.out, rows);
      const double copy = 0.3 * static_cast<double>(buffer_elements(rows, g_.x.out, g_.channels));
      const double multiply =
          outputs * k *
          (static_cast<double>(round_up(size, half)) / static_cast<double>(2 * half) + 0.3);
      const double cost = parts >= threads_
                              ? static_cast<double>(ceil_div(parts, threads_)) * (copy + multiply)
                              : copy + multiply / static_cast<double>(ceil_div(threads_, parts));
      if (least < 0 || cost < least) least = cost, best = rows;
    }
    return best;
  }

  // --- The kernel as rows of k
  // --------------------------------------------------------------------

  /// Its elements follow each other in the order of k.
  bool kernel_in_order() const {
    return (g_.x.taps <= 1 || g_.kernel_x == 1) && (g_.y.taps <= 1 || g_.kernel_y == g_.x.taps) &&
           (g_.channels <= 1 || g_.kernel_c == g_.taps());
  }
  bool kernel_in_place() const { return kernel_in_order() && g_.element == kAcc; }

  Index gather_bytes() const {
    if (kernel_in_place()) return 0;
    return checked_mul(checked_mul(g_.groups * g_.outputs, g_.k(), "conv", "scratch"), kAcc, "conv",
                       "scratch");
  }

  void prepare_weights(std::byte* scratch, Executor& executor) {
    if (kernel_in_place()) {
      a_ = reinterpret_cast<const Acc*>(g_.kernel);
      a_group_ = g_.kernel_g;
      a_row_ = g_.kernel_o;
      return;
    }
    auto* to = reinterpret_cast<Acc*>(scratch);
    const Index k = g_.k();
    a_ = to;
    a_group_ = g_.outputs * k;
    a_row_ = k;
    if (k == 0) return;
    // Pieces of some rows, each place of the window on its own.
    const Index per_piece = std::clamp(Index{32768} / k, Index{1}, g_.outputs);
    const Index cuts = ceil_div(g_.outputs, per_piece), pieces = g_.groups * cuts;
    const Index ranks = std::min(threads_, pieces);
    executor.run(static_cast<int>(ranks), [&](int rank) {
      const Range mine = piece(pieces, 1, rank, ranks);
      for (Index i = mine.begin; i < mine.end; ++i) {
        const Index group = i / cuts, o = i % cuts * per_piece;
        const Index rows = std::min(per_piece, g_.outputs - o);
        gather(to + group * a_group_ + o * k,
               g_.kernel + (group * g_.kernel_g + o * g_.kernel_o) * g_.element, rows);
      }
    });
  }

  void gather(Acc* to, const std::byte* from, Index rows) const {
    const Index k = g_.k();
    if (kernel_in_order()) return g_.load(to, from, {k, rows, {1, 1}, {k, g_.kernel_o}});
    for (Index i = 0; i < g_.y.taps; ++i)
      for (Index j = 0; j < g_.x.taps; ++j)
        g_.load(to + i * g_.x.taps + j, from + (i * g_.kernel_y + j * g_.kernel_x) * g_.element,
                {g_.channels, rows, {g_.taps(), g_.kernel_c}, {k, g_.kernel_o}});
  }

  // --- The loops
  // ----------------------------------------------------------------------------------

  /// The state of one thread.
  struct Work {
    Index* at;
    Acc *a, *buffer, *sum;
    Index filled = -1;  ///< the part whose input is in the buffer, all of it
  };

  /// Some outputs: lines and columns of one image, channels of one group.
  struct Part {
    Index number, n, group;
    Range rows, columns, outputs;
    Planes lines, places;
    Index channel;  ///< elements of one channel in the buffer
    Index size() const { return rows.size() * columns.size(); }
  };

  Part part(Index task) const {
    const Index cut = task % cuts_, number = task / cuts_;
    const Index block = number % blocks_, band = number / blocks_ % bands_;
    const Index image = number / blocks_ / bands_;
    const Range rows{band * rows_, std::min(g_.y.out, (band + 1) * rows_)};
    const Range columns{block * width_, std::min(g_.x.out, (block + 1) * width_)};
    const Planes l(g_.y, rows.size(), true), p(g_.x, columns.size(), rows_ == 1);
    return {number,
            image / g_.groups,
            image % g_.groups,
            rows,
            columns,
            {cut * height_, std::min(g_.outputs, (cut + 1) * height_)},
            l,
            p,
            l.count * p.count * l.size * p.size};
  }

  void run_tasks(Range tasks, std::byte* scratch) const {
    Work w{};
    w.at = reinterpret_cast<Index*>(scratch);
    w.a = reinterpret_cast<Acc*>(scratch + at_bytes_);
    w.buffer = reinterpret_cast<Acc*>(scratch + at_bytes_ + a_bytes_);
    w.sum = sum_bytes_ == 0
                ? nullptr
                : reinterpret_cast<Acc*>(scratch + at_bytes_ + a_bytes_ + buffer_bytes_);
    for (Index i = tasks.begin; i < tasks.end; ++i) multiply(w, part(i));
  }

  void multiply(Work& w, const Part& part) const {
    const Index k = g_.k(), taps = g_.taps();
    if (whole_ && w.filled != part.number && k > 0) {
      fill(w, part, {0, g_.channels});
      w.filled = part.number;
    }
    const kernels::GemmFinish<Acc> result =
        finish_(part.n, part.group, part.rows.begin, part.columns.begin);
    for (Index p = 0; p < k || p == 0; p += g_.chunk) {
      const Index kc = std::min(g_.chunk, k - p);
      if (kc > 0) {
        const Range channels{p / taps, (p + kc - 1) / taps + 1};
        if (!whole_) fill(w, part, channels);
        find_rows(w, part, p, kc, whole_ ? 0 : channels.begin);
      }
      multiply_chunk(w, part, p, kc, result);
    }
  }

  void multiply_chunk(const Work& w, const Part& part, Index p, Index kc,
                      const kernels::GemmFinish<Acc>& result) const {
    kernels::ConvBlock<Acc> g{};
    g.n = part.size();
    g.k = kc;
    g.b = w.buffer;
    g.at = w.at;
    g.sum_row = sum_row_;
    g.add = p > 0;
    g.line = part.rows.size() > 1 && !g_.one_run ? part.columns.size() : 0;
    g.out_line = g_.out_line;
    g.residual_line = g_.residual_line;
    // Packing pays where a strip meets several panels, or rows push each other out of L1.
    g.packed = part.size() > 2 * kernel_.nr || a_row_ * kAcc % 4096 == 0;
    g.a_row = a_row_;
    const kernels::GemmStrips strips(part.outputs.size(), kernel_.mr);
    Index i = 0;
    for (Index s = 0; s < strips.count; i += g.m, ++s) {
      g.m = strips.height(s);
      g.a = a_ + part.group * a_group_ + (part.outputs.begin + i) * a_row_ + p;
      if (g.packed) {
        pack_(reinterpret_cast<const PackElement*>(g.a), a_row_, 1, g.m, g.m, kc, w.a);
        g.a = w.a;
      }
      g.sum = w.sum == nullptr ? nullptr : w.sum + i * sum_row_;
      const kernels::GemmFinish<Acc> finish = result.at(part.outputs.begin + i, 0);
      g.finish = p + kc == g_.k() ? &finish : nullptr;
      kernel_.block(g);
    }
  }

  /// Where the rows of the chunk of k begin in the buffer, whose first channel is `channel`.
  void find_rows(const Work& w, const Part& part, Index p, Index kc, Index channel) const {
    const Index taps = g_.taps();
    Index c = p / taps, i = p % taps / g_.x.taps, j = p % g_.x.taps;
    for (Index q = 0; q < kc; ++q) {
      const Index plane = part.places.plane(j) * part.lines.count + part.lines.plane(i);
      w.at[q] = (c - channel) * part.channel +
                (plane * part.lines.size + part.lines.shift(i)) * part.places.size +
                part.places.shift(j);
      if (++j < g_.x.taps) continue;
      j = 0;
      if (++i < g_.y.taps) continue;
      i = 0;
      ++c;
    }
    std::fill_n(w.at + kc, 2 * kernels::kConvAhead, w.at[kc - 1]);
  }

  /// Copies these channels of the input to the buffer, with zeros around it.
  void fill(const Work& w, const Part& part, Range channels) const {
    const Planes &lines = part.lines, &places = part.places;
    const Index width = places.size, plane = lines.size * width;
    const Index in_x = g_.in_step.x * g_.x.stride, in_y = g_.in_step.y * g_.y.stride;
    const bool channels_last = in_x != 1 && g_.in_step.c == 1 && channels.size() > 1;
    const std::byte* in = g_.in + (part.n * g_.in_step.n +
                                   (part.group * g_.channels + channels.begin) * g_.in_step.c) *
                                      g_.element;
    const auto source = [&](Index y, Index x) {
      return in + (y * g_.in_step.y + x * g_.in_step.x) * g_.element;
    };
    for (Index b = 0; b < places.count; ++b) {
      const Index x = places.first(b, part.columns.begin);
      const Range there = places.inside(x);
      for (Index a = 0; a < lines.count; ++a) {
        const Index y = lines.first(a, part.rows.begin);
        const Range rows = lines.inside(y);
        Acc* to = w.buffer + (b * lines.count + a) * plane;
        const bool all = rows.size() == lines.size && there.size() == width;
        for (Index c = 0; c < channels.size() && !all; ++c)
          clear_around(to + c * part.channel, lines.size, width, rows, there);
        if (rows.size() <= 0 || there.size() <= 0) continue;
        to += rows.begin * width + there.begin;
        const Index from_y = y + rows.begin * g_.y.stride, from_x = x + there.begin * g_.x.stride;
        if (channels_last) {
          for (Index r = 0; r < rows.size(); ++r)
            g_.load(to + r * width, source(from_y + r * g_.y.stride, from_x),
                    {there.size(), channels.size(), {1, in_x}, {part.channel, 1}});
        } else {
          for (Index c = 0; c < channels.size(); ++c)
            g_.load(to + c * part.channel, source(from_y, from_x) + c * g_.in_step.c * g_.element,
                    {there.size(), rows.size(), {1, in_x}, {width, in_y}});
        }
      }
    }
    // Tiles read past the last row.
    std::fill_n(w.buffer + channels.size() * part.channel, kernel_.nr, Acc{0});
  }

  static void clear_around(Acc* to, Index height, Index width, Range rows, Range there) {
    if (there.size() == 0) rows = {0, 0};
    std::fill_n(to, rows.begin * width, Acc{0});
    for (Index r = rows.begin; r < rows.end; ++r) {
      std::fill_n(to + r * width, there.begin, Acc{0});
      std::fill_n(to + r * width + there.end, width - there.end, Acc{0});
    }
    std::fill_n(to + rows.end * width, (height - rows.end) * width, Acc{0});
  }

  const Geometry& g_;
  FinishAt finish_;
  kernels::Conv<Acc> kernel_;
  typename kernels::Gemm<PackElement>::Pack pack_;
  Index threads_ = 1;
  Index rows_ = 1, width_ = 1, height_ = 1;              // of a part: lines, columns, channels
  Index bands_ = 1, blocks_ = 1, cuts_ = 1, tasks_ = 1;  // how often these are in an image
  bool whole_ = false;                                   // all channels are in the buffer
  Index at_bytes_ = 0, a_bytes_ = 0, buffer_bytes_ = 0, sum_bytes_ = 0, bytes_ = 0;
  Index sum_row_ = 0;
  const Acc* a_ = nullptr;
  Index a_group_ = 0, a_row_ = 0;
};

}  // namespace

template <Element T>
void conv_gemm(const ConvProblem<T>& p) {
  Geometry g{};
  g.batch = p.batch, g.groups = p.groups, g.outputs = p.outputs, g.channels = p.channels;
  g.y = p.y, g.x = p.x;
  g.in = reinterpret_cast<const std::byte*>(p.in), g.in_step = p.in_step;
  g.kernel = reinterpret_cast<const std::byte*>(p.kernel);
  g.kernel_g = p.kernel_g, g.kernel_o = p.kernel_o, g.kernel_c = p.kernel_c;
  g.kernel_y = p.kernel_y, g.kernel_x = p.kernel_x;
  g.element = sizeof(T);
  g.load = conv_load<T>();
  g.chunk = kGemmChunk<T>;
  const bool residual = p.epilogue.residual.data != nullptr;
  g.out_line = p.out_step.y;
  g.residual_line = residual ? p.residual_step.y : 0;
  g.one_run = p.out_step.y == p.x.out * p.out_step.x &&
              (!residual || p.residual_step.y == p.x.out * p.residual_step.x);
  const auto finish = [&](Index n, Index group, Index y, Index x) {
    return conv_finish(p, n, group, y, x);
  };
  Driver<kernels::GemmAcc<T>>(g, finish).run(current_executor());
}

#define WICK_INSTANTIATE(T) template void conv_gemm(const ConvProblem<T>&);
WICK_FOR_ELEMENTS(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE

}  // namespace wick
