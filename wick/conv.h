// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/linear.h"
#include "wick/tensor.h"

namespace wick {

// Images are [n, c, h, w], lines [n, c, l]. Strides are free: channels last in memory is a permuted
// view, read and written where it lies. `out` as for every op: any strided view of the right shape
// that does not overlap itself; here it must not overlap an input either.

/// One value for each axis of an image; a single number stands for both.
struct PerAxis {
  Index h, w;
  constexpr PerAxis(Index both) : h(both), w(both) {}  // NOLINT(google-explicit-constructor)
  constexpr PerAxis(Index height, Index width) : h(height), w(width) {}
};

/// How a kernel walks over an input. `epilogue` is done to each sum as after a product
/// (wick/linear.h), its bias being one number per output channel [o].
struct Conv1dOptions {
  Index stride = 1, padding = 0, dilation = 1, groups = 1;
  Epilogue epilogue{};
};
struct Conv2dOptions {
  PerAxis stride{1}, padding{0}, dilation{1};
  Index groups = 1;
  Epilogue epilogue{};
};
struct ConvTranspose1dOptions {
  Index stride = 1, padding = 0, output_padding = 0, dilation = 1, groups = 1;
  Epilogue epilogue{};
};
struct ConvTranspose2dOptions {
  PerAxis stride{1}, padding{0}, output_padding{0}, dilation{1};
  Index groups = 1;
  Epilogue epilogue{};
};

/// out[n, o, y, x] = sum over c, i, j of kernel[o, c, i, j] * in[n, c, y * stride + i * dilation -
/// padding, ...], in being 0 outside the input and c running over the channels of o's group. The
/// size of an axis is (size + 2 padding - dilation (k - 1) - 1) / stride + 1, rounded down.
///
/// Every dtype that computes: the small floats are added in f32 and rounded once, integers wrap.
/// Order of summation: docs/numerics.md. Errors: `shape` (ranks, channels, a kernel that is larger
/// than the padded input or has no element), `argument` (a stride, dilation or number of groups
/// below 1, a negative padding), `dtype`, `overflow`.
WICK_API Tensor conv1d(const Tensor& x, const Tensor& kernel, const Conv1dOptions& options = {});
WICK_API void conv1d_into(const Tensor& out, const Tensor& x, const Tensor& kernel,
                          const Conv1dOptions& options = {});
WICK_API Tensor conv2d(const Tensor& x, const Tensor& kernel, const Conv2dOptions& options = {});
WICK_API void conv2d_into(const Tensor& out, const Tensor& x, const Tensor& kernel,
                          const Conv2dOptions& options = {});

/// The transpose of a convolution as a linear map (its gradient): every element of the input adds
/// the kernel, times itself, to the output from y * stride - padding on. The size of an axis is
/// (size - 1) stride - 2 padding + dilation (k - 1) + output_padding + 1. An output_padding that is
/// not below max(stride, dilation) is an `argument` Error.
WICK_API Tensor conv_transpose1d(const Tensor& x, const Tensor& kernel,
                                 const ConvTranspose1dOptions& options = {});
WICK_API void conv_transpose1d_into(const Tensor& out, const Tensor& x, const Tensor& kernel,
                                    const ConvTranspose1dOptions& options = {});
WICK_API Tensor conv_transpose2d(const Tensor& x, const Tensor& kernel,
                                 const ConvTranspose2dOptions& options = {});
WICK_API void conv_transpose2d_into(const Tensor& out, const Tensor& x, const Tensor& kernel,
                                    const ConvTranspose2dOptions& options = {});

/// Windows of an image.
struct WindowOptions {
  PerAxis stride{1}, padding{0}, dilation{1};
};

/// The windows of x [n, c, h, w] as columns: [n, c kh kw, h' w'], zeros outside the input. A conv2d
/// is the product of its kernel, seen as [o, c kh kw], with these.
WICK_API Tensor im2col(const Tensor& x, PerAxis kernel, const WindowOptions& options = {});
WICK_API void im2col_into(const Tensor& out, const Tensor& x, PerAxis kernel,
                          const WindowOptions& options = {});
/// The transpose of im2col: columns [n, c kh kw, h' w'] are added up where they came from, in an
/// image [n, c, size.h, size.w]. Elements are added in the order of their place in the window; the
/// small floats in f32, rounded once.
WICK_API Tensor col2im(const Tensor& columns, PerAxis size, PerAxis kernel,
                       const WindowOptions& options = {});
WICK_API void col2im_into(const Tensor& out, const Tensor& columns, PerAxis kernel,
                          const WindowOptions& options = {});

/// Windows of a pool. ceil_mode also keeps a last window that reaches past the padded input, but
/// none that begins past the input and its left padding.
struct PoolOptions {
  PerAxis stride{0};  ///< 0: the kernel's size
  PerAxis padding{0};
  PerAxis dilation{1};  ///< of max_pool2d; 1 for avg_pool2d
  bool ceil_mode = false;
  /// avg_pool2d divides by the elements of the window inside the padded input; if false, by those
  /// inside the input.
  bool count_include_pad = true;
};

/// Means of windows, of floats; the small ones are added in f32 and rounded once. Columns of a
/// window are added first, from the top, then their sums from the left. A padding above half the
/// kernel is an `argument` Error.
WICK_API Tensor avg_pool2d(const Tensor& x, PerAxis kernel, const PoolOptions& options = {});
WICK_API void avg_pool2d_into(const Tensor& out, const Tensor& x, PerAxis kernel,
                              const PoolOptions& options = {});
/// Largest elements of windows; NaN wins. Padding counts as the lowest value, -inf for floats.
WICK_API Tensor max_pool2d(const Tensor& x, PerAxis kernel, const PoolOptions& options = {});
WICK_API void max_pool2d_into(const Tensor& out, const Tensor& x, PerAxis kernel,
                              const PoolOptions& options = {});

/// Output i is input floor(i * in / out), exactly, along each axis. Every dtype of whole bytes.
WICK_API Tensor upsample_nearest1d(const Tensor& x, Index length);
WICK_API void upsample_nearest1d_into(const Tensor& out, const Tensor& x);
WICK_API Tensor upsample_nearest2d(const Tensor& x, PerAxis size);
WICK_API void upsample_nearest2d_into(const Tensor& out, const Tensor& x);

/// Where bilinear interpolation looks for output i: at (i + 0.5) / scale - 0.5, not below 0, or
/// with align_corners at i (in - 1) / (out - 1).
struct BilinearOptions {
  bool align_corners = false;
  /// Scale factors to compute places with; 0: out / in. Not used with align_corners.
  f64 scale_h = 0, scale_w = 0;
};

/// Bilinear interpolation, of floats. Places and weights are worked out in f64; rows are
/// interpolated first. A place that falls on an element gives that element, whatever lies beside.
WICK_API Tensor upsample_bilinear2d(const Tensor& x, PerAxis size,
                                    const BilinearOptions& options = {});
WICK_API void upsample_bilinear2d_into(const Tensor& out, const Tensor& x,
                                       const BilinearOptions& options = {});
/// The size is floor(size * scale); a scale that is not above 0 is an `argument` Error.
WICK_API Tensor upsample_bilinear2d_with_scale(const Tensor& x, f64 scale_h, f64 scale_w,
                                               bool align_corners = false);

}  // namespace wick
