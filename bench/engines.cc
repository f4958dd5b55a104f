// SPDX-License-Identifier: Apache-2.0
#include "bench/engines.h"

#include <algorithm>
#include <cstdlib>

#include "wick/blas.h"

namespace wick::bench {
namespace {

/// Threads of a peer that wait busily after each call would spoil the limit runs that follow: a
/// moment is all they get, unless the user has chosen.
void calm_peers() {
  ::setenv("OPENBLAS_THREAD_TIMEOUT", "18", 0);  // 2^18 cycles
  ::setenv("KMP_BLOCKTIME", "0", 0);
}

Blas engine_of(const std::string& engine) {
  for (const BlasInfo& info : blas_engines())
    if (name(info.engine) == engine) return info.engine;
  return Blas::wick;
}

}  // namespace

std::vector<std::string> matmul_engines() {
  calm_peers();
  std::vector<std::string> names;
  for (const BlasInfo& info : blas_engines())
    if (info.found) names.emplace_back(name(info.engine));
  return names;
}

bool engine_has(const std::string& engine, DType dtype) {
  if (engine == "wick" || dtype == DType::f32 || dtype == DType::f64) return true;
  if (dtype != DType::f16) return false;
  const auto all = blas_engines();
  return std::any_of(all.begin(), all.end(), [&](const BlasInfo& info) {
    return name(info.engine) == engine && info.has_f16;
  });
}

Candidate on_engine(const std::string& engine, std::function<void()> call) {
  const Blas blas = engine_of(engine);
  return {.engine = engine, .call = std::move(call), .around = [blas](FunctionRef<void()> batch) {
            const struct Restore {
              Blas before = wick::blas();
              ~Restore() { set_blas(before); }
            } restore;
            set_blas(blas);
            batch();
          }};
}

}  // namespace wick::bench
