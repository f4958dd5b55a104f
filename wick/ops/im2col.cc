// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "wick/conv.h"
#include "wick/core/dispatch.h"
#include "wick/kernels/copy.h"
#include "wick/kernels/fill.h"
#include "wick/kernels/gemm.h"
#include "wick/ops/check.h"
#include "wick/ops/loop.h"
#include "wick/ops/windows.h"

namespace wick {
namespace {

/// The windows of one axis: window o has its place t at o * stride + t * step - padding.
struct Axis {
  Index in, out, taps, stride, padding, step;

  Index at(Index o, Index t) const { return o * stride + t * step - padding; }
  /// Windows whose place t the input has: [first, last).
  Index first(Index t) const {
    const Index begin = at(0, t);
    return begin >= 0 ? 0 : std::min(out, ceil_div(-begin, stride));
  }
  Index last(Index t) const {
    const Index begin = at(0, t);
    return std::max(first(t), begin >= in ? 0 : std::min(out, ceil_div(in - begin, stride)));
  }
};

struct Windows {
  Axis y, x;
  Index taps() const { return y.taps * x.taps; }
};

Windows windows(std::string_view op, PerAxis size, PerAxis kernel, const WindowOptions& o) {
  const auto axis = [&](Index in, Index taps, Index stride, Index padding, Index step) {
    check_window(op, taps, stride, padding, step);
    return Axis{
        in, window_count(op, in, taps, stride, padding, step, false), taps, stride, padding, step};
  };
  return {axis(size.h, kernel.h, o.stride.h, o.padding.h, o.dilation.h),
          axis(size.w, kernel.w, o.stride.w, o.padding.w, o.dilation.w)};
}

void check_image(std::string_view op, const Tensor& x) {
  if (is_raw(x.dtype())) throw_unsupported(x.dtype(), op);
  if (x.rank() != 4)
    throw error_about(ErrorKind::shape, op,
                      str("wanted an image [n, c, h, w], got ", to_string(x.shape())), {&x});
}

Dims columns_shape(std::string_view op, Index batch, Index channels, const Windows& w) {
  const Index taps = checked_mul(w.y.taps, w.x.taps, op, "size of the window");
  const Dims shape{batch, checked_mul(channels, taps, op, "rows"),
                   checked_mul(w.y.out, w.x.out, op, "columns")};
  element_count(shape, op);
  return shape;
}

/// One row of the columns: one place in the window of one channel. Outside the input zeros.
void run_im2col(const Tensor& out, const Tensor& x, const Windows& w) {
  if (out.element_count() == 0) return;
  const int bytes = bits(x.dtype()) / 8;
  const auto copy = kernels::copy(bytes);
  const auto fill = kernels::fill(bytes);
  const Dims &to_step = out.layout().strides, &from_step = x.layout().strides;
  std::byte* to = view(out.storage()).data + out.layout().offset * bytes;
  const std::byte* from = view(x.storage()).data + x.layout().offset * bytes;
  const Index rows = out.shape()[1], width = w.x.out, step = to_step[2];
  parallel_for(out.shape()[0] * rows, std::max(Index{1}, kCheapGrain / (w.y.out * w.x.out)),
               [&](Index begin, Index end) {
                 for (Index i = begin; i < end; ++i) {
                   const Index n = i / rows, row = i % rows, c = row / w.taps();
                   const Index ty = row % w.taps() / w.x.taps, tx = row % w.x.taps;
                   std::byte* y = to + (n * to_step[0] + row * to_step[1]) * bytes;
                   const Index y0 = w.y.first(ty), y1 = w.y.last(ty), x0 = w.x.first(tx),
                               x1 = w.x.last(tx);
                   const auto zero = [&](Index first, Index count, Index lines) {
                     if (count > 0 && lines > 0)
                       fill(y + first * step * bytes, 0, {count, lines, {step}, {width * step}});
                   };
                   zero(0, y0 * width, 1);
                   zero(y0 * width, x0, y1 - y0);
                   zero(y0 * width + x1, width - x1, y1 - y0);
                   zero(y1 * width, (w.y.out - y1) * width, 1);
                   if (y1 == y0 || x1 == x0) continue;
                   const std::byte* in =
                       from + (n * from_step[0] + c * from_step[1] + w.y.at(y0, ty) * from_step[2] +
                               w.x.at(x0, tx) * from_step[3]) *
                                  bytes;
                   copy(y + (y0 * width + x0) * step * bytes, in,
                        {x1 - x0,
                         y1 - y0,
                         {step, w.x.stride * from_step[3]},
                         {width * step, w.y.stride * from_step[2]}});
                 }
               });
}

/// to[i * to_step] += from[i * from_step].
template <class Acc, class T>
void add_run(Acc* to, Index to_step, const T* from, Index from_step, Index n) {
  const auto wide = [](T v) {
    if constexpr (Int<T>) {
      return static_cast<Acc>(v);
    } else {
      return convert<Acc>(v);
    }
  };
  if (to_step == 1 && from_step == 1) {
    for (Index i = 0; i < n; ++i) to[i] += wide(from[i]);
  } else {
    for (Index i = 0; i < n; ++i) to[i * to_step] += wide(from[i * from_step]);
  }
}

template <Element T>
void run_col2im(const Tensor& out, const Tensor& columns, const Windows& w) {
  using Acc = kernels::GemmAcc<T>;
  T* to = out.data<T>();
  const T* from = columns.data<T>();
  const Dims &to_step = out.layout().strides, &from_step = columns.layout().strides;
  const Index channels = out.shape()[1], height = w.y.in, width = w.x.in;
  const Index work = std::max(Index{1}, width * w.taps());
  parallel_for(out.shape()[0] * channels * height, std::max(Index{1}, kCheapGrain / work),
               [&](Index begin, Index end) {
                 const Buffer<Acc> sums(width, "col2im");
                 for (Index i = begin; i < end; ++i) {
                   const Index y = i % height, c = i / height % channels, n = i / height / channels;
                   std::fill_n(sums.data(), width, Acc{0});
                   for (Index ty = 0; ty < w.y.taps; ++ty) {
                     const Index place = y + w.y.padding - ty * w.y.step;
                     if (place < 0 || place % w.y.stride != 0 || place / w.y.stride >= w.y.out)
                       continue;
                     for (Index tx = 0; tx < w.x.taps; ++tx) {
                       const Index x0 = w.x.first(tx), x1 = w.x.last(tx);
                       if (x0 == x1) continue;
                       const Index row = (c * w.y.taps + ty) * w.x.taps + tx;
                       add_run(sums.data() + w.x.at(x0, tx), w.x.stride,
                               from + n * from_step[0] + row * from_step[1] +
                                   (place / w.y.stride * w.x.out + x0) * from_step[2],
                               from_step[2], x1 - x0);
                     }
                   }
                   T* line = to + n * to_step[0] + c * to_step[1] + y * to_step[2];
                   for (Index x = 0; x < width; ++x) {
                     if constexpr (Int<T>) {
                       line[x * to_step[3]] = static_cast<T>(sums.data()[x]);
                     } else {
                       line[x * to_step[3]] = convert<T>(sums.data()[x]);
                     }
                   }
                 }
               });
}

/// The windows of an image whose columns these are, or an Error.
Windows check_columns(const Tensor& columns, PerAxis size, PerAxis kernel, const WindowOptions& o) {
  constexpr std::string_view kOp = "col2im";
  if (is_raw(columns.dtype())) throw_unsupported(columns.dtype(), kOp);
  const Windows w = windows(kOp, size, kernel, o);
  const Index taps = checked_mul(w.y.taps, w.x.taps, kOp, "size of the window");
  const Index count = checked_mul(w.y.out, w.x.out, kOp, "columns");
  if (columns.rank() != 3 || columns.shape()[1] % taps != 0 || columns.shape()[2] != count)
    throw error_about(ErrorKind::shape, kOp,
                      str("wanted columns [n, c * ", taps, ", ", count, "] for an image of ",
                          size.h, " x ", size.w, ", got ", to_string(columns.shape())),
                      {&columns});
  return w;
}

void col2im_any(const Tensor& out, const Tensor& columns, const Windows& w) {
  if (out.element_count() == 0) return;
  dispatch(out.dtype(), "col2im",
           [&]<Element T>(std::type_identity<T>) { run_col2im<T>(out, columns, w); });
}

}  // namespace

Tensor im2col(const Tensor& x, PerAxis kernel, const WindowOptions& options) {
  check_image("im2col", x);
  const Windows w = windows("im2col", {x.shape()[2], x.shape()[3]}, kernel, options);
  const Tensor out =
      Tensor::empty(columns_shape("im2col", x.shape()[0], x.shape()[1], w), x.dtype());
  run_im2col(out, x, w);
  return out;
}

void im2col_into(const Tensor& out, const Tensor& x, PerAxis kernel, const WindowOptions& options) {
  check_image("im2col", x);
  const Windows w = windows("im2col", {x.shape()[2], x.shape()[3]}, kernel, options);
  check_out("im2col", out, columns_shape("im2col", x.shape()[0], x.shape()[1], w), x.dtype());
  check_disjoint("im2col", out, x);
  run_im2col(out, x, w);
}

Tensor col2im(const Tensor& columns, PerAxis size, PerAxis kernel, const WindowOptions& options) {
  const Windows w = check_columns(columns, size, kernel, options);
  const Dims shape{columns.shape()[0], columns.shape()[1] / w.taps(), size.h, size.w};
  const Tensor out = Tensor::empty(shape, columns.dtype());
  col2im_any(out, columns, w);
  return out;
}

void col2im_into(const Tensor& out, const Tensor& columns, PerAxis kernel,
                 const WindowOptions& options) {
  if (out.rank() != 4)
    throw error_about(ErrorKind::shape, "col2im",
                      str("wanted an output [n, c, h, w], got ", to_string(out.shape())), {&out});
  const Windows w = check_columns(columns, {out.shape()[2], out.shape()[3]}, kernel, options);
  const Dims shape{columns.shape()[0], columns.shape()[1] / w.taps(), w.y.in, w.x.in};
  check_out("col2im", out, shape, columns.dtype());
  check_disjoint("col2im", out, columns);
  col2im_any(out, columns, w);
}

}  // namespace wick
