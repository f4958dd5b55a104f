// SPDX-License-Identifier: Apache-2.0
#include "wick/arrange.h"
#include "wick/core/dispatch.h"
#include "wick/kernels/copy.h"
#include "wick/kernels/fill.h"
#include "wick/ops/check.h"
#include "wick/ops/ids.h"
#include "wick/ops/loop.h"

namespace wick {
namespace {

// --- tril, triu ---

constexpr std::string_view name_of(bool upper) { return upper ? "triu" : "tril"; }

void check_input(bool upper, const Tensor& x) {
  if (is_raw(x.dtype())) throw_unsupported(x.dtype(), name_of(upper));
  if (x.rank() < 2)
    throw error_about(ErrorKind::shape, name_of(upper),
                      str("wanted matrices, got shape ", to_string(x.shape())), {&x});
}

Layout first_element(const Layout& l) {
  return {l.shape.erased(l.rank() - 1).erased(l.rank() - 2),
          l.strides.erased(l.rank() - 1).erased(l.rank() - 2), l.offset};
}

/// Rows and columns of matrices of bytes.
struct Matrix {
  std::byte* y;
  const std::byte* x;
  std::array<Index, 2> row, column;  ///< strides, of y and of x
  int bytes;

  Loop2<2> loop(Index rows, Index columns) const { return {columns, rows, column, row}; }
  std::byte* out(Index r, Index c) const { return y + (r * row[0] + c * column[0]) * bytes; }
  const std::byte* in(Index r, Index c) const { return x + (r * row[1] + c * column[1]) * bytes; }
};

/// Copies or clears rows [r0, r1) and columns [c0, c1).
void put(const Matrix& m, bool keep, Index r0, Index r1, Index c0, Index c1) {
  if (r0 >= r1 || c0 >= c1) return;
  const Loop2<2> l = m.loop(r1 - r0, c1 - c0);
  if (keep) {
    kernels::copy(m.bytes)(m.out(r0, c0), m.in(r0, c0), l);
  } else {
    kernels::fill(m.bytes)(m.out(r0, c0), 0, {l.n, l.m, {l.inner[0]}, {l.outer[0]}});
  }
}

void run(bool upper, const Tensor& out, const Tensor& x, Index diagonal) {
  Layout to = out.layout(), from = x.layout();
  const int rank = to.rank();
  if (to.is_empty()) return;
  diagonal = std::clamp(diagonal, -to.shape[rank - 2], to.shape[rank - 1]);
  const auto stride = [&](int i) { return to.strides[i] < 0 ? -to.strides[i] : to.strides[i]; };
  if (stride(rank - 2) < stride(rank - 1)) {  // rows are what lies side by side in memory
    to = to.transpose(-2, -1);
    from = from.transpose(-2, -1);
    upper = !upper;
    diagonal = -diagonal;
  }
  const Index rows = to.shape[rank - 2], columns = to.shape[rank - 1];
  Matrix m{view(out.storage()).data,
           view(x.storage()).data,
           {to.strides[rank - 2], from.strides[rank - 2]},
           {to.strides[rank - 1], from.strides[rank - 1]},
           bits(out.dtype()) / 8};
  // Row r keeps the columns from border(r) on (upper) or those before it.
  const auto border = [&](Index r) {
    return std::clamp<Index>(r + diagonal + (upper ? 0 : 1), 0, columns);
  };
  // Of a block of rows, what all keep or all clear goes at once.
  const auto block = [&](const Matrix& at, Index r0, Index r1) {
    const Index low = border(r0), high = border(r1 - 1);
    put(at, !upper, r0, r1, 0, low);
    put(at, upper, r0, r1, high, columns);
    for (Index r = r0; r < r1 && low < high; ++r) {
      put(at, !upper, r, r + 1, low, border(r));
      put(at, upper, r, r + 1, border(r), high);
    }
  };
  constexpr Index kRows = 64;
  const Index blocks = ceil_div(rows, kRows);
  const Layout y_first = first_element(to), x_first = first_element(from);
  const NdIter<2> it({&y_first, &x_first});
  const Index grain = std::max<Index>(1, kCheapGrain / (std::min(rows, kRows) * columns));
  parallel_for(it.size() * blocks, grain, [&](Index begin, Index end) {
    while (begin < end) {  // matrix by matrix
      const Index matrix = begin / blocks, first = begin % blocks;
      const Index last = std::min(blocks, first + end - begin);
      it.for_each(matrix, matrix + 1, [&](const auto& at, const Loop2<2>&) {
        Matrix here = m;
        here.y += at[0] * m.bytes;
        here.x += at[1] * m.bytes;
        for (Index b = first; b < last; ++b)
          block(here, b * kRows, std::min(rows, (b + 1) * kRows));
      });
      begin += last - first;
    }
  });
}

Tensor apply(bool upper, const Tensor& x, Index diagonal) {
  check_input(upper, x);
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  run(upper, out, x, diagonal);
  return out;
}

void apply_into(bool upper, const Tensor& out, const Tensor& x, Index diagonal) {
  check_input(upper, x);
  check_out(name_of(upper), out, x.shape(), x.dtype());
  check_overlap(name_of(upper), out, x);
  run(upper, out, x, diagonal);
}

// --- eye, linspace, one_hot ---

void put_eye(const Tensor& out) {
  fill_into(out, 0);
  const Dims& strides = out.layout().strides;
  const Index n = std::min(out.shape()[0], out.shape()[1]);
  fill_into(
      TensorAccess::make(out.storage(), {{n}, {strides[0] + strides[1]}, out.layout().offset}), 1);
}

void put_linspace(const Tensor& out, Scalar start, Scalar stop) {
  const f64 from = start.to_f64(), to = stop.to_f64();
  if (!std::isfinite(from) || !std::isfinite(to))
    throw Error(ErrorKind::argument, "linspace",
                str("wanted finite bounds, got ", from, " and ", to));
  const Index n = out.element_count();
  const auto last = static_cast<f64>(n - 1);
  // Divided first where a product could overflow.
  const bool large = std::max(std::fabs(from), std::fabs(to)) > 1e288;
  dispatch(out.storage(), "linspace", [&]<Element T>(const Buffer<T>& buffer) {
    T* y = buffer.data() + out.layout().offset;
    const Index stride = out.layout().strides[0];
    parallel_for(n, kCostlyGrain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto a = static_cast<f64>(n - 1 - i), b = static_cast<f64>(i);
        const f64 value = large ? a / last * from + b / last * to : (a * from + b * to) / last;
        y[i * stride] = i == 0 ? start.to<T>() : i == n - 1 ? stop.to<T>() : convert<T>(value);
      }
    });
  });
}

constexpr std::string_view kOneHot = "one_hot";

Dims one_hot_shape(const Tensor& ids, Index classes, DType dtype) {
  check_ids_dtype(kOneHot, ids);
  if (is_raw(dtype)) throw_unsupported(dtype, kOneHot);
  if (classes < 0)
    throw Error(ErrorKind::argument, kOneHot, str("wanted classes >= 0, got ", classes));
  const Dims shape = ids.shape().inserted(ids.rank(), classes);
  (void)byte_size(dtype, element_count(shape, kOneHot), kOneHot);
  return shape;
}

/// The ids have been checked.
void put_one_hot(const Tensor& out, const Tensor& ids, Scalar on, Scalar off) {
  fill_into(out, off);
  const Tensor places = ids.unsqueeze(-1);
  scatter_into(out, out, -1, places, Tensor::scalar(on, out.dtype()).broadcast_as(places.shape()));
}

}  // namespace

Tensor Tensor::tril(Index diagonal) const { return apply(false, *this, diagonal); }
Tensor Tensor::triu(Index diagonal) const { return apply(true, *this, diagonal); }
void tril_into(const Tensor& out, const Tensor& x, Index diagonal) {
  apply_into(false, out, x, diagonal);
}
void triu_into(const Tensor& out, const Tensor& x, Index diagonal) {
  apply_into(true, out, x, diagonal);
}

Tensor Tensor::eye(Index rows, Index columns, DType dtype) {
  Tensor out = empty({rows, columns}, dtype);
  put_eye(out);
  return out;
}
void eye_into(const Tensor& out) {
  if (out.rank() != 2)
    throw error_about(ErrorKind::shape, "eye",
                      str("wanted a matrix, got shape ", to_string(out.shape())), {&out});
  check_out("eye", out, out.shape(), out.dtype());
  put_eye(out);
}

Tensor Tensor::linspace(Scalar start, Scalar stop, Index count, DType dtype) {
  if (count < 0)
    throw Error(ErrorKind::argument, "linspace", str("wanted a count >= 0, got ", count));
  Tensor out = empty({count}, dtype);
  put_linspace(out, start, stop);
  return out;
}
void linspace_into(const Tensor& out, Scalar start, Scalar stop) {
  if (out.rank() != 1)
    throw error_about(ErrorKind::shape, "linspace",
                      str("wanted an output of rank 1, got shape ", to_string(out.shape())),
                      {&out});
  check_out("linspace", out, out.shape(), out.dtype());
  put_linspace(out, start, stop);
}

Tensor Tensor::one_hot(Index classes, DType dtype, Scalar on, Scalar off) const {
  const Dims shape = one_hot_shape(*this, classes, dtype);
  check_ids(kOneHot, *this, classes);
  Tensor out = empty(shape, dtype);
  put_one_hot(out, *this, on, off);
  return out;
}
void one_hot_into(const Tensor& out, const Tensor& ids, Scalar on, Scalar off) {
  if (out.rank() == 0)
    throw error_about(ErrorKind::shape, kOneHot, "wanted an output of rank 1 or more, got rank 0",
                      {&out});
  check_out(kOneHot, out, one_hot_shape(ids, out.shape().last(1), out.dtype()), out.dtype());
  check_disjoint(kOneHot, out, ids);
  check_ids(kOneHot, ids, out.shape().last(1));
  put_one_hot(out, ids, on, off);
}

}  // namespace wick
