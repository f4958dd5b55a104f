// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "models/bert/bert.h"
#include "models/tokenizer/wordpiece.h"

namespace wick::models {

/// Sentences to vectors: tokenizer, BERT encoder, mean over the tokens, length 1 (Reimers &
/// Gurevych, "Sentence-BERT", 2019). Immutable after loading, so any number of threads may share
/// one.
class Embedder {
 public:
  /// Reads config.json, vocab.txt and model.safetensors of a folder. An `io` Error for a missing
  /// file, a `format` Error for one that is not what it should be.
  static Embedder load(const std::filesystem::path& folder, FileMode mode = FileMode::map);

  Index size() const { return bert_.config().hidden_size; }  ///< of a vector

  /// One row a text, [texts, size()], f32, each of length 1. Long texts are cut at the model's
  /// limit of tokens. A row has the same bits whatever else is in `texts`, in whatever order.
  Tensor embed(std::span<const std::string> texts) const;

 private:
  Embedder(WordPiece tokenizer, Bert bert, Index max_tokens)
      : tokenizer_(std::move(tokenizer)), bert_(std::move(bert)), max_tokens_(max_tokens) {}

  Tensor pool(const PackedTokens& tokens) const;

  WordPiece tokenizer_;
  Bert bert_;
  Index max_tokens_;
};

}  // namespace wick::models
