// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/wordpiece.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/test_files.h"
#include "wick/base/error.h"

namespace wick::models {
namespace {

using Ids = std::vector<std::uint32_t>;

constexpr const char* kVocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\n##a\naffable\n,\n漢\ne\n##\n";

WordPiece tiny() { return WordPiece::parse(kVocabulary, "tiny"); }

ErrorKind kind_of(std::string vocabulary) {
  try {
    (void)WordPiece::parse(std::move(vocabulary), "vocab");
  } catch (const Error& e) {
    return e.kind();
  }
  return ErrorKind::internal;
}

TEST(WordPiece, LongestPiecesFirst) {
  const WordPiece w = tiny();
  EXPECT_EQ(w.size(), 14);
  EXPECT_EQ(w.encode("unaffable", 16), (Ids{2, 5, 6, 7, 3}));
  EXPECT_EQ(w.encode("Affable, UNA 漢É", 16), (Ids{2, 9, 10, 5, 8, 11, 12, 3}));
  EXPECT_EQ(w.encode("", 16), (Ids{2, 3}));
  EXPECT_EQ(w.encode(" \n", 16), (Ids{2, 3}));
}

TEST(WordPiece, UnknownPartsMakeTheWordUnknown) {
  const WordPiece w = tiny();
  EXPECT_EQ(w.encode("unaffablex un", 16), (Ids{2, 1, 5, 3}));
  EXPECT_EQ(w.encode("😀 ## #", 16), (Ids{2, 1, 1, 1, 1, 3}));
  EXPECT_EQ(w.encode(std::string(101, 'e') + " e", 16), (Ids{2, 1, 12, 3}));
}

TEST(WordPiece, SpecialTokensInTheText) {
  const WordPiece w = tiny();
  EXPECT_EQ(w.encode("un[SEP]e [MASK],[sep", 16), (Ids{2, 5, 3, 12, 4, 10, 1, 1, 3}));
  EXPECT_EQ(w.encode("[[PAD]", 16), (Ids{2, 1, 0, 3}));
}

TEST(WordPiece, Truncates) {
  const WordPiece w = tiny();
  EXPECT_EQ(w.encode("unaffable", 4), (Ids{2, 5, 6, 3}));
  EXPECT_EQ(w.encode("e e e [SEP]", 3), (Ids{2, 12, 3}));
  EXPECT_EQ(w.encode("e e e", 2), (Ids{2, 3}));
  EXPECT_THROW((void)w.encode("e", 1), Error);
  std::string huge;
  for (int i = 0; i < 100000; ++i) huge += "e e,";
  EXPECT_EQ(w.encode(huge, 256).size(), 256U);
}

TEST(WordPiece, Tokens) {
  const WordPiece w = tiny();
  EXPECT_EQ(w.token(6), "##aff");
  EXPECT_EQ(w.token(w.unk_id()), "[UNK]");
  EXPECT_EQ(w.token(w.pad_id()), "[PAD]");
  EXPECT_THROW((void)w.token(14), Error);
  // Lines may end in CR LF, the last one in nothing.
  EXPECT_EQ(WordPiece::parse("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]", "crlf").size(), 4);
}

TEST(WordPiece, BadVocabularies) {
  const std::string good = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n";
  EXPECT_EQ(kind_of(""), ErrorKind::format);
  EXPECT_EQ(kind_of("[PAD]\n[UNK]\n[CLS]\n"), ErrorKind::format);
  EXPECT_EQ(kind_of(good + "a\na\n"), ErrorKind::format);
  EXPECT_EQ(kind_of(good + "##a\n##a\n"), ErrorKind::format);
  EXPECT_EQ(kind_of(good + "\na\n"), ErrorKind::format);
  EXPECT_EQ(kind_of(good + "\xFF\n"), ErrorKind::format);
  EXPECT_EQ(kind_of(good + "a\n##a\n"), ErrorKind::internal);  // no Error
}

TEST(WordPiece, MissingFiles) {
  const wick::testing::ScratchFolder scratch;
  for (const auto& path : {scratch / "none.txt", scratch.path()}) {
    try {
      (void)WordPiece::load(path);
      FAIL() << path;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::io);
      EXPECT_NE(std::string(e.what()).find(path.string()), std::string::npos) << e.what();
    }
  }
}

TEST(WordPiece, AnyBytes) {
  const WordPiece w = tiny();
  std::uint32_t state = 1;
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (int n = i % 64; n > 0; --n) {
      state = state * 1664525U + 1013904223U;
      text += static_cast<char>(state >> 24);
    }
    const Ids ids = w.encode(text, 20);
    ASSERT_GE(ids.size(), 2U);
    ASSERT_LE(ids.size(), 20U);
  }
}

TEST(WordPiece, AgreesWithTheReference) {
  WICK_NEED_MODEL();
  const WordPiece w = WordPiece::load(wick::testing::model_folder() / "vocab.txt");
  EXPECT_EQ(w.size(), 30522);
  const auto golden = nlohmann::json::parse(
      wick::testing::read_text(wick::testing::data_file("wordpiece_golden.json")));
  const Index max_tokens = golden.at("max_tokens").get<Index>();
  for (const auto& c : golden.at("cases")) {
    const auto text = c.at("text").get<std::string>();
    EXPECT_EQ(w.encode(text, max_tokens), c.at("ids").get<Ids>()) << text;
  }
}

}  // namespace
}  // namespace wick::models
