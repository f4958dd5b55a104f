// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wick::models {

/// What stands for bytes that are no UTF-8.
inline constexpr char32_t kReplacement = 0xFFFD;

/// The code point at text[at], which must exist; `at` moves behind it. Ill-formed bytes (cut or
/// overlong sequences, surrogates, beyond U+10FFFF) give U+FFFD, one for each longest beginning of
/// a well-formed sequence, as the Unicode standard (section 3.9) advises.
char32_t next_code_point(std::string_view text, std::size_t& at);

/// Appends the UTF-8 form of a code point that is not a surrogate.
void append_utf8(std::string& out, char32_t c);

/// Whether all of `text` is well-formed.
bool is_utf8(std::string_view text);

}  // namespace wick::models
