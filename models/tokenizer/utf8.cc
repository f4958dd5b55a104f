// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/utf8.h"

namespace wick::models {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Decodes one code point; false where bytes are ill-formed (c is then U+FFFD).
bool decode(std::string_view text, std::size_t& at, char32_t& c) {
  const unsigned first = byte_at(text, at++);
  c = first;
  if (first < 0x80) return true;
  // The second byte has a narrower range after some first bytes (Unicode, table 3-7).
  unsigned low = 0x80, high = 0xBF;
  int more = 0;
  if (first >= 0xC2 && first <= 0xDF) {
    more = 1;
    c = first & 0x1F;
  } else if (first >= 0xE0 && first <= 0xEF) {
    more = 2;
    c = first & 0x0F;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    more = 3;
    c = first & 0x07;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  }
  bool good = more > 0;
  for (; good && more > 0; --more, low = 0x80, high = 0xBF) {
    good = at < text.size() && byte_at(text, at) >= low && byte_at(text, at) <= high;
    if (good) c = (c << 6) | (byte_at(text, at++) & 0x3F);
  }
  if (!good) c = kReplacement;
  return good;
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) {
  char32_t c = 0;
  (void)decode(text, at, c);
  return c;
}

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) {
    out += static_cast<char>(static_cast<unsigned char>(byte));
  };
  const auto tail = [&](int shift) { put(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    tail(6);
    tail(0);
  } else {
    put(0xF0 | (c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

bool is_utf8(std::string_view text) {
  char32_t c = 0;
  for (std::size_t at = 0; at < text.size();)
    if (!decode(text, at, c)) return false;
  return true;
}

}  // namespace wick::models
