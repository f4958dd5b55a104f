// SPDX-License-Identifier: Apache-2.0
#include "bench/embed_cases.h"

#include <algorithm>

namespace wick::bench {

Sentences make_sentences(const std::vector<Index>& lengths, Index vocab_size) {
  Sentences sentences;
  Index id = 1;
  for (const Index length : lengths) {
    auto& sentence = sentences.emplace_back();
    for (Index i = 0; i < length; ++i) {
      id = (id * 7919 + 131) % vocab_size;
      sentence.push_back(static_cast<std::uint32_t>(id));
    }
  }
  return sentences;
}

std::vector<Index> even_lengths(Index count, Index low, Index high) {
  std::vector<Index> lengths;
  for (Index i = 0; i < count; ++i)
    lengths.push_back(low + (high - low) * i / std::max<Index>(1, count - 1));
  return lengths;
}

double encoder_flops(const models::BertConfig& config, const Sentences& sentences) {
  const auto hidden = static_cast<double>(config.hidden_size);
  const auto inner = static_cast<double>(config.intermediate);
  const double products = 4 * hidden * hidden + 2 * hidden * inner;  // weights of a layer
  double sum = 0;
  for (const auto& sentence : sentences) {
    const auto tokens = static_cast<double>(sentence.size());
    sum += tokens * products + 2 * tokens * tokens * hidden;
  }
  return 2 * static_cast<double>(config.layers) * sum;
}

Case encoder_case(const std::string& op, const models::BertConfig& config,
                  const Sentences& sentences, int threads) {
  std::size_t longest = 0, tokens = 0;
  for (const auto& sentence : sentences) {
    longest = std::max(longest, sentence.size());
    tokens += sentence.size();
  }
  Case c{.op = op, .dtype = DType::f32};
  c.shape = {static_cast<Index>(sentences.size()), static_cast<Index>(longest)};
  c.threads = threads;
  c.work = c.flops = encoder_flops(config, sentences);
  // Each weight once, and the vectors that come out.
  const auto hidden = static_cast<double>(config.hidden_size);
  const auto inner = static_cast<double>(config.intermediate);
  c.bytes = 4 * (static_cast<double>(config.layers) * (4 * hidden * hidden + 2 * hidden * inner) +
                 static_cast<double>(tokens) * hidden);
  return c;
}

}  // namespace wick::bench
