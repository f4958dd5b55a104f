// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bench/cases.h"
#include "bench/engines.h"
#include "bench/report.h"
#include "bench/session.h"
#include "wick/parallel/executor.h"

// The chapter's five experiments, in its order and with its lines.

namespace wick::bench {
namespace {

constexpr Index kElements = 4194304;
constexpr int kContextRuns = 201;

struct MatmulSize {
  DType dtype;
  Index n;
};
constexpr std::array kMatmuls{MatmulSize{DType::f32, 256},   MatmulSize{DType::f32, 1024},
                              MatmulSize{DType::f32, 2048},  MatmulSize{DType::f16, 1024},
                              MatmulSize{DType::bf16, 1024}, MatmulSize{DType::f64, 1024}};

struct Elementwise {
  std::string_view op;
  int inputs;
};
constexpr std::array kElementwise{Elementwise{"exp", 1}, Elementwise{"add", 2},
                                  Elementwise{"mul", 2}};

Case square(const Session& s, int experiment, DType dtype, Index n, int threads) {
  return matmul_case(experiment, dtype, n, n, n, threads, s.fma_limit(dtype));
}

Candidate by_wick(std::function<void()> call) {
  return {.engine = "wick", .call = std::move(call)};
}

void print_rows(const Session& s, std::span<const Row> rows) {
  for (const Row& row : rows) s.print(text_line(row));
}

// 1. Times of products and elementwise ops.
void times(Session& s) {
  s.print(fmt::format("== 1. engine=wick threads={}", s.threads()));
  for (const auto [dtype, n] : kMatmuls)
    print_rows(s, s.run(square(s, 1, dtype, n, s.threads()), by_wick(matmul_call(dtype, n, n, n))));
  for (const auto [op, inputs] : kElementwise)
    print_rows(s, s.run(elementwise_case(1, op, inputs, kElements, s.threads()),
                        by_wick(elementwise_call(op, inputs, kElements, s.cold_bytes()))));
}

// 2. The same for each engine. They are measured side by side and printed one after the other.
void engines(Session& s) {
  const std::vector<std::string> names = matmul_engines();
  // Their threads start now, before anything is pinned.
  for (const std::string& name : names) {
    const Candidate first = on_engine(name, matmul_call(DType::f32, 512, 512, 512));
    first.around(first.call);
  }
  std::vector<Row> rows;
  for (const auto [dtype, n] : kMatmuls) {
    const std::function<void()> call = matmul_call(dtype, n, n, n);
    std::vector<Candidate> candidates;
    for (const std::string& name : names)
      if (engine_has(name, dtype)) candidates.push_back(on_engine(name, call));
    const auto got = s.run(square(s, 2, dtype, n, s.threads()), candidates, s.pace());
    rows.insert(rows.end(), got.begin(), got.end());
    for (const std::string& name : names) {
      if (engine_has(name, dtype)) continue;
      Row& row = rows.emplace_back();
      row.what = square(s, 2, dtype, n, s.threads());
      row.engine = name;
      row.error = str("matmul: ", name, " has no ", wick::name(dtype), "; wick's engine does it");
      s.add(row);
    }
  }
  for (const auto [op, inputs] : kElementwise) {
    const auto got = s.run(elementwise_case(2, op, inputs, kElements, s.threads()),
                           by_wick(elementwise_call(op, inputs, kElements, s.cold_bytes())));
    rows.insert(rows.end(), got.begin(), got.end());
  }
  for (const std::string& name : names) {
    s.print(fmt::format("== 2. engine={} threads={}", name, s.threads()));
    for (const Row& row : rows)
      if (row.engine == name) s.print(text_line(row));
  }
}

// 3. Thread counts.
void threads(Session& s) {
  const std::function<void()> matmul = matmul_call(DType::f32, 1024, 1024, 1024);
  const auto exp = elementwise_call("exp", 1, kElements, s.cold_bytes());
  for (const int t : s.thread_counts()) {
    s.print(fmt::format("== 3. threads={}", t));
    print_rows(s, s.run(square(s, 3, DType::f32, 1024, t), by_wick(matmul)));
    print_rows(s, s.run(elementwise_case(3, "exp", 1, kElements, t), by_wick(exp)));
  }
}

// 4. A small product of each dtype: the result, or why there is none.
void dtypes(Session& s) {
  s.print("== 4. matmul 2x2 by dtype");
  Pace pace = s.pace();
  pace.batch_seconds = std::min(pace.batch_seconds, 2e-4);
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    std::string result;
    const Candidate candidate = by_wick([&] {
      const Tensor ones = Tensor::ones({2, 2}, dtype);
      const Tensor product = ones.matmul(ones);
      if (result.empty()) result = one_line(product);
    });
    s.run(square(s, 4, dtype, 2, 1), {&candidate, 1}, pace);
    s.print(text_line(s.add_result(result)));
  }
}

// 5. Calls one by one and within with_context.
void contexts(Session& s) {
  s.print(fmt::format("== 5. with_context threads={}", s.threads()));
  Pace pace = s.pace();
  pace.calls_per_timing = 1;
  pace.timings = (kContextRuns + 8) / 9;
  for (const Index n : {64, 256, 1024}) {
    const std::function<void()> call = matmul_call(DType::f32, n, n, n);
    Candidate plain = by_wick(call), inside = by_wick(call);
    inside.context = true;
    inside.around = [](FunctionRef<void()> batch) { with_context(batch); };
    const Candidate both[] = {plain, inside};
    const auto rows = s.run(square(s, 5, DType::f32, n, s.threads()), both, pace);
    s.print(context_line(rows[0], rows[1]));
  }
}

}  // namespace

void run_experiments(Session& s) {
  const auto counts = static_cast<int>(s.thread_counts().size());
  s.expect(2 * static_cast<int>(kMatmuls.size() + kElementwise.size()) + 2 * counts + kDTypeCount +
           3);
  times(s);
  engines(s);
  threads(s);
  dtypes(s);
  contexts(s);
}

}  // namespace wick::bench
