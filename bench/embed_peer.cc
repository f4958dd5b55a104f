// SPDX-License-Identifier: Apache-2.0
#include "bench/embed_peer.h"

#include <charconv>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "wick/base/env.h"
#include "wick/base/error.h"
#include "wick/base/str.h"

namespace wick::bench {
namespace {

constexpr double kStartSeconds = 180, kAnswerSeconds = 300;

std::vector<std::string> start_words(std::vector<std::string> command, const std::string& engine,
                                     const std::string& model, const std::vector<int>& cpus) {
  command.insert(command.end(), {engine, model, fmt::format("{}", cpus.size())});
  return command;
}

/// Settings of this machine's OpenBLAS are for wick's own comparisons.
const std::vector<std::string>& dropped_variables() {
  static const std::vector<std::string> names{"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
                                              "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
                                              "MKL_NUM_THREADS"};
  return names;
}

}  // namespace

EmbedPeer::EmbedPeer(const std::vector<std::string>& command, std::string engine,
                     const std::string& model, const std::vector<int>& cpus)
    : engine_(std::move(engine)),
      process_(start_words(command, engine_, model, cpus),
               {.drop = dropped_variables(), .cpus = cpus}) {
  const auto line = process_.read_line(kStartSeconds);
  if (!line)
    missing_ = str("a Python that runs ", command.back());
  else if (line->starts_with("missing "))
    missing_ = line->substr(8);
  else if (line->starts_with("ready "))
    version_ = line->substr(6);
  else
    missing_ = str("an answer that makes sense, not \"", *line, "\"");
}

std::string EmbedPeer::expect(std::string_view word, double seconds) {
  const auto line = process_.read_line(seconds);
  if (!line) throw Error(ErrorKind::io, engine_, "the other process ended");
  if (line->starts_with("error ")) throw Error(ErrorKind::io, engine_, line->substr(6));
  if (!line->starts_with(str(word, " ")))
    throw Error(ErrorKind::io, engine_, str("wanted \"", word, " ...\", got \"", *line, "\""));
  return line->substr(word.size() + 1);
}

std::vector<float> EmbedPeer::set_tokens(const Sentences& sentences, Index hidden_size) {
  std::string line = "tokens ";
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    line += fmt::format("{}{}", i == 0 ? "" : ";", fmt::join(sentences[i], " "));
    tokens += sentences[i].size();
  }
  process_.write_line(line);
  std::vector<float> hidden(tokens * static_cast<std::size_t>(hidden_size));
  const std::string wanted = fmt::format("{}", hidden.size() * sizeof(float));
  if (const std::string bytes = expect("hidden", kAnswerSeconds); bytes != wanted)
    throw Error(ErrorKind::io, engine_, str("wanted ", wanted, " bytes, got ", bytes));
  process_.read_bytes(hidden.data(), hidden.size() * sizeof(float), kAnswerSeconds);
  return hidden;
}

double EmbedPeer::run(int calls) {
  process_.write_line(fmt::format("run {}", calls));
  const std::string text = expect("seconds", kAnswerSeconds);
  double seconds = -1, waited = -1;
  const char* const stop = text.data() + text.size();
  const auto first = std::from_chars(text.data(), stop, seconds);
  if (first.ec == std::errc() && first.ptr != stop && *first.ptr == ' ')
    std::from_chars(first.ptr + 1, stop, waited);
  if (!(seconds >= 0 && waited >= 0))
    throw Error(ErrorKind::io, engine_, str("wanted two times, got \"", text, "\""));
  waited_ += waited;
  return seconds;
}

std::vector<std::string> embed_peer_command() {
  const auto script = find_nearby("bench/peers/embed_peer.py");
  if (!script) return {};
  const auto python = env_text("WICK_PEER_PYTHON");
  if (python) return {std::string(*python), *script};
  return {find_nearby("build/peers-venv/bin/python").value_or("python3"), *script};
}

std::vector<std::string> embed_peer_engines() { return {"pytorch", "onnxruntime"}; }

}  // namespace wick::bench
