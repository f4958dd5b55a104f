// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>

#include "wick/base/made_once.h"
#include "wick/core/dispatch.h"
#include "wick/kernels/dot.h"
#include "wick/kernels/unary.h"
#include "wick/ops/blas.h"
#include "wick/ops/check.h"
#include "wick/ops/gemm.h"
#include "wick/ops/gemm_tiny.h"
#include "wick/ops/packed.h"
#include "wick/ops/scratch.h"
#include "wick/parallel/executor.h"

namespace wick {
namespace {

/// One call: out = epilogue(a b), b a tensor or packed.
struct Product {
  std::string_view op;
  const Tensor& a;
  const Tensor* b;
  const PackedMatrix* packed;
  const Epilogue& epilogue;

  DType dtype_b() const { return b == nullptr ? packed->dtype() : b->dtype(); }
  Dims shape_b() const { return b == nullptr ? packed->shape() : b->shape(); }

  Error error(ErrorKind kind, std::string_view message) const {
    return b == nullptr ? error_about(kind, op, message, {&a})
                        : error_about(kind, op, message, {&a, b});
  }

  /// The shape of the result, or an Error about shapes and dtypes.
  Dims shape() const {
    const Dims left = a.shape(), right = shape_b();
    if (a.dtype() != dtype_b())
      throw error(ErrorKind::dtype,
                  str("wanted equal dtypes, got ", name(a.dtype()), " and ", name(dtype_b())));
    if (left.rank() < 2 || right.rank() < 2)
      throw error(ErrorKind::shape, str("wanted [.., m, k] and [.., k, n], got ", to_string(left),
                                        " and ", to_string(right)));
    if (left.last(1) != right.last(2))
      throw error(ErrorKind::shape,
                  str("wanted as many columns on the left as rows on the right, got ",
                      to_string(left), " and ", to_string(right)));
    const auto batch = [](const Dims& d) {
      return Dims(std::span(d.begin(), static_cast<std::size_t>(d.rank() - 2)));
    };
    Dims shape = broadcast_shapes(batch(left), batch(right), op);
    shape.push_back(left.last(2));
    shape.push_back(right.last(1));
    element_count(shape, op);
    return shape;
  }

  bool has_tail() const {
    return epilogue.bias || epilogue.activation || epilogue.residual || epilogue.scale != 1;
  }
};

/// Batch dims that act like more rows of A (B repeats along them), or more columns of B, become
/// that: one large product instead of many.
template <class T, class Out>
void merge(GemmProblem<T, Out>& p, GemmBatch& batch) {
  auto& residual = p.epilogue.residual;
  const auto erase = [&](std::size_t i) {
    for (--batch.rank; i < batch.rank; ++i) {
      batch.shape[i] = batch.shape[i + 1];
      batch.a[i] = batch.a[i + 1];
      batch.b[i] = batch.b[i + 1];
      batch.c[i] = batch.c[i + 1];
      batch.residual[i] = batch.residual[i + 1];
    }
  };
  for (std::size_t i = batch.rank; i-- > 0;) {
    const Index size = batch.shape[i];
    const bool rows = batch.b[i] == 0 &&
                      (p.m == 1 || (batch.a[i] == p.m * p.a.row && batch.c[i] == p.m * p.c.row &&
                                    batch.residual[i] == p.m * residual.row));
    const bool columns = batch.a[i] == 0 && !p.b_packed && p.epilogue.bias.data == nullptr &&
                         (p.n == 1 || (batch.b[i] == p.n * p.b.col && batch.c[i] == p.n * p.c.col &&
                                       batch.residual[i] == p.n * residual.col));
    if (size == 1) {
      erase(i);
    } else if (rows) {
      if (p.m == 1) p.a.row = batch.a[i], p.c.row = batch.c[i], residual.row = batch.residual[i];
      p.m *= size;
      erase(i);
    } else if (columns) {
      if (p.n == 1) p.b.col = batch.b[i], p.c.col = batch.c[i], residual.col = batch.residual[i];
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

template <class T, class Out>
void multiply(const Tensor& out, const Product& product) {
  const Epilogue& e = product.epilogue;
  const Tensor& a = product.a;
  GemmProblem<T, Out> p;
  p.m = out.shape().last(2);
  p.n = out.shape().last(1);
  p.k = a.shape().last(1);
  p.alpha = factor<T>(e.alpha, "alpha");
  p.beta = factor<T>(e.beta, "beta");
  p.a = matrix<const T>(a);
  p.c = matrix<Out>(out);
  std::optional<Tensor> unpacked;  // made for another instruction set
  const Tensor* b = product.b;
  if (b == nullptr && PackedAccess::width(*product.packed) != kernels::gemm<T>().nr)
    b = &unpacked.emplace(product.packed->unpack());
  if (b != nullptr) {
    p.b = matrix<const T>(*b);
  } else {
    p.b = {PackedAccess::panels(*product.packed).template data<T>(), p.n, 1};
    p.b_packed = true;
  }
  // What is tiny would be done before the rest is decided.
  if (product.b != nullptr && out.rank() == 2 && !product.has_tail() && p.k <= kTinyMost &&
      blas() == Blas::wick && gemm_tiny<T, Out>(p.m, p.n, p.k, p.alpha, p.a, p.b, p.beta, p.c))
    return;
  std::optional<Tensor> bias, residual;
  if constexpr (Float<T>) {
    using Acc = kernels::GemmAcc<T>;
    if (e.bias) {
      bias = e.bias->to_dtype(dtype_of<Acc>);
      p.epilogue.bias = {bias->data<Acc>(), 0, bias->layout().strides[0]};
    }
    if (e.activation) p.epilogue.activate = kernels::unary<Acc>(*e.activation);
    p.epilogue.scale = static_cast<Compute<T>>(e.scale);
    if (e.residual) {
      residual = e.residual->broadcast_as(out.shape());
      p.epilogue.residual = matrix<const Out>(*residual);
    }
  }
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
    batch.b[at] = b == nullptr ? 0 : stride(*b);
    batch.c[at] = stride(out);
    batch.residual[at] = residual ? residual->layout().strides[i] : 0;
  }
  merge(p, batch);
  if constexpr (!(std::is_same_v<T, f32> && SmallFloat<Out>)) {
    if (!p.b_packed && p.epilogue.empty() && blas_gemm(p, batch)) return;
  }
  gemm_batch(p, batch, current_executor());
}

/// out has the right shape; its dtype is checked here.
void multiply_any(const Tensor& out, const Product& product) {
  dispatch(product.a.dtype(), product.op, [&]<Element T>(std::type_identity<T>) {
    if constexpr (Int<T>) {
      if (product.has_tail())
        throw Error(ErrorKind::unsupported_dtype, product.op,
                    str("wanted floats for a bias, an activation, a scale or a residual, got ",
                        name(dtype_of<T>)));
      factor<T>(product.epilogue.alpha, "alpha");
      factor<T>(product.epilogue.beta, "beta");
    }
    if (out.element_count() == 0) return;
    if constexpr (SmallFloat<T>) {
      if (out.dtype() == DType::f32) return multiply<T, f32>(out, product);
    }
    if constexpr (std::is_same_v<T, f32>) {
      if (out.dtype() == DType::bf16) return multiply<T, bf16>(out, product);
      if (out.dtype() == DType::f16) return multiply<T, f16>(out, product);
    }
    multiply<T, T>(out, product);
  });
}

/// The dtype that `out` must have: the operands' if it is none that they can be rounded to.
DType result_dtype(DType operands, DType out) {
  const bool small = is_float(operands) && bits(operands) < 32;
  if (small && out == DType::f32) return out;
  if (operands == DType::f32 && (out == DType::bf16 || out == DType::f16)) return out;
  return operands;
}

/// Everything about an epilogue but its shape's agreement with the dtype dispatch.
void check_epilogue(const Tensor& out, const Product& product) {
  const Epilogue& e = product.epilogue;
  if (e.bias) {
    const Dims wanted{out.shape().last(1)};
    if (e.bias->shape() != wanted)
      throw error_about(
          ErrorKind::shape, product.op,
          str("wanted a bias of shape ", to_string(wanted), ", got ", to_string(e.bias->shape())),
          {&*e.bias});
    const DType type = product.a.dtype();
    if (e.bias->dtype() != type && !(e.bias->dtype() == DType::f32 && bits(type) < 32))
      throw error_about(ErrorKind::dtype, product.op,
                        str("wanted a bias of ", name(type), bits(type) < 32 ? " or f32" : "",
                            ", got ", name(e.bias->dtype())),
                        {&*e.bias});
    check_disjoint(product.op, out, *e.bias);
  }
  if (e.residual) {
    if (e.residual->dtype() != out.dtype())
      throw error_about(
          ErrorKind::dtype, product.op,
          str("wanted a residual of ", name(out.dtype()), ", got ", name(e.residual->dtype())),
          {&*e.residual, &out});
    e.residual->broadcast_as(out.shape());
    check_overlap(product.op, out, *e.residual);
  }
}

void checked_multiply(const Tensor& out, const Product& product) {
  const Dims shape = product.shape();
  check_out(product.op, out, shape, result_dtype(product.a.dtype(), out.dtype()));
  check_disjoint(product.op, out, product.a);
  if (product.b != nullptr) check_disjoint(product.op, out, *product.b);
  check_epilogue(out, product);
  multiply_any(out, product);
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

/// A new tensor, no epilogue.
Tensor plain_product(std::string_view op, const Tensor& a, const Tensor& b) {
  static constinit MadeOnce<const Epilogue> none;
  const Product product{op, a, &b, nullptr, none.get()};
  const Tensor out = Tensor::empty(product.shape(), a.dtype());
  multiply_any(out, product);
  return out;
}

}  // namespace

void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b, f64 alpha, f64 beta) {
  Epilogue epilogue;
  epilogue.alpha = alpha;
  epilogue.beta = beta;
  checked_multiply(out, {"matmul", a, &b, nullptr, epilogue});
}

void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b, const Epilogue& epilogue) {
  checked_multiply(out, {"matmul", a, &b, nullptr, epilogue});
}

void matmul_into(const Tensor& out, const Tensor& x, const PackedMatrix& w,
                 const Epilogue& epilogue) {
  checked_multiply(out, {"matmul", x, nullptr, &w, epilogue});
}

Tensor matmul(const Tensor& x, const PackedMatrix& w, const Epilogue& epilogue) {
  if (epilogue.beta != 0)
    throw Error(ErrorKind::argument, "matmul",
                str("wanted a beta of 0 for a new output, got ", epilogue.beta));
  const Product product{"matmul", x, nullptr, &w, epilogue};
  const Tensor out = Tensor::empty(product.shape(), x.dtype());
  check_epilogue(out, product);
  multiply_any(out, product);
  return out;
}

Tensor Tensor::matmul(const Tensor& rhs) const { return plain_product("matmul", *this, rhs); }

Tensor Tensor::mv(const Tensor& rhs) const {
  if (rank() != 2 || rhs.rank() != 1 || shape()[1] != rhs.shape()[0])
    throw error_about(ErrorKind::shape, "mv",
                      str("wanted [m, k] and [k], got ", wick::to_string(shape()), " and ",
                          wick::to_string(rhs.shape())),
                      {this, &rhs});
  const Tensor column = rhs.unsqueeze(1);
  return plain_product("mv", *this, column).squeeze(1);
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
