// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "bench/gemm_calls.h"
#include "bench/gemm_peer.h"
#include "bench/report.h"
#include "bench/session.h"
#include "wick/base/cpu.h"
#include "wick/base/error.h"
#include "wick/base/str.h"
#include "wick/parallel/executor.h"

// Products of the shapes that people multiply, wick beside other libraries.

namespace wick::bench {
namespace {

/// Seconds that one row may look for quiet moments, at most and at least, so that the whole list
/// takes about so long.
constexpr double kRowSeconds = 6, kFewestRowSeconds = 0.1, kListSeconds = 600;
constexpr double kQuickRowSeconds = 0.4, kQuickListSeconds = 60;
/// --quick leaves larger products out.
constexpr double kQuickFlops = 5e9;
/// A peer is not timed where one call takes so much longer than wick's, and this long.
constexpr double kTooSlow = 8, kTooLong = 0.05;
/// Seconds of a call that need no second look.
constexpr double kHopeless = 4;
/// Goal of a row against the best peer.
constexpr double kGoal = 0.97;

using Peers = std::vector<std::unique_ptr<GemmPeer>>;

Peers start_peers(const Session& s, int threads, std::span<const Gemm> rows) {
  Peers peers;
  std::vector<std::string> missing;
  std::string there;
  for (const GemmEngine& engine : gemm_engines(threads)) {
    if (std::none_of(rows.begin(), rows.end(),
                     [&](const Gemm& row) { return engine_takes(engine.name, row); }))
      continue;
    if (engine.program.empty()) {
      missing.push_back(engine.name);
      continue;
    }
    try {
      auto peer = std::make_unique<GemmPeer>(engine.program, engine.name,
                                             first_cpus(s.cpus(), threads), engine.settings);
      if (!peer->missing().empty()) {
        s.print(fmt::format("{}: skipped: missing {}", engine.name, peer->missing()));
        continue;
      }
      if (engine.name.find('-') == engine.name.npos)
        there += fmt::format("\n  {:<10} {}", engine.name, peer->version());
      peers.push_back(std::move(peer));
    } catch (const Error& e) {
      s.print(fmt::format("{}: skipped: {}", engine.name, e.what()));
    }
  }
  if (!missing.empty())
    s.print(
        fmt::format("{}: skipped: not built here; `make peers` does it", fmt::join(missing, ", ")));
  if (!there.empty()) s.print("peers:" + there);
  return peers;
}

Candidate by_peer(GemmPeer& peer) {
  return {.engine = peer.engine(),
          .timed = [&peer](int calls) { return peer.run(calls); },
          .waited = [&peer] { return peer.waited(); }};
}

/// Why the peer is not timed on this row, nothing where it does not do it anyway; empty if it is.
std::optional<std::string> objection(GemmPeer& peer, GemmPeer::Answer answer, double own_seconds) {
  if (!answer.refused.empty()) return std::nullopt;
  if (!answer.wrong.empty()) return "wrong result: " + answer.wrong;
  const auto slow = [&] {
    return answer.seconds > kTooLong && answer.seconds > kTooSlow * own_seconds;
  };
  // All prepared at the same time; now it has the machine for itself.
  if (slow() && answer.seconds < kHopeless) answer.seconds = peer.run(1);
  return slow() ? fmt::format("one call took {:.2f} s", answer.seconds) : std::string();
}

/// The peers that do this row, and do it right and in time; a line for each that does not.
void add_peers(const Session& s, const Peers& peers, const Gemm& row, double own_seconds,
               std::vector<Candidate>& candidates) {
  const auto dropped = [&](const GemmPeer& peer, std::string_view why) {
    s.print(fmt::format("{}: dropped from {}: {}", peer.engine(), gemm_name(row), why));
  };
  std::vector<std::pair<GemmPeer*, GemmPeer::Answer>> answers;
  for (const auto& peer : peers)
    if (engine_takes(peer->engine(), row)) answers.emplace_back(peer.get(), GemmPeer::Answer{});
  for (auto& [peer, answer] : answers) peer->ask(row);
  for (auto& [peer, answer] : answers) {
    try {
      answer = peer->answer(row);
    } catch (const Error& e) {
      answer.refused = e.what();
      dropped(*peer, e.what());
    }
  }
  for (auto& [peer, answer] : answers) {
    try {
      const auto why = objection(*peer, answer, own_seconds);
      if (why && why->empty()) candidates.push_back(by_peer(*peer));
      if (why && !why->empty()) dropped(*peer, *why);
    } catch (const Error& e) {
      dropped(*peer, e.what());
    }
  }
}

Limit limit_of(const Session& s, const Gemm& row, int threads) {
  const Limit fma = s.fma_limit(row.dtype);
  if (!row.cold) return fma;
  // Where much of what moves is the result, reading alone is no limit.
  const bool writes = row.batch > 1;
  return s.nearest_limit(fma, writes ? Limit::copy : Limit::read, row.flops(), row.bytes(),
                         threads);
}

Pace pace_of(const Session& s, std::size_t candidates) {
  Pace pace = s.pace();
  double seconds = std::clamp(s.seconds_for_each_left(s.quick() ? kQuickListSeconds : kListSeconds),
                              kFewestRowSeconds, s.quick() ? kQuickRowSeconds : kRowSeconds);
  if (s.settings().budget > 0) seconds = s.settings().budget;
  pace.most_seconds = seconds / static_cast<double>(candidates);
  pace.most_batches = 1 << 20;
  if (s.quick()) pace.batch_seconds = 1e-3;
  return pace;
}

/// wick's other ways to do the row: the Tensor API where its cost would be noticed, B packed before
/// where peers may have that.
void add_own_ways(GemmCalls& calls, const Gemm& row, std::vector<Candidate>& candidates) {
  if (row.tiny()) {
    candidates.push_back({.engine = "wick-matmul_into", .call = calls.into()});
    candidates.push_back({.engine = "wick-matmul", .call = calls.allocating()});
  } else if (row.batch == 1 && !row.packed && !row.bound_by_memory) {
    candidates.push_back({.engine = "wick-packed", .call = calls.packed()});
  }
}

double seconds_of(const std::function<void()>& call) {
  const double start = steady_seconds();
  call();
  return steady_seconds() - start;
}

/// What the fastest peer makes of it, for wick's row.
void compare(std::span<Row> rows) {
  Row& own = rows.front();
  const Row* best = nullptr;
  for (const Row& row : rows.subspan(1)) {
    if (!row.median_ms || row.error || row.engine.starts_with("wick")) continue;
    if (best == nullptr || *row.median_ms < *best->median_ms) best = &row;
  }
  if (best == nullptr || !own.median_ms) return;
  own.best_peer = best->engine;
  own.ratio = *best->median_ms / *own.median_ms;
}

void run_row(Session& s, GemmCalls& calls, const Peers& peers, const Gemm& row, int threads) {
  const Case what = gemm_case(row, threads, limit_of(s, row, threads));
  std::vector<Candidate> candidates;
  try {
    calls.set(row);
    Candidate own{.engine = "wick", .call = row.tiny() ? calls.raw() : calls.into()};
    own.call();
    const double seconds = seconds_of(own.call);
    if (const std::string wrong = find_wrong_sample(row, calls.samples()); !wrong.empty())
      throw Error(ErrorKind::internal, "bench", str("wrong result: ", wrong));
    candidates.push_back(std::move(own));
    add_own_ways(calls, row, candidates);
    add_peers(s, peers, row, seconds, candidates);
  } catch (const Error& e) {
    s.print(fmt::format("{}: skipped: {}", what.name, e.what()));
    return;
  }
  const std::size_t count = s.run(what, candidates, pace_of(s, candidates.size())).size();
  const std::span<Row> rows = s.last_rows(count);
  compare(rows);
  s.print(gemm_lines(rows));
}

void run_first_calls(Session& s) {
  set_num_threads(s.threads());
  for (const Index n : {64, 256, 1024}) {
    const double ratio = first_call_ratio(n, s.quick() ? 5 : 15);
    Row row;
    row.what = {.op = "first_call", .shape = {n, n, n}, .threads = s.threads()};
    row.engine = "wick";
    row.result = fmt::format("{:.2f} times the later ones", ratio);
    s.print(fmt::format("first call of a new f32 shape near {0};{0};{0}: {1}", n, row.result));
    s.add(std::move(row));
  }
}

/// How often wick is ahead.
void print_summary(const Session& s) {
  int judged = 0, ahead = 0, noisy = 0;
  std::vector<std::string> behind;
  for (const Row& row : s.rows()) {
    if (!row.ratio) continue;
    if (row.noisy) ++noisy;
    ++judged;
    if (*row.ratio >= 1) ++ahead;
    if (*row.ratio < kGoal)
      behind.push_back(fmt::format("\n  {:.2f}  {}, {} thread{}: {}{}", *row.ratio, row.what.name,
                                   row.what.threads, row.what.threads == 1 ? "" : "s",
                                   row.best_peer, row.noisy ? " (noisy)" : ""));
  }
  if (judged == 0) return;
  s.print(fmt::format("ahead of the best peer in {} of {} rows ({} noisy); below {} in {}{}", ahead,
                      judged, noisy, kGoal, behind.size(), fmt::join(behind, "")));
}

std::vector<int> thread_counts(const Session& s) {
  const std::vector<int>& wanted = s.settings().threads;
  const auto most = std::max<int>(static_cast<int>(s.cpus().size()), s.threads());
  for (const int t : wanted)
    if (t < 1 || t > most)
      throw Error(ErrorKind::argument, "bench",
                  str("--threads: wanted 1 to ", most, ", as many as there are CPUs, got ", t));
  if (!wanted.empty()) return wanted;
  const std::set<int> counts{1, s.threads()};
  return {counts.begin(), counts.end()};
}

std::vector<Gemm> rows_to_run(const Session& s) {
  std::vector<Gemm> rows = select_rows(gemm_rows(), s.settings().rows);
  if (s.quick() && s.settings().rows.empty())
    std::erase_if(rows, [](const Gemm& row) { return row.flops() > kQuickFlops; });
  return rows;
}

void say_if_capped(const Session& s) {
  const Index wanted = 8 * last_level_cache(cpu_info());
  if (wanted > s.cold_bytes())
    s.print(
        fmt::format("rows from memory: copies of {} MiB together, as memory allows, not {} MiB "
                    "(8 times the last-level cache)",
                    s.cold_bytes() >> 20, wanted >> 20));
}

}  // namespace

void run_gemm(Session& s) {
  const std::vector<Gemm> rows = rows_to_run(s);
  const std::vector<int> counts = thread_counts(s);
  const auto takes = [](const Gemm& row, int threads) { return threads == 1 || !row.one_thread; };
  for (const int threads : counts)
    s.expect(static_cast<int>(std::count_if(rows.begin(), rows.end(),
                                            [&](const Gemm& row) { return takes(row, threads); })));
  say_if_capped(s);
  GemmCalls calls(s.cold_bytes());
  for (const int threads : counts) {
    s.print(fmt::format("== products with {} thread{}", threads, threads == 1 ? "" : "s"));
    const Peers peers = s.settings().peers ? start_peers(s, threads, rows) : Peers{};
    for (const Gemm& row : rows)
      if (takes(row, threads)) run_row(s, calls, peers, row, threads);
  }
  if (s.settings().rows.empty()) run_first_calls(s);
  print_summary(s);
}

}  // namespace wick::bench
