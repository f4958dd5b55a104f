// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/bert_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/tokenizer/utf8.h"

namespace wick::models {
namespace {

using Words = std::vector<std::string>;

Words words(std::string_view text, BertTextOptions options = {}) {
  Words out;
  for_each_word(text, options, [&](std::string_view word) {
    out.emplace_back(word);
    return true;
  });
  return out;
}

TEST(Utf8, DecodesEveryCodePoint) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    append_utf8(text, c);
    std::size_t at = 0;
    ASSERT_EQ(next_code_point(text, at), c);
    ASSERT_EQ(at, text.size());
    ASSERT_TRUE(is_utf8(text));
  }
}

TEST(Utf8, IllFormedBytesGiveOneReplacementForEachLongestBeginning) {
  // The example of the Unicode standard, table 3-8, and its kin: surrogates, overlong, too large.
  const auto decoded = [](std::string_view text) {
    std::u32string out;
    for (std::size_t at = 0; at < text.size();) out += next_code_point(text, at);
    return out;
  };
  EXPECT_EQ(decoded("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            U"a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(decoded("\xED\xA0\x80"), U"\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(decoded("\xC0\xAF"), U"\uFFFD\uFFFD");
  EXPECT_EQ(decoded("\xF4\x90\x80\x80"), U"\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(decoded("\xE2\x82"), U"\uFFFD");
  EXPECT_EQ(decoded("\xFF\xFE"), U"\uFFFD\uFFFD");
  EXPECT_FALSE(is_utf8("\xE2\x82"));
}

TEST(BertText, SpacesAndPunctuation) {
  EXPECT_EQ(words(""), Words{});
  EXPECT_EQ(words(" \t\r\n\u00A0\u2003\u3000\u2028"), Words{});
  EXPECT_EQ(words("Hello, world!"), (Words{"hello", ",", "world", "!"}));
  EXPECT_EQ(words("a_b$c~"), (Words{"a", "_", "b", "$", "c", "~"}));
  EXPECT_EQ(words("«x»…"), (Words{"«", "x", "»", "…"}));
}

TEST(BertText, ControlsAndIllFormedBytesVanish) {
  using namespace std::string_view_literals;
  EXPECT_EQ(words("a\0b\x01\x7F\u200Bc\uFFFD\uFEFF\u00ADd\uE000"sv), Words{"abcd"});
  EXPECT_EQ(words("a\xFF\xE2\x82"
                  "b"),
            Words{"ab"});
}

TEST(BertText, AccentsAndCase) {
  EXPECT_EQ(words("ÉCOLE e\u0301cole"), (Words{"ecole", "ecole"}));
  EXPECT_EQ(words("İstanbul ı ẞ ΣΊΣΥΦΟΣ"), (Words{"istanbul", "ı", "ß", "σισυφοσ"}));
  EXPECT_EQ(words("\u212A \u037E"), (Words{"k", ";"}));  // Kelvin sign, Greek question mark
  EXPECT_EQ(words("한"), Words{"\u1112\u1161\u11AB"});   // Hangul falls into its letters
  EXPECT_EQ(words("É", {.lowercase = false}), Words{"É"});
  EXPECT_EQ(words("e\u0301", {.lowercase = false}), Words{"e\u0301"});
}

TEST(BertText, ChineseCharactersAreWords) {
  EXPECT_EQ(words("ab漢字cd"), (Words{"ab", "漢", "字", "cd"}));
  EXPECT_EQ(words("カナ"), Words{"カナ"});
  EXPECT_EQ(words("\uF900"), Words{"\u8C48"});  // a compatibility ideograph
}

TEST(BertText, MarksComeInCanonicalOrder) {
  // U+302E (class 224) and U+1D165 (class 216) are spacing marks and stay, in the order of classes.
  EXPECT_EQ(words("a\u302E\U0001D165"), Words{"a\U0001D165\u302E"});
}

TEST(BertText, LongWordsAreHandedOverEmpty) {
  EXPECT_EQ(words(std::string(100, 'a')), Words{std::string(100, 'a')});
  EXPECT_EQ(words(std::string(101, 'a') + " b"), (Words{"", "b"}));
  EXPECT_EQ(words("abcd", {.max_word_chars = 3}), Words{""});
}

TEST(BertText, StopsWhenTheSinkHasEnough) {
  int seen = 0;
  for_each_word("a b c d", {}, [&](std::string_view) { return ++seen < 2; });
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace wick::models
