// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "wick/base/checked.h"
#include "wick/base/function_ref.h"

namespace wick::models {

/// How text is prepared before it is cut into words.
struct BertTextOptions {
  bool lowercase = true;       ///< for "uncased" models: lower case and no accents
  Index max_word_chars = 100;  ///< longer words are handed over as empty: they are unknown anyway
};

/// Takes one word in UTF-8; returns whether it wants more.
using WordSink = FunctionRef<bool(std::string_view word)>;

/// Cuts text into the words of BERT's "basic tokenizer" (Devlin et al., 2018) and hands them to
/// `sink` in order, until it returns false:
///  1. controls, formats, private use and U+FFFD vanish (so ill-formed UTF-8 does too), every kind
///     of space and line end becomes a space;
///  2. with `lowercase`: canonical decomposition (NFD), nonspacing marks removed, lower case of
///     each character on its own (no final sigma, no Turkish rules);
///  3. words end at spaces; each punctuation mark and each Chinese character is a word.
/// The sets of characters are those of Unicode 8.0, which the reference tokenizer froze. Memory
/// does not grow with the text, but for a run of marks without a base.
void for_each_word(std::string_view text, const BertTextOptions& options, WordSink sink);

}  // namespace wick::models
