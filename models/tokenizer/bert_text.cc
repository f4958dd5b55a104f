// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/bert_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "models/tokenizer/utf8.h"

namespace wick::models {
namespace {

struct Range {
  char32_t first, last;
};

#include "models/tokenizer/unicode_sets.inc"

template <std::size_t N>
bool contains(const Range (&set)[N], char32_t c) {
  const Range* r = std::lower_bound(std::begin(set), std::end(set), c,
                                    [](const Range& a, char32_t x) { return a.last < x; });
  return r != std::end(set) && r->first <= c;
}

int combining_class(char32_t c) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

// The stages as a pipeline of characters: clean -> decompose -> finish -> word.
class Splitter {
 public:
  Splitter(const BertTextOptions& options, WordSink sink) : options_(options), sink_(sink) {}

  void run(std::string_view text) {
    for (std::size_t at = 0; more_ && at < text.size();) clean(next_code_point(text, at));
    end_marks();
    end_word();
  }

 private:
  void clean(char32_t c) {
    if (contains(kIgnored, c)) return;
    if (contains(kSpace, c)) {
      end_marks();
      end_word();
    } else if (contains(kIdeograph, c)) {
      end_marks();
      end_word();
      decompose(c);
      end_marks();
      end_word();
    } else {
      decompose(c);
    }
  }

  void decompose(char32_t c) {
    if (!options_.lowercase) return put(c);
    if (c < 0x80) {
      end_marks();
      return put(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    std::array<utf8proc_int32_t, 32> parts{};  // canonical decompositions have at most 4
    int boundary = 0;
    const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                           static_cast<utf8proc_ssize_t>(parts.size()),
                                           UTF8PROC_DECOMPOSE, &boundary);
    if (n <= 0 || n > static_cast<utf8proc_ssize_t>(parts.size())) return finish(c);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      const auto part = static_cast<char32_t>(parts[i]);
      // A run of marks is put into canonical order once it is complete.
      if (const int order = combining_class(part); order != 0) {
        marks_.push_back({order, marks_.size(), part});
      } else {
        end_marks();
        finish(part);
      }
    }
  }

  void end_marks() {
    if (marks_.empty()) return;
    std::sort(marks_.begin(), marks_.end(), [](const Mark& a, const Mark& b) {
      return std::pair(a.order, a.place) < std::pair(b.order, b.place);
    });
    for (const Mark& m : marks_) finish(m.c);
    marks_.clear();
  }

  void finish(char32_t c) {
    if (contains(kMark, c)) return;
    put(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  }

  void put(char32_t c) {
    const bool alone = contains(kPunctuation, c);
    if (alone) end_word();
    if (++chars_ <= options_.max_word_chars) append_utf8(word_, c);
    if (alone) end_word();
  }

  void end_word() {
    if (chars_ == 0 || !more_) return;
    more_ = sink_(chars_ <= options_.max_word_chars ? std::string_view(word_) : std::string_view());
    word_.clear();
    chars_ = 0;
  }

  struct Mark {
    int order;          // canonical combining class
    std::size_t place;  // equal classes keep their order
    char32_t c;
  };

  const BertTextOptions& options_;
  WordSink sink_;
  std::vector<Mark> marks_;
  std::string word_;
  Index chars_ = 0;
  bool more_ = true;
};

}  // namespace

void for_each_word(std::string_view text, const BertTextOptions& options, WordSink sink) {
  Splitter(options, sink).run(text);
}

}  // namespace wick::models
