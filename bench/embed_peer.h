// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/embed_cases.h"
#include "bench/process.h"

namespace wick::bench {

/// Another library that runs the same encoder, in a process of its own: the other end of
/// bench/peers/embed_peer.py. Its errors are `io` Errors that begin with the engine's name.
class EmbedPeer {
 public:
  /// Its answer to being started is awaited. `command` is the interpreter and the script.
  EmbedPeer(const std::vector<std::string>& command, std::string engine, const std::string& model,
            const std::vector<int>& cpus);

  /// What is missing on this machine, for people; empty if all is there. With something missing
  /// nothing else may be called.
  const std::string& missing() const { return missing_; }
  const std::string& engine() const { return engine_; }
  /// "torch 1.13.0".
  const std::string& version() const { return version_; }

  /// Sets what run() encodes; the last hidden states of all tokens, sentence after sentence.
  std::vector<float> set_tokens(const Sentences& sentences, Index hidden_size);
  /// The seconds that `calls` runs took.
  double run(int calls);
  /// Seconds for which its threads waited for a CPU in all runs so far.
  double waited() const { return waited_; }

 private:
  /// What follows `word` in the next line.
  std::string expect(std::string_view word, double seconds);

  std::string engine_, version_, missing_;
  double waited_ = 0;
  Process process_;
};

/// The interpreter and the script on this machine: $WICK_PEER_PYTHON, else build/peers-venv, else
/// python3. Empty if the script is not there.
std::vector<std::string> embed_peer_command();

/// The peers for which there is a script, by their names as engines.
std::vector<std::string> embed_peer_engines();

}  // namespace wick::bench
