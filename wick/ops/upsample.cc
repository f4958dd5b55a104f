// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/upsample.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "wick/conv.h"
#include "wick/core/dispatch.h"
#include "wick/kernels/copy.h"
#include "wick/ops/check.h"
#include "wick/ops/loop.h"

namespace wick {
namespace {

Dims shape_of(std::string_view op, const Tensor& x, PerAxis size) {
  if (x.rank() != 4)
    throw error_about(ErrorKind::shape, op,
                      str("wanted an input [n, c, h, w], got ", to_string(x.shape())), {&x});
  if (size.h < 0 || size.w < 0)
    throw Error(ErrorKind::argument, op,
                str("wanted sizes of at least 0, got ", size.h, " and ", size.w));
  const auto fits = [](Index in, Index out) { return in > 0 || out == 0; };
  if (!fits(x.shape()[2], size.h) || !fits(x.shape()[3], size.w))
    throw error_about(ErrorKind::shape, op,
                      str("wanted an input with elements for an output of ", size.h, " x ", size.w,
                          ", got ", to_string(x.shape())),
                      {&x});
  const Dims shape{x.shape()[0], x.shape()[1], size.h, size.w};
  element_count(shape, op);
  return shape;
}

/// Lines of the output, with what they have in common: those of a plane, or where channels are
/// neighbours in both memories, of an image.
struct Lines {
  Index inner = 1, planes = 1, count = 0;
  Dims y_steps, x_steps;
  Index height = 1;

  Lines(const Tensor& out, const Tensor& x)
      : y_steps(out.layout().strides), x_steps(x.layout().strides), height(out.shape()[2]) {
    const Index channels = out.shape()[1];
    const bool together = channels > 1 && y_steps[1] == 1 && x_steps[1] == 1;
    inner = together ? channels : 1;
    planes = together ? 1 : channels;
    count = out.shape()[0] * planes * height;
  }
  Index y_at(Index plane, Index line) const {
    return plane / planes * y_steps[0] + plane % planes * y_steps[1] + line * y_steps[2];
  }
  Index x_at(Index plane, Index line) const {
    return plane / planes * x_steps[0] + plane % planes * x_steps[1] + line * x_steps[2];
  }
};

/// floor(i * in / out) for all i.
Buffer<Index> nearest_places(Index in, Index out) {
  const Buffer<Index> places(out, "upsample_nearest");
  Index place = 0, rest = 0;
  for (Index i = 0; i < out; ++i) {
    places.data()[i] = place;
    place += in / out;
    rest += in % out;
    if (rest >= out) rest -= out, ++place;
  }
  return places;
}

void nearest(const Tensor& out, const Tensor& x) {
  if (out.element_count() == 0) return;
  const int bytes = bits(x.dtype()) / 8;
  const auto kernel = kernels::nearest(bytes);
  const auto copy = kernels::copy(bytes);
  const Lines lines(out, x);
  const Index width = out.shape()[3];
  const Buffer<Index> from_y = nearest_places(x.shape()[2], lines.height);
  const Buffer<Index> from_x = nearest_places(x.shape()[3], width);
  const bool doubled = width == 2 * x.shape()[3];
  std::byte* y = view(out.storage()).data + out.layout().offset * bytes;
  const std::byte* in = view(x.storage()).data + x.layout().offset * bytes;
  const Index grain = std::max(Index{1}, kCheapGrain / (width * lines.inner));
  parallel_for(lines.count, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index plane = i / lines.height, line = i % lines.height;
      std::byte* to = y + lines.y_at(plane, line) * bytes;
      // A line that is the one before is copied from there.
      if (i > begin && line > 0 && from_y.data()[line] == from_y.data()[line - 1]) {
        const Index place = lines.y_steps[3];
        if (lines.inner == 1 || place == lines.inner) {
          const Index step = lines.inner == 1 ? place : 1;
          copy(to, to - lines.y_steps[2] * bytes, {width * lines.inner, 1, {step, step}, {0, 0}});
        } else {
          copy(to, to - lines.y_steps[2] * bytes, {lines.inner, width, {1, 1}, {place, place}});
        }
        continue;
      }
      kernel(to, lines.y_steps[3], in + lines.x_at(plane, from_y.data()[line]) * bytes,
             lines.x_steps[3], lines.inner, from_x.data(), width, doubled);
    }
  });
}

void check_nearest(std::string_view op, const Tensor& x) {
  if (bits(x.dtype()) % 8 != 0) throw_unsupported(x.dtype(), op);
}

/// Where the outputs of an axis lie between inputs.
template <class C>
struct Places {
  using Place = typename kernels::Between<C>::Place;
  Buffer<Place> low, high;
  Buffer<C> part;
  kernels::Between<C> between() const { return {low.data(), high.data(), part.data()}; }

  Places(Index in, Index out, bool align_corners, f64 scale) {
    if (in > std::numeric_limits<Place>::max())
      throw Error(ErrorKind::overflow, "upsample_bilinear2d",
                  str("wanted an axis of less than 2^31 elements, got ", in));
    const Index n = checked_add(out, kernels::kUpsampleSlack, "upsample_bilinear2d", "places");
    low = Buffer<Place>(n, "upsample_bilinear2d");
    high = Buffer<Place>(n, "upsample_bilinear2d");
    part = Buffer<C>(n, "upsample_bilinear2d");
    const auto from = static_cast<f64>(in), to = static_cast<f64>(out);
    for (Index i = 0; i < n; ++i) {
      f64 place = 0;
      if (i < out) {
        const auto at = static_cast<f64>(i);
        if (align_corners) {
          place = out > 1 ? at * (from - 1) / (to - 1) : 0;
        } else {
          place = (scale > 0 ? (at + 0.5) / scale : (at + 0.5) * from / to) - 0.5;
        }
      }
      place = std::clamp(place, 0.0, std::max(from - 1, 0.0));
      const f64 whole = std::floor(place);
      low.data()[i] = static_cast<Place>(whole);
      high.data()[i] = static_cast<Place>(std::min(whole + 1, std::max(from - 1, 0.0)));
      part.data()[i] = static_cast<C>(place - whole);
    }
  }
};

/// Lines of the input, spread along themselves, are kept until the next output line needs others.
template <Float T>
class Interpolation {
 public:
  using C = Compute<T>;

  Interpolation(const Tensor& out, const Tensor& x, const BilinearOptions& o)
      : lines_(out, x),
        kernel_(kernels::bilinear<T>()),
        rows_(x.shape()[2], out.shape()[2], o.align_corners, o.scale_h),
        columns_(x.shape()[3], out.shape()[3], o.align_corners, o.scale_w),
        in_width_(x.shape()[3]),
        width_(out.shape()[3]),
        y_(out.data<T>()),
        x_(x.data<T>()) {
    line_ =
        checked_mul(std::max(in_width_, width_), lines_.inner, "upsample_bilinear2d", "a line") +
        kernels::kUpsampleSlack;
  }

  void run() const {
    const Index grain = std::max(Index{1}, kCheapGrain / (2 * width_ * lines_.inner));
    parallel_for(lines_.count, grain, [&](Index begin, Index end) {
      const Buffer<C> buffer(checked_mul(line_, 3, "upsample_bilinear2d", "scratch"),
                             "upsample_bilinear2d");
      std::fill_n(buffer.data(), 3 * line_, C{0});
      Kept kept{{buffer.data(), buffer.data() + line_}, {-1, -1}, -1, buffer.data() + 2 * line_};
      for (Index i = begin; i < end; ++i) line(kept, i / lines_.height, i % lines_.height);
    });
  }

 private:
  struct Kept {
    C* line[2];
    Index row[2];
    Index plane;
    C* in;
  };

  void line(Kept& kept, Index plane, Index row) const {
    if (plane != kept.plane) kept.row[0] = kept.row[1] = -1;
    kept.plane = plane;
    const Index low = rows_.low.data()[row], high = rows_.high.data()[row];
    const C part = rows_.part.data()[row];
    const C* a = find(kept, low, high);
    const C* b = part == 0 ? a : find(kept, high, low);
    T* to = y_ + lines_.y_at(plane, row);
    const Index place = lines_.y_steps[3];
    if (lines_.inner == 1) return kernel_.blend(to, place, a, b, part, width_);
    if (place == lines_.inner) return kernel_.blend(to, 1, a, b, part, width_ * lines_.inner);
    for (Index i = 0; i < width_; ++i)
      kernel_.blend(to + i * place, 1, a + i * lines_.inner, b + i * lines_.inner, part,
                    lines_.inner);
  }

  /// The spread line of the input; the other one that is needed stays.
  const C* find(Kept& kept, Index row, Index other) const {
    for (int i = 0; i < 2; ++i)
      if (kept.row[i] == row) return kept.line[i];
    const int i = kept.row[0] == other ? 1 : 0;
    const T* from = x_ + lines_.x_at(kept.plane, row);
    const Index place = lines_.x_steps[3], inner = lines_.inner;
    if (inner == 1) {
      kernel_.load(kept.in, from, in_width_, place);
    } else if (place == inner) {
      kernel_.load(kept.in, from, in_width_ * inner, 1);
    } else {
      for (Index p = 0; p < in_width_; ++p)
        kernel_.load(kept.in + p * inner, from + p * place, inner, 1);
    }
    kernel_.spread(kept.line[i], kept.in, width_, inner, columns_.between());
    kept.row[i] = row;
    return kept.line[i];
  }

  Lines lines_;
  kernels::Bilinear<T> kernel_;
  Places<C> rows_, columns_;
  Index in_width_, width_, line_ = 0;
  T* y_;
  const T* x_;
};

constexpr std::string_view kBilinear = "upsample_bilinear2d";

void bilinear(const Tensor& out, const Tensor& x, const BilinearOptions& o) {
  if (out.element_count() == 0) return;
  dispatch(x.dtype(), kBilinear,
           [&]<Float T>(std::type_identity<T>) { Interpolation<T>(out, x, o).run(); });
}

void check_bilinear(const Tensor& x, const BilinearOptions& o) {
  if (!is_float(x.dtype())) throw_unsupported(x.dtype(), kBilinear);
  for (const f64 scale : {o.scale_h, o.scale_w})
    if (!(scale >= 0) || std::isinf(scale))
      throw Error(ErrorKind::argument, kBilinear,
                  str("wanted finite scale factors of at least 0, got ", scale));
}

}  // namespace

Tensor upsample_nearest2d(const Tensor& x, PerAxis size) {
  check_nearest("upsample_nearest2d", x);
  const Tensor out = Tensor::empty(shape_of("upsample_nearest2d", x, size), x.dtype());
  nearest(out, x);
  return out;
}

void upsample_nearest2d_into(const Tensor& out, const Tensor& x) {
  constexpr std::string_view kOp = "upsample_nearest2d";
  check_nearest(kOp, x);
  const bool image = out.rank() == 4;
  check_out(kOp, out,
            shape_of(kOp, x, image ? PerAxis(out.shape()[2], out.shape()[3]) : PerAxis(0, 0)),
            x.dtype());
  check_disjoint(kOp, out, x);
  nearest(out, x);
}

/// Lines as images of height 1.
static Tensor image_of_lines(const Tensor& x) {
  if (x.rank() != 3)
    throw error_about(ErrorKind::shape, "upsample_nearest1d",
                      str("wanted [n, c, l], got ", to_string(x.shape())), {&x});
  return x.unsqueeze(2);
}

Tensor upsample_nearest1d(const Tensor& x, Index length) {
  return upsample_nearest2d(image_of_lines(x), {1, length}).squeeze(2);
}

void upsample_nearest1d_into(const Tensor& out, const Tensor& x) {
  upsample_nearest2d_into(image_of_lines(out), image_of_lines(x));
}

Tensor upsample_bilinear2d(const Tensor& x, PerAxis size, const BilinearOptions& options) {
  check_bilinear(x, options);
  const Tensor out = Tensor::empty(shape_of(kBilinear, x, size), x.dtype());
  bilinear(out, x, options);
  return out;
}

void upsample_bilinear2d_into(const Tensor& out, const Tensor& x, const BilinearOptions& options) {
  check_bilinear(x, options);
  const bool image = out.rank() == 4;
  check_out(kBilinear, out,
            shape_of(kBilinear, x, image ? PerAxis(out.shape()[2], out.shape()[3]) : PerAxis(0, 0)),
            x.dtype());
  check_disjoint(kBilinear, out, x);
  bilinear(out, x, options);
}

Tensor upsample_bilinear2d_with_scale(const Tensor& x, f64 scale_h, f64 scale_w,
                                      bool align_corners) {
  if (x.rank() != 4)
    throw error_about(ErrorKind::shape, kBilinear,
                      str("wanted an input [n, c, h, w], got ", to_string(x.shape())), {&x});
  const auto size = [](Index in, f64 scale) {
    const f64 wanted = std::floor(static_cast<f64>(in) * scale);
    if (!(scale > 0) || !(wanted < 9e15))
      throw Error(ErrorKind::argument, kBilinear,
                  str("wanted a scale factor above 0 that gives a size, got ", scale));
    return static_cast<Index>(wanted);
  };
  return upsample_bilinear2d(x, {size(x.shape()[2], scale_h), size(x.shape()[3], scale_w)},
                             {align_corners, scale_h, scale_w});
}

Tensor Tensor::upsample_nearest1d(Index length) const {
  return wick::upsample_nearest1d(*this, length);
}
Tensor Tensor::upsample_nearest2d(Index height, Index width) const {
  return wick::upsample_nearest2d(*this, {height, width});
}
Tensor Tensor::upsample_bilinear2d(Index height, Index width, bool align_corners) const {
  return wick::upsample_bilinear2d(*this, {height, width}, {align_corners, 0, 0});
}

}  // namespace wick
