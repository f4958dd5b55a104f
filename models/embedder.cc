// SPDX-License-Identifier: Apache-2.0
#include "models/embedder.h"

#include "wick/wick.h"

namespace wick::models {
namespace {

/// Tokens encoded at a time, so that memory does not grow with the number of texts.
constexpr std::size_t kTokensAtOnce = 8192;

}  // namespace

Embedder Embedder::load(const std::filesystem::path& folder, FileMode mode) {
  return with_error_context(
      [&] { return str("while loading the model in ", folder.string()); },
      [&] {
        const BertConfig config = BertConfig::load(folder / "config.json");
        const SentenceConfig sentences = SentenceConfig::load(folder, config);
        WordPiece tokenizer = WordPiece::load(folder / "vocab.txt",
                                              BertTextOptions{.lowercase = sentences.lowercase});
        if (tokenizer.size() > config.vocab_size)
          throw Error(ErrorKind::format, "embedder",
                      str("wanted at most ", config.vocab_size,
                          " tokens in vocab.txt as config.json says, got ", tokenizer.size()));
        Bert bert(config, SafeTensors::open(folder / "model.safetensors", mode));
        return Embedder(std::move(tokenizer), std::move(bert), sentences.max_tokens);
      });
}

Tensor Embedder::embed(std::span<const std::string> texts) const {
  const auto count = static_cast<Index>(texts.size());
  const Tensor out = Tensor::empty({count, size()});
  std::vector<std::vector<std::uint32_t>> batch;
  Index first = 0;
  std::size_t tokens = 0;
  for (Index i = 0; i < count; ++i) {
    batch.push_back(tokenizer_.encode(texts[static_cast<std::size_t>(i)], max_tokens_));
    tokens += batch.back().size();
    if (tokens < kTokensAtOnce && i + 1 < count) continue;
    const auto rows = static_cast<Index>(batch.size());
    with_context([&] {
      const PackedTokens packed(batch);
      const Tensor order = Tensor::from_vector(packed.place, {rows});
      index_select_into(out.narrow(0, first, rows), pool(packed), 0, order);
    });
    first += rows;
    batch.clear();
    tokens = 0;
  }
  return out;
}

Tensor Embedder::pool(const PackedTokens& tokens) const {
  const Tensor hidden = bert_.forward(tokens);
  const Tensor pooled = Tensor::empty({static_cast<Index>(tokens.place.size()), size()});
  Index row = 0;
  for (const auto& g : tokens.groups) {
    const Tensor sentences =
        hidden.narrow(0, g.first, g.count * g.length).reshape({g.count, g.length, size()});
    mean_into(pooled.narrow(0, row, g.count), sentences, {1});
    row += g.count;
  }
  const Tensor length = pooled.sqr().sum(-1, true).sqrt().maximum(1e-12);
  return pooled / length;
}

}  // namespace wick::models
