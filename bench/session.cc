// SPDX-License-Identifier: Apache-2.0
#include "bench/session.h"

#include <algorithm>
#include <set>

#include "wick/base/cpu.h"
#include "wick/core/isa.h"
#include "wick/parallel/executor.h"
#include "wick/parallel/topology.h"

namespace wick::bench {
namespace {

constexpr double kQuickSeconds = 16;

/// A quarter of what wick may use, at most 4 GiB.
Index most_memory() { return std::min(memory_stats().limit / 4, Index{4} << 30); }

MachineLimits::Options limit_options(const Settings& settings) {
  return {.seconds = settings.quick ? 1e-3 : 2e-3, .memory = most_memory()};
}

}  // namespace

Session::Session(Settings settings)
    : settings_(std::move(settings)),
      cpus_(usable_cpu_list()),
      threads_(num_threads()),
      cold_(bench::cold_bytes(most_memory())),
      limits_(cpus_, limit_options(settings_)) {
  // Pools look at the affinity mask when they start, so they start before anything is pinned.
  current_executor().run(threads_, [](int) {});
  with_context([&] { current_executor().run(threads_, [](int) {}); });
  // The figures that say whether the second core is ours, and those of the report.
  const int times = settings_.budget > 0 ? 3 : settings_.quick ? 20 : 50;
  std::set<int> counts{1, std::min(2, threads_), threads_};
  counts.insert(settings_.threads.begin(), settings_.threads.end());
  for (const int threads : counts) {
    const PinScope pinned(cpus_, threads);
    for (int limit = 0; limit < kLimitCount; ++limit)
      limits_.settle(static_cast<Limit>(limit), threads, times);
  }
}

Session::~Session() { set_num_threads(threads_); }

double Session::seconds_for_each_left(double whole) const {
  return (whole - (steady_seconds() - start_)) / std::max(expected_ - runs_, 1);
}

Pace Session::pace() const {
  Pace pace;
  if (quick()) {
    pace.most_batches = 30;
    pace.most_seconds = std::clamp(seconds_for_each_left(kQuickSeconds), 0.02, 0.3);
  }
  if (settings_.budget > 0) {
    pace.most_seconds = settings_.budget;  // and nothing else ends the search
    pace.most_batches = 1 << 20;
  }
  if (settings_.budget > 0)
    pace.batch_seconds = std::min(pace.batch_seconds, settings_.budget / 10);
  return pace;
}

std::vector<int> Session::thread_counts() const {
  std::vector<int> counts;
  for (int t = 1; t < threads_; t *= 2) counts.push_back(t);
  counts.push_back(threads_);
  return counts;
}

std::vector<Row> Session::run(const Case& what, std::span<const Candidate> candidates, Pace pace) {
  set_num_threads(what.threads);
  settings_.progress(static_cast<double>(runs_) / std::max(expected_, runs_ + 1), what.op);
  PinScope pinned(cpus_, what.threads);
  const auto between = [&] {
    park_workers();
    pinned.refresh();
  };
  std::vector<Candidate> all(candidates.begin(), candidates.end());
  for (Candidate& candidate : all)
    if (!candidate.waited) candidate.waited = waited_seconds;
  std::vector<Row> rows = measure(what, all, limits_, pace, between);
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  ++runs_;
  settings_.progress(static_cast<double>(runs_) / std::max(expected_, runs_), what.op);
  return rows;
}

Limit Session::nearest_limit(Limit fma, Limit memory, double flops, double bytes,
                             int threads) const {
  const double compute = flops / std::max(limits_.best(fma, threads), 1.0);
  return compute >= bytes / std::max(limits_.best(memory, threads), 1.0) ? fma : memory;
}

Machine::Limits Session::limits_with(int threads) const {
  const auto rate = [&](Limit limit) { return limits_.best(limit, threads) / 1e9; };
  // f16 products are computed in f32, and so are bf16's without native instructions.
  const Limit bf16 = fma_limit(DType::bf16);
  return {rate(Limit::fma_f32), rate(Limit::fma_f64), rate(Limit::fma_f32),
          rate(bf16),           rate(Limit::copy),    rate(Limit::read)};
}

Machine Session::machine() {
  const CpuInfo cpu = cpu_info();
  return {.cpu = cpu.name,
          .isa = std::string(isa_chosen()),
          .cores = static_cast<int>(topology().cores.size()),
          .threads = threads_,
          .two_threads_scale = limits_.two_threads_scale(),
          .one = limits_with(1),
          .all = limits_with(threads_)};
}

std::span<const Suite> suites() {
  static constexpr Suite kSuites[] = {
      {"experiments",
       "the five experiments: matmul and elementwise ops, engines, threads, dtypes, "
       "with_context",
       run_experiments},
      {"embed",
       "the encoder of all-MiniLM-L6-v2 beside PyTorch, onnxruntime and OpenVINO, the start of "
       "`wick embed`, the first op of a process",
       run_embed, true},
      {"gemm",
       "matrix products of many shapes beside OpenBLAS, BLIS, oneDNN, libxsmm, Eigen, MKL, "
       "PyTorch and candle",
       run_gemm},
  };
  return kSuites;
}

}  // namespace wick::bench
