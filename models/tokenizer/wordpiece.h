// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/tokenizer/bert_text.h"
#include "wick/base/checked.h"

namespace wick::models {

/// BERT's WordPiece tokenizer: text to the ids of its vocabulary. Same ids as the tokenizer the
/// models were published with. Immutable after loading, so any number of threads may share one.
class WordPiece {
 public:
  /// Reads a vocab.txt: one token a line, its line number is its id; "##" marks a piece that goes
  /// on a word. A missing or unreadable file is an `io` Error; one that is larger than 64 MiB, not
  /// UTF-8, has an empty line or a token twice, or lacks [UNK], [CLS], [SEP] or [PAD] is a `format`
  /// Error that names the line or the token.
  static WordPiece load(const std::filesystem::path& vocabulary, BertTextOptions options = {});

  /// The same from text in memory; `name` stands for the file in messages.
  static WordPiece parse(std::string vocabulary, std::string_view name,
                         BertTextOptions options = {});

  /// [CLS], the pieces of `text`, [SEP]: at most `max_tokens` ids, the pieces cut at the end where
  /// they do not fit. Each word is cut greedily into the longest pieces the vocabulary knows
  /// (Schuster and Nakajima, 2012); a word with an unknown part, or longer than
  /// `max_word_chars` characters, is one [UNK]. A special token spelled out in the text ("[SEP]")
  /// becomes that token, as in the reference. Any bytes are fine: what is no UTF-8 is skipped.
  /// `max_tokens` below 2 is an `argument` Error. Takes time in proportion to the text, and cuts
  /// no more words than `max_tokens` needs.
  std::vector<std::uint32_t> encode(std::string_view text, Index max_tokens) const;

  /// Number of tokens in the vocabulary.
  Index size() const { return static_cast<Index>(tokens_.size()); }
  /// The text of a token, with its "##"; an `index` Error for an id out of range.
  std::string_view token(std::uint32_t id) const;

  std::uint32_t unk_id() const { return unk_; }
  std::uint32_t cls_id() const { return cls_; }
  std::uint32_t sep_id() const { return sep_; }
  std::uint32_t pad_id() const { return pad_; }

 private:
  using Ids = std::unordered_map<std::string_view, std::uint32_t>;

  WordPiece() = default;
  std::uint32_t required(std::string_view token, std::string_view name) const;
  void append_word(std::string_view word, std::vector<std::uint32_t>& ids) const;

  std::unique_ptr<const std::string> text_;  // what all views below point into
  std::vector<std::string_view> tokens_;
  Ids starts_;         // pieces that begin a word
  Ids continuations_;  // pieces after "##", without it
  std::vector<std::pair<std::string_view, std::uint32_t>> special_;
  std::size_t longest_ = 0;  // bytes of the longest piece
  BertTextOptions options_;
  std::uint32_t unk_ = 0, cls_ = 0, sep_ = 0, pad_ = 0;
};

}  // namespace wick::models
