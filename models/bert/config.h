// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "wick/base/checked.h"

namespace wick::models {

/// The sizes of a BERT encoder (Devlin et al., 2018), as its config.json tells them. Every value
/// has been checked for itself; the model compares them with the shapes of its weights.
struct BertConfig {
  Index vocab_size = 0;   ///< tokens
  Index hidden_size = 0;  ///< width of a token; a multiple of heads
  Index layers = 0;
  Index heads = 0;
  Index intermediate = 0;  ///< width inside the feed-forward part
  Index positions = 0;     ///< the longest sequence
  Index types = 0;         ///< segment types; sentences use the first
  double norm_eps = 0;     ///< layer norm's epsilon

  Index head_size() const { return hidden_size / heads; }

  /// An `io` Error where the file cannot be read; a `format` Error that names the file and the key
  /// for what is no JSON object, missing, of the wrong type, zero, negative or far beyond any real
  /// model, for heads that do not divide hidden_size, and for an activation, a model type or a kind
  /// of positions other than "gelu", "bert" and "absolute".
  static BertConfig load(const std::filesystem::path& file);
  static BertConfig parse(std::string_view json, std::string_view file);
};

/// How a folder's model wants its sentences, from two optional files beside config.json.
struct SentenceConfig {
  /// Tokens of a sentence, [CLS] and [SEP] included; what is longer is cut. max_seq_length of
  /// sentence_bert_config.json (256 for all-MiniLM-L6-v2), at most the model's positions, which are
  /// also the default. (The truncation that such a folder's tokenizer.json names is older and not
  /// what the model's own library uses.)
  Index max_tokens = 0;
  /// do_lower_case of tokenizer_config.json; true by default.
  bool lowercase = true;

  /// Errors as BertConfig::load; a file that is not there is none.
  static SentenceConfig load(const std::filesystem::path& folder, const BertConfig& model);
};

}  // namespace wick::models
