// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness.h"

namespace wick::bench {

struct Settings {
  bool quick = false;
  std::string model = {};  ///< folder of the model for suites that run one
  double budget = 0;       ///< seconds that one figure may look for quiet batches; 0: by `quick`
  std::string rows = {};   ///< filter of suites with many rows; see select_rows()
  std::vector<int> threads = {};  ///< thread counts of suites that take them; empty: theirs
  bool peers = true;              ///< other libraries, where a suite has them
  std::function<void(std::string_view line)> print = [](std::string_view) {};
  std::function<void(double done, std::string_view what)> progress = [](double, std::string_view) {
  };
};

/// The machine as the report names it.
struct Machine {
  struct Limits {
    double fma_f32 = 0, fma_f64 = 0, fma_f16 = 0, fma_bf16 = 0;  ///< GFLOP/s
    double copy = 0, read = 0;                                   ///< GB/s
  };
  std::string cpu, isa;
  int cores = 1;
  int threads = 1;  ///< what "all" stands for
  bool two_threads_scale = true;
  Limits one, all;
};

/// One run of `wick bench`: the limits, the rows so far, and how to report. The caller's thread
/// count is restored at the end.
class Session {
 public:
  explicit Session(Settings settings);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// measure() with `what.threads` threads of wick, pinned; keeps and returns the rows.
  std::vector<Row> run(const Case& what, std::span<const Candidate> candidates, Pace pace);
  std::vector<Row> run(const Case& what, const Candidate& candidate) {
    return run(what, {&candidate, 1}, pace());
  }
  /// Keeps a row that was made without measure().
  void add(Row row) { rows_.push_back(std::move(row)); }
  /// Says what the call of the last row computed.
  const Row& add_result(std::string result) {
    rows_.back().result = std::move(result);
    return rows_.back();
  }
  /// The last rows that were kept, to add what follows from all of them.
  std::span<Row> last_rows(std::size_t count) { return std::span(rows_).last(count); }

  void print(std::string_view line) const { settings_.print(line); }
  /// How many calls of run() are to come, for the progress bar.
  void expect(int runs) { expected_ += runs; }

  /// Seconds for each run still expected, if all is to be done so long after the start.
  double seconds_for_each_left(double whole) const;

  bool quick() const { return settings_.quick; }
  const Settings& settings() const { return settings_; }
  const std::string& model() const { return settings_.model; }
  Pace pace() const;
  int threads() const { return threads_; }  ///< the default
  /// Where the first of the threads of wick and of its peers are pinned, and so on.
  const std::vector<int>& cpus() const { return cpus_; }
  /// 1, 2, 4 ... and the default.
  std::vector<int> thread_counts() const;
  Limit fma_limit(DType dtype) const { return bench::fma_limit(dtype, limits_.native_bf16()); }
  /// Bytes that operands which should come from memory must exceed together.
  Index cold_bytes() const { return cold_; }
  /// The limit that leaves this work the longest time, by the best rates so far.
  Limit nearest_limit(Limit fma, Limit memory, double flops, double bytes, int threads) const;

  const std::vector<Row>& rows() const { return rows_; }
  Machine machine();

 private:
  Machine::Limits limits_with(int threads) const;

  Settings settings_;
  std::vector<int> cpus_;
  int threads_;
  Index cold_;
  MachineLimits limits_;
  std::vector<Row> rows_;
  int expected_ = 0, runs_ = 0;
  double start_ = steady_seconds();
};

/// A part of `wick bench`: a table of cases and how to run them.
struct Suite {
  std::string_view name, about;
  void (*run)(Session& session);
  bool needs_model = false;  ///< Settings::model must be set
};

/// The suites, the chapter's experiments first; that one also runs where none is named.
std::span<const Suite> suites();

/// suites(): one function for each file.
void run_experiments(Session& session);
void run_embed(Session& session);
void run_gemm(Session& session);

}  // namespace wick::bench
