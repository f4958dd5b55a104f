// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <type_traits>

#include "wick/core/dispatch.h"
#include "wick/kernels/dot.h"
#include "wick/ops/blas.h"
#include "wick/ops/check.h"
#include "wick/ops/gemm.h"
#include "wick/ops/scratch.h"
#include "wick/parallel/executor.h"

namespace wick {
namespace {

/// The shape of the product, or an Error about shapes and dtypes.
Dims product_shape(std::string_view op, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype())
    throw error_about(ErrorKind::dtype, op,
                      str("wanted equal dtypes, got ", name(a.dtype()), " and ", name(b.dtype())),
                      {&a, &b});
  if (a.rank() < 2 || b.rank() < 2)
    throw error_about(ErrorKind::shape, op,
                      str("wanted [.., m, k] and [.., k, n], got ", to_string(a.shape()), " and ",
                          to_string(b.shape())),
                      {&a, &b});
  if (a.shape().last(1) != b.shape().last(2))
    throw error_about(ErrorKind::shape, op,
                      str("wanted as many columns on the left as rows on the right, got ",
                          to_string(a.shape()), " and ", to_string(b.shape())),
                      {&a, &b});
  const auto batch = [](const Dims& d) {
    return Dims(std::span(d.begin(), static_cast<std::size_t>(d.rank() - 2)));
  };
  Dims shape = broadcast_shapes(batch(a.shape()), batch(b.shape()), op);
  shape.push_back(a.shape().last(2));
  shape.push_back(b.shape().last(1));
  element_count(shape, op);
  return shape;
}

/// Batch dims that act like more rows of A (B repeats along them), or more columns of B, become
/// that: one large product instead of many.
template <class T, class Out>
void merge(GemmProblem<T, Out>& p, GemmBatch& batch) {
  const auto erase = [&](std::size_t i) {
    for (--batch.rank; i < batch.rank; ++i) {
      batch.shape[i] = batch.shape[i + 1];
      batch.a[i] = batch.a[i + 1];
      batch.b[i] = batch.b[i + 1];
      batch.c[i] = batch.c[i + 1];
    }
  };
  for (std::size_t i = batch.rank; i-- > 0;) {
    const Index size = batch.shape[i];
    const bool rows = batch.b[i] == 0 &&
                      (p.m == 1 || (batch.a[i] == p.m * p.a.row && batch.c[i] == p.m * p.c.row));
    const bool columns = batch.a[i] == 0 &&
                         (p.n == 1 || (batch.b[i] == p.n * p.b.col && batch.c[i] == p.n * p.c.col));
    if (size == 1) {
      erase(i);
    } else if (rows) {
      if (p.m == 1) p.a.row = batch.a[i], p.c.row = batch.c[i];
      p.m *= size;
      erase(i);
    } else if (columns) {
      if (p.n == 1) p.b.col = batch.b[i], p.c.col = batch.c[i];
      p.n *= size;
      erase(i);
    }
  }
}

/// The last two dims as a matrix.
template <class T>
MatrixRef<T> matrix(const Tensor& x) {
  const Dims& strides = x.layout().strides;
  return {x.data<std::remove_const_t<T>>(), strides.last(2), strides.last(1)};
}

template <class T, class Out>
void multiply(const Tensor& out, const Tensor& a, const Tensor& b, Compute<T> alpha,
              Compute<T> beta) {
  GemmProblem<T, Out> p;
  p.m = out.shape().last(2);
  p.n = out.shape().last(1);
  p.k = a.shape().last(1);
  p.alpha = alpha;
  p.beta = beta;
  p.a = matrix<const T>(a);
  p.b = matrix<const T>(b);
  p.c = matrix<Out>(out);
  GemmBatch batch;
  batch.rank = static_cast<std::size_t>(out.rank() - 2);
  for (int i = 0; i < out.rank() - 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto stride = [&](const Tensor& x) -> Index {
      const int dim = i - (out.rank() - x.rank());
      return dim < 0 || x.shape()[dim] == 1 ? 0 : x.layout().strides[dim];
    };
    batch.shape[at] = out.shape()[i];
    batch.a[at] = stride(a);
    batch.b[at] = stride(b);
    batch.c[at] = stride(out);
  }
  merge(p, batch);
  if (!blas_gemm(p, batch)) gemm_batch(p, batch, current_executor());
}

/// A factor as an element: integers take only what they hold exactly.
template <class T>
Compute<T> factor(f64 value, std::string_view what) {
  if constexpr (Int<T>) {
    if (!Scalar(value).fits<T>())
      throw Error(ErrorKind::argument, "matmul",
                  str("wanted an ", what, " that ", name(dtype_of<T>), " holds, got ", value));
    return Scalar(value).to<T>();
  } else {
    return static_cast<Compute<T>>(value);
  }
}

/// out has the right shape; its dtype is checked here.
void multiply_any(const Tensor& out, const Tensor& a, const Tensor& b, f64 alpha, f64 beta) {
  dispatch(a.storage(), "matmul", [&]<Element T>(const Buffer<T>&) {
    const Compute<T> x = factor<T>(alpha, "alpha"), y = factor<T>(beta, "beta");
    if (out.element_count() == 0) return;
    if constexpr (SmallFloat<T>) {
      if (out.dtype() == DType::f32) return multiply<T, f32>(out, a, b, x, y);
    }
    multiply<T, T>(out, a, b, x, y);
  });
}

/// sum of a[i] * b[i]: blocks side by side, their sums added in order.
template <class T>
T dot_product(const T* a, Index a_step, const T* b, Index b_step, Index n) {
  using Acc = kernels::GemmAcc<T>;
  const auto kernel = kernels::dot<T>();
  const Index blocks = ceil_div(n, kernels::kDotBlock);
  const auto block_sum = [&](Index block) {
    const Index begin = block * kernels::kDotBlock;
    const Index count = std::min(kernels::kDotBlock, n - begin);
    const auto run = [count](const T* x, Index step, T* copy) {
      if (step == 1) return x;
      for (Index i = 0; i < count; ++i) copy[i] = x[i * step];
      return static_cast<const T*>(copy);
    };
    T x[kernels::kDotBlock], y[kernels::kDotBlock];
    return kernel(run(a + begin * a_step, a_step, x), run(b + begin * b_step, b_step, y), count);
  };
  Acc sum = 0;
  if (blocks <= 16) {
    for (Index i = 0; i < blocks; ++i) sum += block_sum(i);
  } else {
    const Scratch scratch(blocks * static_cast<Index>(sizeof(Acc)), "dot");
    auto* sums = reinterpret_cast<Acc*>(scratch.data());
    parallel_for(blocks, 16, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) sums[i] = block_sum(i);
    });
    for (Index i = 0; i < blocks; ++i) sum += sums[i];
  }
  if constexpr (Int<T>) {
    return static_cast<T>(sum);
  } else {
    return convert<T>(sum);
  }
}

}  // namespace

void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b, f64 alpha, f64 beta) {
  const Dims shape = product_shape("matmul", a, b);
  const bool small = is_float(a.dtype()) && bits(a.dtype()) < 32;
  check_out("matmul", out, shape, small && out.dtype() == DType::f32 ? DType::f32 : a.dtype());
  check_disjoint("matmul", out, a);
  check_disjoint("matmul", out, b);
  multiply_any(out, a, b, alpha, beta);
}

Tensor Tensor::matmul(const Tensor& rhs) const {
  const Tensor out = Tensor::empty(product_shape("matmul", *this, rhs), dtype());
  multiply_any(out, *this, rhs, 1, 0);
  return out;
}

Tensor Tensor::mv(const Tensor& rhs) const {
  if (rank() != 2 || rhs.rank() != 1 || shape()[1] != rhs.shape()[0])
    throw error_about(ErrorKind::shape, "mv",
                      str("wanted [m, k] and [k], got ", wick::to_string(shape()), " and ",
                          wick::to_string(rhs.shape())),
                      {this, &rhs});
  const Tensor column = rhs.unsqueeze(1);
  const Tensor out = Tensor::empty(product_shape("mv", *this, column), dtype());
  multiply_any(out, *this, column, 1, 0);
  return out.squeeze(1);
}

Tensor Tensor::dot(const Tensor& rhs) const {
  if (rank() != 1 || rhs.rank() != 1 || shape() != rhs.shape())
    throw error_about(ErrorKind::shape, "dot",
                      str("wanted two vectors of one length, got ", wick::to_string(shape()),
                          " and ", wick::to_string(rhs.shape())),
                      {this, &rhs});
  const Tensor out = Tensor::empty(Dims{}, dtype());
  dispatch(storage(), rhs.storage(), "dot", [&]<Element T>(const Buffer<T>&, const Buffer<T>&) {
    *out.data<T>() = dot_product(data<T>(), layout().strides[0], rhs.data<T>(),
                                 rhs.layout().strides[0], shape()[0]);
  });
  return out;
}

}  // namespace wick
