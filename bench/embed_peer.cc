// SPDX-License-Identifier: Apache-2.0
#include "bench/embed_peer.h"

#include <fmt/format.h>

#include "wick/base/str.h"

namespace wick::bench {
namespace {

std::vector<std::string> start_words(std::vector<std::string> command, const std::string& engine,
                                     const std::string& model, const std::vector<int>& cpus) {
  command.insert(command.end(), {engine, model, fmt::format("{}", cpus.size())});
  return command;
}

}  // namespace

EmbedPeer::EmbedPeer(std::vector<std::string> command, const std::string& engine,
                     const std::string& model, const std::vector<int>& cpus)
    : Peer(start_words(std::move(command), engine, model, cpus), engine, cpus) {}

std::vector<float> EmbedPeer::set_tokens(const Sentences& sentences, Index hidden_size) {
  std::string line = "tokens ";
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    line += fmt::format("{}{}", i == 0 ? "" : ";", fmt::join(sentences[i], " "));
    tokens += sentences[i].size();
  }
  write_line(line);
  std::vector<float> hidden(tokens * static_cast<std::size_t>(hidden_size));
  const std::string wanted = fmt::format("{}", hidden.size() * sizeof(float));
  if (const std::string bytes = expect("hidden"); bytes != wanted)
    fail(str("wanted ", wanted, " bytes, got ", bytes));
  read_bytes(hidden.data(), hidden.size() * sizeof(float));
  return hidden;
}

std::vector<std::string> embed_peer_command() {
  const auto script = find_nearby("bench/peers/embed_peer.py");
  if (!script) return {};
  return {peer_python(), *script};
}

std::vector<std::string> embed_peer_engines() { return {"pytorch", "onnxruntime", "openvino"}; }

}  // namespace wick::bench
