// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "bench/embed_cases.h"
#include "bench/embed_peer.h"
#include "bench/report.h"
#include "bench/session.h"
#include "bench/startup.h"
#include "models/bert/bert.h"
#include "wick/parallel/executor.h"

// The encoder of a real model, side by side with other libraries on the same weights and tokens.

namespace wick::bench {
namespace {

/// Last hidden states of two libraries may differ by this much.
constexpr double kMostDifference = 1e-3;

struct EncoderBatch {
  std::string op;
  std::vector<Index> lengths;
};

std::vector<EncoderBatch> batches() {
  const auto even = [](Index sentences, Index tokens) {
    return std::vector<Index>(static_cast<std::size_t>(sentences), tokens);
  };
  return {{"encoder", even(1, 16)},
          {"encoder", even(4, 32)},
          {"encoder", even(32, 128)},
          // Ascending, so that the packed order is that of the sentences.
          {"encoder mixed", even_lengths(32, 8, 128)}};
}

models::Bert load_bert(const std::filesystem::path& folder) {
  return {models::BertConfig::load(folder / "config.json"),
          SafeTensors::open(folder / "model.safetensors")};
}

/// The peers with so many threads that are there; a line for each that is not.
std::vector<std::unique_ptr<EmbedPeer>> start_peers(const Session& s, int threads) {
  std::vector<std::unique_ptr<EmbedPeer>> peers;
  const auto skipped = [&](std::string_view engine, std::string_view why) {
    s.print(fmt::format("{}: skipped: {}", engine, why));
  };
  const std::vector<std::string> command = embed_peer_command();
  const std::vector<int> cpus = first_cpus(s.cpus(), threads);
  for (const std::string& engine : embed_peer_engines()) {
    if (command.empty()) {
      skipped(engine, "bench/peers/embed_peer.py is not here");
      continue;
    }
    try {
      auto peer = std::make_unique<EmbedPeer>(command, engine, s.model(), cpus);
      if (peer->missing().empty())
        peers.push_back(std::move(peer));
      else
        skipped(engine, str("missing ", peer->missing(), "; `make peers` installs it"));
    } catch (const Error& e) {
      skipped(engine, e.what());
    }
  }
  return peers;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(d <= most)) most = d;  // a NaN stays
  }
  return most;
}

/// A peer on these tokens, once its results are those of wick; an Error is what it then throws.
Candidate by_peer(EmbedPeer& peer, const Sentences& sentences, Index hidden_size,
                  const std::vector<float>& wanted) {
  Candidate candidate{.engine = peer.engine()};
  try {
    const double off = largest_difference(peer.set_tokens(sentences, hidden_size), wanted);
    if (!(off <= kMostDifference))
      throw Error(ErrorKind::internal, peer.engine(),
                  str("last hidden states differ from wick's by ", off));
    candidate.note = fmt::format("{}, differs by at most {:.1e}", peer.version(), off);
    candidate.timed = [&peer](int calls) { return peer.run(calls); };
    candidate.waited = [&peer] { return peer.waited(); };
  } catch (const Error& e) {
    candidate.timed = [e](int) -> double { throw e; };
  }
  return candidate;
}

/// "wick runs at 1.22 times the speed of the fastest peer, onnxruntime".
void print_ratio(const Session& s, std::span<const Row> rows) {
  const Row* best = nullptr;
  for (const Row& row : rows.subspan(1))
    if (row.median_ms && (best == nullptr || *row.median_ms < *best->median_ms)) best = &row;
  if (best == nullptr || !rows[0].median_ms) return;
  s.print(fmt::format("  wick runs at {:.2f} times the speed of the fastest peer, {}{}",
                      *best->median_ms / *rows[0].median_ms, best->engine,
                      rows[0].noisy || best->noisy ? " (noisy)" : ""));
}

void run_encoder(Session& s, const models::Bert& bert, int threads) {
  const auto peers = start_peers(s, threads);
  for (const EncoderBatch& batch : batches()) {
    const Sentences sentences = make_sentences(batch.lengths, bert.config().vocab_size);
    const models::PackedTokens packed(sentences);
    const Case what = encoder_case(batch.op, bert.config(), sentences, threads);
    const std::vector<float> hidden = bert.forward(packed).to_vector<f32>();
    std::vector<Candidate> candidates;
    candidates.push_back({.engine = "wick",
                          .call = [&] { (void)bert.forward(packed); },
                          .around = [](FunctionRef<void()> runs) { with_context(runs); },
                          .context = true});
    for (const auto& peer : peers)
      candidates.push_back(by_peer(*peer, sentences, bert.config().hidden_size, hidden));
    const std::vector<Row> rows = s.run(what, candidates, s.pace());
    s.print(fmt::format("{} {} x {}, {} thread{}", what.op, what.shape[0], what.shape[1], threads,
                        threads == 1 ? "" : "s"));
    for (const Row& row : rows) s.print(engine_line(row));
    print_ratio(s, rows);
  }
}

void run_starts(Session& s) {
  Pace pace = s.pace();
  pace.calls_per_timing = 1;
  Case what{.op = "startup", .shape = {1}, .threads = s.threads()};
  const Candidate start = startup_candidate(s.model());
  s.print("startup: from the start of `wick embed` to the first vector");
  for (const Row& row : s.run(what, {&start, 1}, pace)) s.print(engine_line(row));
  what.op = "first_op";
  what.shape = {256, 256, 256};
  for (const bool context : {false, true}) {
    const Candidate first = first_op_candidate(context);
    s.print(fmt::format("first_op: the first product of a process{}",
                        context ? ", within with_context" : ""));
    for (const Row& row : s.run(what, {&first, 1}, pace)) s.print(engine_line(row));
  }
}

}  // namespace

void run_embed(Session& s) {
  const models::Bert bert = load_bert(s.model());
  const std::set<int> counts{1, std::min(2, s.threads())};
  s.expect(static_cast<int>(counts.size() * batches().size()) + 3);
  for (const int threads : counts) run_encoder(s, bert, threads);
  run_starts(s);
}

}  // namespace wick::bench
