// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "wick/kernels/conv_depthwise.h"
#include "wick/ops/conv_paths.h"
#include "wick/ops/scratch.h"

namespace wick {
namespace {

/// The input of a part, with zeros around it, is copied to a buffer of this size at most, which
/// stays in L2 (a line with its neighbours may need more).
constexpr Index kBufferBytes = Index{128} << 10;
/// Channels that go together where they are neighbours in memory.
constexpr Index kChannels = 64;

template <Float T>
class DepthwiseDriver {
 public:
  using Acc = kernels::GemmAcc<T>;

  explicit DepthwiseDriver(const ConvProblem<T>& p)
      : p_(p),
        load_(conv_load<T>()),
        kernels_(kernels::depthwise<Acc>()),
        columns_(p.x, p.x.out, true) {
    channels_last_ = p.outputs == 1 && p.in_step.c == 1 && p.in_step.x != 1;
    together_ = channels_last_ ? std::min(p.groups, kChannels) : 1;
    blocks_ = ceil_div(p.groups, together_);
    // A place of the buffer, and a line of it: columns in planes, or pixels as they are.
    place_ = channels_last_ ? round_up(together_, 16) : 1;
    const Index wide = (p.x.out - 1) * p.x.stride + (p.x.taps - 1) * std::abs(p.x.step) + 1;
    line_ = channels_last_ ? checked_mul(wide, place_, "conv", "a line")
                           : columns_.count * columns_.size;
    direct_ = sizeof(T) == sizeof(Acc) && p.epilogue.empty() &&
              p.alpha == static_cast<Compute<T>>(1) && p.beta == static_cast<Compute<T>>(0) &&
              (channels_last_ ? p.out_step.c == 1 : p.out_step.x == 1);
  }

  void run(Executor& executor) {
    const double work = static_cast<double>(p_.batch * p_.groups * p_.outputs) *
                        static_cast<double>(p_.y.out * p_.x.out) * static_cast<double>(p_.taps());
    // Memory is what takes the time: an element as long as eight products.
    Index threads = executor.threads();
    const double worth = 8 * work / static_cast<double>(kWorkPerRank);
    if (worth < static_cast<double>(threads))
      threads = std::max(Index{1}, static_cast<Index>(worth));
    const Index fits = (kBufferBytes / (line_ * kAcc) - reach() + p_.y.stride) / p_.y.stride;
    rows_ = std::clamp(fits, Index{1}, p_.y.out);
    const Index parts = p_.batch * blocks_;
    if (parts < threads) rows_ = std::min(rows_, ceil_div(p_.y.out, ceil_div(threads, parts)));
    bands_ = ceil_div(p_.y.out, rows_);
    rows_ = ceil_div(p_.y.out, bands_);
    bands_ = ceil_div(p_.y.out, rows_);
    const Index tasks = checked_mul(parts, bands_, "conv", "parts");
    const Index ranks = std::min(threads, tasks);
    const auto elements = [&](Index a, Index b) { return checked_mul(a, b, "conv", "scratch"); };
    buffer_ = round_up(elements(line_, height(rows_)) + kernels::kDepthwiseSlack, 16);
    weights_ = round_up(elements(p_.taps(), channels_last_ ? place_ : p_.outputs), 16);
    tile_row_ = channels_last_ ? place_ : round_up(p_.x.out, 16);
    tile_ = direct_ ? 0 : elements(tile_row_, channels_last_ ? p_.x.out : rows_);
    const Index bytes = elements(buffer_ + weights_ + tile_, kAcc);
    const Scratch scratch(elements(bytes, ranks), "conv");
    executor.run(static_cast<int>(ranks), [&](int rank) {
      auto* memory = reinterpret_cast<Acc*>(scratch.data() + rank * bytes);
      std::fill_n(memory, buffer_ + weights_, Acc{0});
      const Range mine = piece(tasks, 1, rank, ranks);
      Places at;
      Index lines_of_at = 0;
      for (Index i = mine.begin; i < mine.end; ++i) part(i, memory, at, lines_of_at);
    });
  }

 private:
  static constexpr Index kAcc = sizeof(Acc);

  /// Lines of the input that one line of the output meets, and that `rows` do.
  Index reach() const { return (p_.y.taps - 1) * std::abs(p_.y.step) + 1; }
  Index height(Index rows) const { return (rows - 1) * p_.y.stride + reach(); }

  using Places = std::array<Index, static_cast<std::size_t>(kGemmChunk<T>)>;

  /// `at` holds the places of windows in a buffer of `lines_of_at` lines.
  void part(Index task, Acc* memory, Places& at, Index& lines_of_at) const {
    const Index band = task % bands_, block = task / bands_ % blocks_, n = task / bands_ / blocks_;
    const Range rows{band * rows_, std::min(p_.y.out, (band + 1) * rows_)};
    const Index group = block * together_, count = std::min(together_, p_.groups - group);
    Acc *buffer = memory, *weights = memory + buffer_, *tile = weights + weights_;
    kernels::Depthwise<Acc> g{};
    g.rows = rows.size();
    g.columns = p_.x.out;
    g.taps = p_.taps();
    g.x_row = p_.y.stride * line_;
    g.w = weights;
    g.at = at.data();
    if (channels_last_) {
      g.channels = count;
      g.x_column = p_.x.stride * place_;
      g.w_row = place_;
    }
    g.x = buffer;
    if (lines_of_at != height(rows.size())) {
      lines_of_at = height(rows.size());
      for (Index t = 0; t < g.taps; ++t)
        at[static_cast<std::size_t>(t)] = place_of(t / p_.x.taps, t % p_.x.taps, lines_of_at);
    }
    if (!channels_last_) g.x_row = p_.y.stride * columns_.size;
    fill(buffer, n, group, count, rows);
    load_weights(weights, group, count);
    if (channels_last_) {
      pixels(g, tile, conv_finish(p_, n, group, rows.begin, 0));
    } else {
      for (Index o = 0; o < p_.outputs; ++o, g.w += g.taps)
        lines(g, tile, conv_finish(p_, n, group, rows.begin, 0).at(o, 0));
    }
  }

  void load_weights(Acc* to, Index group, Index count) const {
    const T* from = p_.kernel + group * p_.kernel_g;
    const Index taps = p_.taps();
    if (!channels_last_ && (p_.x.taps == 1 || p_.kernel_x == 1) &&
        (p_.y.taps == 1 || p_.kernel_y == p_.x.taps))
      return load_(to, from, {taps, p_.outputs, {1, 1}, {taps, p_.kernel_o}});
    for (Index i = 0; i < p_.y.taps; ++i)
      for (Index j = 0; j < p_.x.taps; ++j)
        load_(to + (i * p_.x.taps + j) * (channels_last_ ? place_ : 1),
              from + i * p_.kernel_y + j * p_.kernel_x,
              channels_last_ ? Loop2<2>{count, 1, {1, p_.kernel_g}, {0, 0}}
                             : Loop2<2>{p_.outputs, 1, {taps, p_.kernel_o}, {0, 0}});
  }

  /// Where place (i, j) of the window of the first output lies in the buffer, `lines` high.
  Index place_of(Index i, Index j, Index lines) const {
    const Index y = (p_.y.step < 0 ? p_.y.taps - 1 - i : i) * std::abs(p_.y.step);
    if (!channels_last_) return (columns_.plane(j) * lines + y) * columns_.size + columns_.shift(j);
    const Index x = (p_.x.step < 0 ? p_.x.taps - 1 - j : j) * std::abs(p_.x.step);
    return y * line_ + x * place_;
  }

  static Index lowest(const ConvAxis& a) { return a.step < 0 ? (a.taps - 1) * a.step : 0; }
  /// Places of `size` neighbouring ones, the first at input `first`, that the input has.
  static Range inside(Index first, Index size, Index in) {
    const Index begin = std::clamp(-first, Index{0}, size);
    return {begin, std::clamp(in - first, begin, size)};
  }

  void fill(Acc* buffer, Index n, Index group, Index count, Range rows) const {
    const Index lines = height(rows.size());
    const Index y = rows.begin * p_.y.stride + p_.y.first + lowest(p_.y);
    const Range there = inside(y, lines, p_.y.in);
    const T* in =
        p_.in + n * p_.in_step.n + group * p_.in_step.c + (y + there.begin) * p_.in_step.y;
    if (channels_last_) {
      const Index x = p_.x.first + lowest(p_.x), wide = line_ / place_;
      const Range columns = inside(x, wide, p_.x.in);
      for (Index r = 0; r < lines; ++r) {
        Acc* to = buffer + r * line_;
        if (r < there.begin || r >= there.end || columns.size() == 0) {
          std::fill_n(to, line_, Acc{0});
          continue;
        }
        std::fill_n(to, columns.begin * place_, Acc{0});
        std::fill_n(to + columns.end * place_, (wide - columns.end) * place_, Acc{0});
        load_(to + columns.begin * place_,
              in + (r - there.begin) * p_.in_step.y + (x + columns.begin) * p_.in_step.x,
              {count, columns.size(), {1, 1}, {place_, p_.in_step.x}});
      }
      return;
    }
    const Index width = columns_.size;
    for (Index b = 0; b < columns_.count; ++b) {
      const Index x = columns_.first(b, 0);
      const Range columns = columns_.inside(x);
      Acc* to = buffer + b * lines * width;
      for (Index r = 0; r < lines; ++r) {
        Acc* line = to + r * width;
        if (r < there.begin || r >= there.end || columns.size() == 0) {
          std::fill_n(line, width, Acc{0});
        } else {
          std::fill_n(line, columns.begin, Acc{0});
          std::fill_n(line + columns.end, width - columns.end, Acc{0});
        }
      }
      if (there.size() == 0 || columns.size() == 0) continue;
      load_(to + there.begin * width + columns.begin,
            in + (x + columns.begin * p_.x.stride) * p_.in_step.x,
            {columns.size(), there.size(), {1, p_.x.stride * p_.in_step.x}, {width, p_.in_step.y}});
    }
  }

  /// One channel: rows and columns of the output are those of a tile.
  void lines(kernels::Depthwise<Acc>& g, Acc* tile, kernels::GemmFinish<Acc> f) const {
    g.y = direct_ ? static_cast<Acc*>(f.out) : tile;
    g.y_row = direct_ ? p_.out_step.y : tile_row_;
    kernels_.lines(g);
    if (direct_) return;
    f.row = p_.out_step.y;
    f.residual_row = p_.residual_step.y;
    f.bias_row = 0;
    f.apply(f, tile, tile_row_, 0, 0, g.rows, g.columns);
  }

  /// Some channels: pixels of a line are the rows of a tile.
  void pixels(kernels::Depthwise<Acc>& g, Acc* tile, kernels::GemmFinish<Acc> f) const {
    if (direct_) {
      g.y = static_cast<Acc*>(f.out);
      g.y_row = p_.out_step.y;
      g.y_column = p_.out_step.x;
      return kernels_.pixels(g);
    }
    f.row = p_.out_step.x;
    f.col = p_.out_step.c;
    f.residual_row = p_.residual_step.x;
    f.residual_col = p_.residual_step.c;
    f.bias_col = f.bias_row;
    f.bias_row = 0;
    g.y = tile;
    g.y_column = tile_row_;
    const Index rows = g.rows;
    g.rows = 1;
    for (Index r = 0; r < rows; ++r, g.x += g.x_row) {
      kernels_.pixels(g);
      f.apply(f, tile, tile_row_, 0, 0, g.columns, g.channels);
      f.out = static_cast<T*>(f.out) + p_.out_step.y;
      if (f.residual != nullptr)
        f.residual = static_cast<const T*>(f.residual) + p_.residual_step.y;
    }
  }

  const ConvProblem<T>& p_;
  kernels::CastFn load_;
  kernels::DepthwiseFns<Acc> kernels_;
  Planes columns_;
  bool channels_last_ = false;
  bool direct_ = false;  // sums are results, and lie as the output does
  Index together_ = 1, blocks_ = 1, place_ = 1, line_ = 1, rows_ = 1, bands_ = 1;
  Index buffer_ = 0, weights_ = 0, tile_ = 0, tile_row_ = 0;
};

}  // namespace

template <Element T>
bool conv_depthwise(const ConvProblem<T>& problem) {
  if constexpr (Float<T>) {
    const Index taps = problem.taps();
    if (problem.channels != 1 || problem.groups == 1 || taps == 0 || taps > kGemmChunk<T> ||
        problem.outputs > 8)
      return false;
    // A window that is much wider than its elements is no copy of the input.
    const auto sparse = [](const ConvAxis& a) { return a.taps > 1 && std::abs(a.step) > 32; };
    if (sparse(problem.y) || sparse(problem.x) || problem.x.stride > 32) return false;
    DepthwiseDriver<T>(problem).run(current_executor());
    return true;
  } else {
    (void)problem;
    return false;
  }
}

#define WICK_INSTANTIATE(T) template bool conv_depthwise(const ConvProblem<T>&);
WICK_FOR_ELEMENTS(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE

}  // namespace wick
