// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/pool.h"

#include <algorithm>
#include <limits>

#include "wick/conv.h"
#include "wick/core/dispatch.h"
#include "wick/ops/check.h"
#include "wick/ops/loop.h"
#include "wick/ops/windows.h"

namespace wick {
namespace {

/// Windows along one axis.
struct Axis {
  Index in, out, taps, stride, padding, step;

  Index begin(Index o) const { return o * stride - padding; }
  /// Places of window o that the input has: [first, last).
  Index first(Index o) const { return begin(o) >= 0 ? 0 : ceil_div(-begin(o), step); }
  Index last(Index o) const {
    return begin(o) >= in ? 0 : std::min(taps, ceil_div(in - begin(o), step));
  }
  /// What a mean is divided by, along this axis.
  Index count(Index o, bool padded) const {
    if (!padded) return std::max(last(o) - first(o), Index{0});
    return std::min(begin(o) + taps, in + padding) - begin(o);
  }
};

struct Windows {
  Axis y, x;
};

Windows check(std::string_view op, const Tensor& x, PerAxis kernel, const PoolOptions& o) {
  if (x.rank() != 4)
    throw error_about(ErrorKind::shape, op,
                      str("wanted an input [n, c, h, w], got ", to_string(x.shape())), {&x});
  const auto axis = [&](Index in, Index taps, Index stride, Index padding, Index step) {
    if (stride == 0) stride = taps;
    check_window(op, taps, stride, padding, step);
    if (padding > taps / 2)
      throw Error(ErrorKind::argument, op,
                  str("wanted a padding of at most half the kernel, got ", padding,
                      " for a kernel of ", taps));
    return Axis{in,      window_count(op, in, taps, stride, padding, step, o.ceil_mode),
                taps,    stride,
                padding, step};
  };
  return {axis(x.shape()[2], kernel.h, o.stride.h, o.padding.h, o.dilation.h),
          axis(x.shape()[3], kernel.w, o.stride.w, o.padding.w, o.dilation.w)};
}

Dims shape_of(const Tensor& x, const Windows& w) {
  return {x.shape()[0], x.shape()[1], w.y.out, w.x.out};
}

/// One line of the output of one plane (or, with the channels together, of one image).
template <Element T>
class Lines {
 public:
  using C = Compute<T>;

  Lines(const Tensor& out, const Tensor& x, const Windows& w, const kernels::Pool<T>& kernel,
        C lowest, bool padded)
      : y_(out.data<T>()),
        x_(x.data<T>()),
        y_steps_(out.layout().strides),
        x_steps_(x.layout().strides),
        w_(w),
        kernel_(kernel),
        lowest_(lowest),
        padded_(padded) {
    const Index channels = x.shape()[1];
    const bool together = channels > 1 && x_steps_[1] == 1 && x_steps_[3] != 1;
    inner_ = together ? channels : 1;
    planes_ = together ? 1 : channels;
    lines_ = x.shape()[0] * planes_ * w.y.out;
    // Places that the windows reach: behind the input there may be padding, before it too.
    const Index reach = (w.x.out - 1) * w.x.stride + (w.x.taps - 1) * w.x.step + 1;
    width_ = std::max(reach, w.x.padding + w.x.in);
    line_ = checked_mul(width_, inner_, "pool", "a line") + kernels::kPoolSlack;
  }

  void run(bool mean, std::string_view op) const {
    const Index work = std::max(Index{1}, w_.x.in * inner_ * w_.y.taps);
    parallel_for(lines_, std::max(Index{1}, kCheapGrain / work), [&](Index begin, Index end) {
      const Buffer<C> buffer(checked_mul(line_, 2, op, "scratch"), op);
      const Buffer<C> counts(mean ? round_up(w_.x.out, 64) : 0, op);
      for (Index o = 0; mean && o < round_up(w_.x.out, 64); ++o)
        counts.data()[o] = o < w_.x.out ? static_cast<C>(w_.x.count(o, padded_)) : C{1};
      std::fill_n(buffer.data(), line_, lowest_);
      for (Index i = begin; i < end; ++i)
        line(i, buffer.data(), mean ? counts.data() : nullptr, buffer.data() + line_);
    });
  }

 private:
  void line(Index i, C* acc, const C* counts, C* scratch) const {
    const Index oy = i % w_.y.out, plane = i / w_.y.out;
    const Index n = plane / planes_, c = plane % planes_;
    const T* from = x_ + n * x_steps_[0] + c * x_steps_[1];
    C* const inside = acc + w_.x.padding * inner_;
    const Index first = w_.y.first(oy), last = w_.y.last(oy);
    for (Index t = first; t < last; ++t)
      fold(inside, from + (w_.y.begin(oy) + t * w_.y.step) * x_steps_[2], t == first);
    if (first >= last) std::fill_n(inside, w_.x.in * inner_, lowest_);
    const kernels::PoolLine line{w_.x.out, w_.x.taps, w_.x.stride, w_.x.step, inner_};
    T* to = y_ + n * y_steps_[0] + c * y_steps_[1] + oy * y_steps_[2];
    const auto rows = counts == nullptr ? C{1} : static_cast<C>(w_.y.count(oy, padded_));
    kernel_.slide(to, y_steps_[3], y_steps_[1], acc, line, counts, rows, scratch);
  }

  void fold(C* acc, const T* from, bool first) const {
    if (inner_ == 1) return kernel_.fold(acc, from, w_.x.in, x_steps_[3], first);
    if (x_steps_[3] == inner_) return kernel_.fold(acc, from, w_.x.in * inner_, 1, first);
    for (Index x = 0; x < w_.x.in; ++x)
      kernel_.fold(acc + x * inner_, from + x * x_steps_[3], inner_, 1, first);
  }

  T* y_;
  const T* x_;
  Dims y_steps_, x_steps_;
  Windows w_;
  kernels::Pool<T> kernel_;
  C lowest_;
  bool padded_;
  Index inner_ = 1, planes_ = 1, lines_ = 0, width_ = 0, line_ = 0;
};

void run_mean(const Tensor& out, const Tensor& x, const Windows& w, bool padded) {
  if (out.element_count() == 0) return;
  dispatch(x.dtype(), "avg_pool2d", [&]<Float T>(std::type_identity<T>) {
    Lines<T>(out, x, w, kernels::mean_pool<T>(), 0, padded).run(true, "avg_pool2d");
  });
}

void run_max(const Tensor& out, const Tensor& x, const Windows& w) {
  if (out.element_count() == 0) return;
  dispatch(x.dtype(), "max_pool2d", [&]<Element T>(std::type_identity<T>) {
    using C = Compute<T>;
    constexpr C kLowest =
        Float<T> ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::lowest();
    Lines<T>(out, x, w, kernels::max_pool<T>(), kLowest, false).run(false, "max_pool2d");
  });
}

Windows check_mean(const Tensor& x, PerAxis kernel, const PoolOptions& o) {
  if (!is_float(x.dtype())) throw_unsupported(x.dtype(), "avg_pool2d");
  if (o.dilation.h != 1 || o.dilation.w != 1)
    throw Error(ErrorKind::argument, "avg_pool2d",
                str("wanted a dilation of 1, got ", o.dilation.h, " and ", o.dilation.w));
  return check("avg_pool2d", x, kernel, o);
}

Windows check_max(const Tensor& x, PerAxis kernel, const PoolOptions& o) {
  if (is_raw(x.dtype())) throw_unsupported(x.dtype(), "max_pool2d");
  return check("max_pool2d", x, kernel, o);
}

}  // namespace

Tensor avg_pool2d(const Tensor& x, PerAxis kernel, const PoolOptions& options) {
  const Windows w = check_mean(x, kernel, options);
  const Tensor out = Tensor::empty(shape_of(x, w), x.dtype());
  run_mean(out, x, w, options.count_include_pad);
  return out;
}

void avg_pool2d_into(const Tensor& out, const Tensor& x, PerAxis kernel,
                     const PoolOptions& options) {
  const Windows w = check_mean(x, kernel, options);
  check_out("avg_pool2d", out, shape_of(x, w), x.dtype());
  check_disjoint("avg_pool2d", out, x);
  run_mean(out, x, w, options.count_include_pad);
}

Tensor max_pool2d(const Tensor& x, PerAxis kernel, const PoolOptions& options) {
  const Windows w = check_max(x, kernel, options);
  const Tensor out = Tensor::empty(shape_of(x, w), x.dtype());
  run_max(out, x, w);
  return out;
}

void max_pool2d_into(const Tensor& out, const Tensor& x, PerAxis kernel,
                     const PoolOptions& options) {
  const Windows w = check_max(x, kernel, options);
  check_out("max_pool2d", out, shape_of(x, w), x.dtype());
  check_disjoint("max_pool2d", out, x);
  run_max(out, x, w);
}

Tensor Tensor::avg_pool2d(Index kernel, Index stride, Index padding, bool ceil_mode) const {
  PoolOptions o;
  o.stride = stride;
  o.padding = padding;
  o.ceil_mode = ceil_mode;
  return wick::avg_pool2d(*this, kernel, o);
}

Tensor Tensor::max_pool2d(Index kernel, Index stride, Index padding, Index dilation,
                          bool ceil_mode) const {
  PoolOptions o;
  o.stride = stride;
  o.padding = padding;
  o.dilation = dilation;
  o.ceil_mode = ceil_mode;
  return wick::max_pool2d(*this, kernel, o);
}

}  // namespace wick
