// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/process.h"

namespace wick::bench {

/// Another library in a process of its own, spoken with by lines: the other end of the programs of
/// bench/peers/. Its errors are `io` Errors that begin with the engine's name.
class Peer {
 public:
  /// Starts `command` on those CPUs, with `settings` ("NAME=VALUE") in its surroundings, and awaits
  /// its first line. Settings of this machine's own for BLAS libraries do not reach it.
  Peer(const std::vector<std::string>& command, std::string engine, const std::vector<int>& cpus,
       std::vector<std::string> settings = {});

  /// What is missing on this machine, for people; empty if all is there. With something missing
  /// nothing else may be called.
  const std::string& missing() const { return missing_; }
  const std::string& engine() const { return engine_; }
  /// "torch 1.13.0".
  const std::string& version() const { return version_; }

  /// The seconds that `calls` runs of what it was set to took.
  double run(int calls);
  /// Seconds for which its threads waited for a CPU in all runs so far.
  double waited() const { return waited_; }

 protected:
  void write_line(std::string_view line) { process_.write_line(line); }
  /// The next line, which must not be an error.
  std::string answer();
  /// What follows `word` in it.
  std::string expect(std::string_view word);
  void read_bytes(void* to, std::size_t count);
  [[noreturn]] void fail(std::string_view what) const;

 private:
  std::string engine_, version_, missing_;
  double waited_ = 0;
  Process process_;
};

/// The first of the CPUs, as many as there are threads.
std::vector<int> first_cpus(const std::vector<int>& cpus, int threads);

/// An interpreter for the scripts of bench/peers/: $WICK_PEER_PYTHON, else build/peers-venv, else
/// python3.
std::string peer_python();

}  // namespace wick::bench
