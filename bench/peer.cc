// SPDX-License-Identifier: Apache-2.0
#include "bench/peer.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "wick/base/env.h"
#include "wick/base/error.h"
#include "wick/base/str.h"

namespace wick::bench {
namespace {

constexpr double kStartSeconds = 180, kAnswerSeconds = 300;

/// Settings of this machine's OpenBLAS are for wick's own comparisons, and threads are given here.
const std::vector<std::string>& dropped_variables() {
  static const std::vector<std::string> names{"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
                                              "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
                                              "MKL_NUM_THREADS"};
  return names;
}

}  // namespace

Peer::Peer(const std::vector<std::string>& command, std::string engine,
           const std::vector<int>& cpus, std::vector<std::string> settings)
    : engine_(std::move(engine)),
      process_(command, {.drop = dropped_variables(), .set = std::move(settings), .cpus = cpus}) {
  const auto line = process_.read_line(kStartSeconds);
  if (!line)
    missing_ = fmt::format("an answer of {}", fmt::join(command, " "));
  else if (line->starts_with("missing "))
    missing_ = line->substr(8);
  else if (line->starts_with("ready "))
    version_ = line->substr(6);
  else
    missing_ = str("an answer that makes sense, not \"", *line, "\"");
}

void Peer::fail(std::string_view what) const { throw Error(ErrorKind::io, engine_, str(what)); }

std::string Peer::answer() {
  const auto line = process_.read_line(kAnswerSeconds);
  if (!line) fail("the other process ended");
  if (line->starts_with("error ")) fail(line->substr(6));
  return *line;
}

std::string Peer::expect(std::string_view word) {
  const std::string line = answer();
  if (!line.starts_with(str(word, " "))) fail(str("wanted \"", word, " ...\", got \"", line, "\""));
  return line.substr(word.size() + 1);
}

void Peer::read_bytes(void* to, std::size_t count) {
  process_.read_bytes(to, count, kAnswerSeconds);
}

double Peer::run(int calls) {
  write_line(fmt::format("run {}", calls));
  const std::string text = expect("seconds");
  double seconds = -1, waited = -1;
  const char* const stop = text.data() + text.size();
  const auto first = std::from_chars(text.data(), stop, seconds);
  if (first.ec == std::errc() && first.ptr != stop && *first.ptr == ' ')
    std::from_chars(first.ptr + 1, stop, waited);
  if (!(seconds >= 0 && waited >= 0)) fail(str("wanted two times, got \"", text, "\""));
  waited_ += waited;
  return seconds;
}

std::vector<int> first_cpus(const std::vector<int>& cpus, int threads) {
  return {cpus.begin(), cpus.begin() + std::min<std::ptrdiff_t>(threads, std::ssize(cpus))};
}

std::string peer_python() {
  if (const auto python = env_text("WICK_PEER_PYTHON")) return std::string(*python);
  return find_nearby("build/peers-venv/bin/python").value_or("python3");
}

}  // namespace wick::bench
