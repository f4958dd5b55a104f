// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/embed_cases.h"
#include "bench/peer.h"

namespace wick::bench {

/// Another library that runs the same encoder: the other end of bench/peers/embed_peer.py.
class EmbedPeer : public Peer {
 public:
  /// `command` is the interpreter and the script.
  EmbedPeer(std::vector<std::string> command, const std::string& engine, const std::string& model,
            const std::vector<int>& cpus);

  /// Sets what run() encodes; the last hidden states of all tokens, sentence after sentence.
  std::vector<float> set_tokens(const Sentences& sentences, Index hidden_size);
};

/// The interpreter and the script on this machine. Empty if the script is not there.
std::vector<std::string> embed_peer_command();

/// The peers for which there is a script, by their names as engines.
std::vector<std::string> embed_peer_engines();

}  // namespace wick::bench
