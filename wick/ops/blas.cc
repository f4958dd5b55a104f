// SPDX-License-Identifier: Apache-2.0
#include "wick/ops/blas.h"

#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "wick/base/env.h"
#include "wick/base/error.h"
#include "wick/core/convert.h"
#include "wick/ops/blas_library.h"

namespace wick {
namespace {

constexpr std::array kEngines{Blas::wick, Blas::openblas, Blas::mkl, Blas::accelerate};
constexpr int kUnset = -1;

/// The engine in force, or kUnset until somebody asks.
std::atomic<int>& chosen() {
  static std::atomic<int> engine{kUnset};
  return engine;
}

void check_there(Blas engine, ErrorKind kind, std::string_view op) {
  if (engine == Blas::wick) return;
  const BlasInfo& info = blas_table(engine).info;
  if (!info.found)
    throw Error(kind, op,
                str("wanted an engine of this machine, got ", name(engine), ": ", info.note));
}

Blas from_environment() {
  const auto text = env_text("WICK_BLAS_ENGINE");
  if (!text) return Blas::wick;
  for (const Blas engine : kEngines)
    if (*text == name(engine)) {
      check_there(engine, ErrorKind::environment, "WICK_BLAS_ENGINE");
      return engine;
    }
  throw Error(ErrorKind::environment, "WICK_BLAS_ENGINE",
              str("wanted wick, openblas, mkl or accelerate, got \"", *text, '"'));
}

/// A row-major matrix as the C interface sees its transpose, column by column.
struct BlasMatrix {
  int trans;
  int ld;
};

std::optional<BlasMatrix> as_blas(Index rows, Index cols, Index row, Index col) {
  constexpr Index kMost = std::numeric_limits<int>::max();
  if (cols == 1) col = 1;
  if (rows == 1) row = std::max(cols * std::abs(col), Index{1});
  if (col == 1 && row >= cols && row <= kMost) return BlasMatrix{kBlasPlain, static_cast<int>(row)};
  if (rows == 1) row = 1;
  if (cols == 1) col = std::max(rows * std::abs(row), Index{1});
  if (row == 1 && col >= rows && col <= kMost)
    return BlasMatrix{kBlasTransposed, static_cast<int>(col)};
  return std::nullopt;
}

/// Sets the engine's threads to the budget of the ops; engines share one number per process.
void set_threads(const BlasTable& table) {
  if (table.set_threads == nullptr) return;
  static std::atomic<const BlasTable*> last_table{nullptr};
  static std::atomic<int> last_threads{0};
  const int threads = current_executor().threads();
  if (last_table.exchange(&table) == &table && last_threads.load() == threads) return;
  table.set_threads(threads);
  last_threads.store(threads);
}

template <class T, class F>
bool run(F gemm, T alpha, T beta, const BlasTable& table, Index m, Index n, Index k, const T* a,
         Index rsa, Index csa, const T* b, Index rsb, Index csb, T* c, Index rsc, Index csc,
         const GemmBatch& batch, bool swapped) {
  constexpr Index kMost = std::numeric_limits<int>::max();
  if (gemm == nullptr || m < 1 || n < 1 || k < 1 || m > kMost || n > kMost || k > kMost)
    return false;
  const auto x = as_blas(m, k, rsa, csa), y = as_blas(k, n, rsb, csb), z = as_blas(m, n, rsc, csc);
  if (!x || !y || !z) return false;
  if (z->trans != kBlasPlain) {  // C by columns: C^T = B^T A^T by rows
    if (swapped) return false;
    GemmBatch other = batch;
    std::swap(other.a, other.b);
    return run<T>(gemm, alpha, beta, table, n, m, k, b, csb, rsb, a, csa, rsa, c, csc, rsc, other,
                  true);
  }
  set_threads(table);
  const Index count = batch.count();
  for (Index i = 0; i < count; ++i) {
    const GemmBatch::Offsets at = batch.offsets(i);
    gemm(kBlasColumnMajor, y->trans, x->trans, static_cast<int>(n), static_cast<int>(m),
         static_cast<int>(k), alpha, b + at.b, y->ld, a + at.a, x->ld, beta, c + at.c, z->ld);
  }
  return true;
}

}  // namespace

std::string_view name(Blas engine) {
  switch (engine) {
    case Blas::openblas: return "openblas";
    case Blas::mkl: return "mkl";
    case Blas::accelerate: return "accelerate";
    case Blas::wick: break;
  }
  return "wick";
}

Blas blas() {
  const int engine = chosen().load(std::memory_order_relaxed);
  if (engine != kUnset) return static_cast<Blas>(engine);
  int unset = kUnset;
  chosen().compare_exchange_strong(unset, static_cast<int>(from_environment()));
  return static_cast<Blas>(chosen().load());
}

void set_blas(Blas engine) {
  check_there(engine, ErrorKind::argument, "set_blas");
  chosen().store(static_cast<int>(engine));
}

std::vector<BlasInfo> blas_engines() {
  std::vector<BlasInfo> all;
  for (const Blas engine : kEngines) {
    if (engine == Blas::wick) {
      all.push_back({engine, true, true, true, "", WICK_VERSION, ""});
    } else {
      all.push_back(blas_table(engine).info);
    }
  }
  return all;
}

template <Element T, class Out>
bool blas_gemm(const GemmProblem<T, Out>& p, const GemmBatch& batch) {
  if constexpr (std::is_same_v<T, Out> && OneOf<T, f32, f64, f16>) {
    const Blas engine = blas();
    if (engine == Blas::wick) return false;
    const BlasTable& table = blas_table(engine);
    const auto call = [&](auto gemm, auto alpha, auto beta) {
      using B = decltype(alpha);  // f16 travels as its bits
      return run<B>(gemm, alpha, beta, table, p.m, p.n, p.k, reinterpret_cast<const B*>(p.a.data),
                    p.a.row, p.a.col, reinterpret_cast<const B*>(p.b.data), p.b.row, p.b.col,
                    reinterpret_cast<B*>(p.c.data), p.c.row, p.c.col, batch, false);
    };
    if constexpr (std::is_same_v<T, f32>) return call(table.sgemm, p.alpha, p.beta);
    if constexpr (std::is_same_v<T, f64>) return call(table.dgemm, p.alpha, p.beta);
    if constexpr (std::is_same_v<T, f16>) {
      const f16 alpha = to_f16(p.alpha), beta = to_f16(p.beta);
      if (to_f32(alpha) != p.alpha || to_f32(beta) != p.beta) return false;
      return call(table.hgemm, alpha.bits, beta.bits);
    }
  } else {
    static_cast<void>(p);
    static_cast<void>(batch);
    return false;
  }
}

#define WICK_INSTANTIATE(T) template bool blas_gemm(const GemmProblem<T, T>&, const GemmBatch&);
WICK_FOR_ELEMENTS(WICK_INSTANTIATE)
#undef WICK_INSTANTIATE
template bool blas_gemm(const GemmProblem<f16, f32>&, const GemmBatch&);
template bool blas_gemm(const GemmProblem<bf16, f32>&, const GemmBatch&);
template bool blas_gemm(const GemmProblem<f8e4m3, f32>&, const GemmBatch&);

}  // namespace wick
