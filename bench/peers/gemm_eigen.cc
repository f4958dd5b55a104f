// SPDX-License-Identifier: Apache-2.0
// Eigen for `wick bench gemm`, with the instructions that this program is compiled for.
#include <omp.h>

#include <Eigen/Dense>

#include "bench/peers/gemm_peer.h"

namespace wick::bench {
namespace {

using Call = std::function<void()>;

/// kSize: the rows and columns where they are known when this is compiled.
template <class T, int kSize, int kOrderOfB>
Call calls(const Product& p, const Operands& o) {
  constexpr int kOrder = Eigen::RowMajor;
  using Matrix = Eigen::Matrix<T, kSize, kSize, kOrder>;
  using MatrixB = Eigen::Matrix<T, kSize, kSize, kOrderOfB>;
  return [p, &o] {
    const auto one = [&](std::int64_t i) {
      const Eigen::Map<const Matrix> a(o.a.as<T>(i * p.m * p.k), p.m, p.k);
      const Eigen::Map<const MatrixB> b(o.b.as<T>(i * p.k * p.n), p.k, p.n);
      Eigen::Map<Matrix>(o.c.as<T>(i * p.m * p.n), p.m, p.n).noalias() = a * b;
    };
    if (p.batch == 1) {
      one(0);
      return;
    }
    // The batch is what runs in parallel; inside, Eigen then stays on its thread.
#pragma omp parallel for if (omp_get_max_threads() > 1)
    for (std::int64_t i = 0; i < p.batch; ++i) one(i);
  };
}

/// Vectors as vectors, so that Eigen's matrix-vector code runs.
template <class T>
Call vector_calls(const Product& p, const Operands& o) {
  using Matrix = Eigen::Matrix<T, -1, -1, Eigen::RowMajor>;
  using Vector = Eigen::Matrix<T, -1, 1>;
  if (p.n == 1)
    return [p, &o] {
      Eigen::Map<Vector>(o.c.as<T>(), p.m).noalias() =
          Eigen::Map<const Matrix>(o.a.as<T>(), p.m, p.k) *
          Eigen::Map<const Vector>(o.b.as<T>(), p.k);
    };
  return [p, &o] {
    const Eigen::Map<const Vector> a(o.a.as<T>(), p.k);
    Eigen::Map<Vector> c(o.c.as<T>(), p.n);
    if (p.transposed)
      c.noalias() = Eigen::Map<const Matrix>(o.b.as<T>(), p.n, p.k) * a;
    else
      c.noalias() = Eigen::Map<const Matrix>(o.b.as<T>(), p.k, p.n).transpose() * a;
  };
}

template <class T>
Call prepare_as(const Product& p, const Operands& o) {
  if (p.batch == 1 && (p.m == 1 || p.n == 1)) return vector_calls<T>(p, o);
  const bool cube = p.m == p.n && p.n == p.k && !p.transposed;
  if (cube && p.n == 3) return calls<T, 3, Eigen::RowMajor>(p, o);
  if (cube && p.n == 8) return calls<T, 8, Eigen::RowMajor>(p, o);
  return p.transposed ? calls<T, -1, Eigen::ColMajor>(p, o) : calls<T, -1, Eigen::RowMajor>(p, o);
}

Call prepare(const Product& p, const Operands& o) {
  switch (p.type) {
    case Type::f32: return prepare_as<float>(p, o);
    case Type::f64: return prepare_as<double>(p, o);
    case Type::f16: return prepare_as<Eigen::half>(p, o);
    case Type::bf16: break;
  }
  return prepare_as<Eigen::bfloat16>(p, o);
}

}  // namespace
}  // namespace wick::bench

int main(int argc, char** argv) {
  using namespace wick::bench;
  return serve(argc, argv, [](std::string_view, int threads) -> Library {
    Eigen::setNbThreads(threads);
    return {"Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
                std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION) +
                " " + Eigen::SimdInstructionSetsInUse(),
            prepare};
  });
}
