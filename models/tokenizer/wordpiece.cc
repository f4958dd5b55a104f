// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/wordpiece.h"

#include <algorithm>
#include <utility>

#include "models/text_file.h"
#include "models/tokenizer/utf8.h"
#include "wick/base/error.h"
#include "wick/base/str.h"

namespace wick::models {
namespace {

constexpr Index kMaxBytes = Index{64} << 20;
constexpr std::string_view kContinuation = "##";

Error bad(std::string_view name, std::string_view message) {
  return {ErrorKind::format, "wordpiece", str(name, ": ", message)};
}

}  // namespace

WordPiece WordPiece::load(const std::filesystem::path& vocabulary, BertTextOptions options) {
  return parse(read_text_file(vocabulary, kMaxBytes, "wordpiece"), vocabulary.string(), options);
}

WordPiece WordPiece::parse(std::string vocabulary, std::string_view name, BertTextOptions options) {
  if (static_cast<Index>(vocabulary.size()) > kMaxBytes)
    throw bad(name, str("wanted at most ", kMaxBytes, " bytes"));
  WordPiece out;
  out.options_ = options;
  out.text_ = std::make_unique<const std::string>(std::move(vocabulary));
  std::string_view rest = *out.text_;
  const auto lines = static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '\n')) + 1;
  out.tokens_.reserve(lines);
  out.starts_.reserve(lines);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view token = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!token.empty() && token.back() == '\r') token.remove_suffix(1);
    const auto id = static_cast<std::uint32_t>(out.tokens_.size());
    if (token.empty()) throw bad(name, str("line ", id + 1, " is empty"));
    if (!is_utf8(token)) throw bad(name, str("line ", id + 1, " is not UTF-8"));
    const bool goes_on = token.size() > kContinuation.size() && token.starts_with(kContinuation);
    const std::string_view piece = goes_on ? token.substr(kContinuation.size()) : token;
    const auto [at, fresh] = (goes_on ? out.continuations_ : out.starts_).emplace(piece, id);
    if (!fresh)
      throw bad(name, str("\"", token, "\" stands on line ", at->second + 1, " and on ", id + 1));
    out.longest_ = std::max(out.longest_, piece.size());
    out.tokens_.push_back(token);
  }
  out.unk_ = out.required("[UNK]", name);
  out.cls_ = out.required("[CLS]", name);
  out.sep_ = out.required("[SEP]", name);
  out.pad_ = out.required("[PAD]", name);
  for (const std::string_view s : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
    if (const auto at = out.starts_.find(s); at != out.starts_.end()) out.special_.push_back(*at);
  return out;
}

std::uint32_t WordPiece::required(std::string_view token, std::string_view name) const {
  const auto at = starts_.find(token);
  if (at == starts_.end())
    throw bad(name, str("wanted a line ", token, ", found none in ", tokens_.size(), " tokens"));
  return at->second;
}

std::string_view WordPiece::token(std::uint32_t id) const {
  if (id >= tokens_.size())
    throw Error(ErrorKind::index, "wordpiece",
                str("wanted an id below ", tokens_.size(), ", got ", id));
  return tokens_[id];
}

void WordPiece::append_word(std::string_view word, std::vector<std::uint32_t>& ids) const {
  const std::size_t before = ids.size();
  bool known = !word.empty();
  for (std::size_t start = 0; known && start < word.size();) {
    const Ids& pieces = start == 0 ? starts_ : continuations_;
    known = false;
    for (std::size_t n = std::min(longest_, word.size() - start); n > 0; --n) {
      const auto at = pieces.find(word.substr(start, n));
      if (at == pieces.end()) continue;
      ids.push_back(at->second);
      start += n;
      known = true;
      break;
    }
  }
  if (known) return;
  ids.resize(before);
  ids.push_back(unk_);
}

std::vector<std::uint32_t> WordPiece::encode(std::string_view text, Index max_tokens) const {
  if (max_tokens < 2)
    throw Error(ErrorKind::argument, "wordpiece",
                str("wanted max_tokens of at least 2, got ", max_tokens));
  const auto room = static_cast<std::size_t>(max_tokens) - 1;  // the last place is for [SEP]
  std::vector<std::uint32_t> ids{cls_};
  const auto add_words = [&](std::string_view part) {
    for_each_word(part, options_, [&](std::string_view word) {
      append_word(word, ids);
      return ids.size() < room;
    });
  };
  std::size_t done = 0;
  for (std::size_t at = text.find('['); at != std::string_view::npos && ids.size() < room;) {
    const auto special = std::find_if(special_.begin(), special_.end(), [&](const auto& s) {
      return text.substr(at).starts_with(s.first);
    });
    if (special == special_.end()) {
      at = text.find('[', at + 1);
      continue;
    }
    add_words(text.substr(done, at - done));
    ids.push_back(special->second);
    done = at + special->first.size();
    at = text.find('[', done);
  }
  if (ids.size() < room) add_words(text.substr(done));
  if (ids.size() > room) ids.resize(room);
  ids.push_back(sep_);
  return ids;
}

}  // namespace wick::models
