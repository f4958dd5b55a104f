// SPDX-License-Identifier: Apache-2.0
#include "bench/engines.h"

namespace wick::bench {

std::vector<std::string> matmul_engines() { return {"wick"}; }

bool engine_has(const std::string& engine, DType dtype) {
  return engine == "wick" || dtype == DType::f32 || dtype == DType::f64;
}

Candidate on_engine(const std::string& engine, std::function<void()> call) {
  return {.engine = engine, .call = std::move(call)};
}

}  // namespace wick::bench
