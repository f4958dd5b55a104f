// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/bert/config.h"
#include "tests/test_files.h"
#include "wick/base/error.h"

namespace wick::models {
namespace {

using ::testing::HasSubstr;

nlohmann::json good() {
  return {{"model_type", "bert"},       {"hidden_act", "gelu"},
          {"vocab_size", 100},          {"hidden_size", 32},
          {"num_hidden_layers", 2},     {"num_attention_heads", 4},
          {"intermediate_size", 64},    {"type_vocab_size", 2},
          {"layer_norm_eps", 1e-12},    {"max_position_embeddings", 16},
          {"transformers_version", "4"}};
}

std::string refusal(const std::string& text) {
  try {
    (void)BertConfig::parse(text, "config.json");
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::format);
    EXPECT_THAT(e.what(), HasSubstr("config.json"));
    return e.what();
  }
  return "accepted";
}

std::string refusal_with(const char* key, const nlohmann::json& value) {
  nlohmann::json config = good();
  config[key] = value;
  return refusal(config.dump());
}

TEST(BertConfig, ReadsAGoodFile) {
  const BertConfig c = BertConfig::parse(good().dump(), "config.json");
  EXPECT_EQ(c.vocab_size, 100);
  EXPECT_EQ(c.hidden_size, 32);
  EXPECT_EQ(c.layers, 2);
  EXPECT_EQ(c.heads, 4);
  EXPECT_EQ(c.head_size(), 8);
  EXPECT_EQ(c.intermediate, 64);
  EXPECT_EQ(c.positions, 16);
  EXPECT_EQ(c.types, 2);
  EXPECT_EQ(c.norm_eps, 1e-12);
}

TEST(BertConfig, WhatIsNoObject) {
  for (const char* text : {"", "{", "[]", "1", "null", "{\"a\":1,}", "\xFF"})
    EXPECT_NE(refusal(text), "accepted") << text;
  EXPECT_NE(refusal(std::string(100000, '[')), "accepted");
}

TEST(BertConfig, EveryKeyIsNeededAndChecked) {
  for (const char* key : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                          "intermediate_size", "max_position_embeddings", "type_vocab_size"}) {
    nlohmann::json without = good();
    without.erase(key);
    EXPECT_THAT(refusal(without.dump()), HasSubstr(str("no ", key)));
    const std::vector<nlohmann::json> bad{0,    -1,   1.5,  "32",      nullptr,
                                          true, 1e30, {32}, INT64_MAX, UINT64_MAX};
    for (const auto& value : bad)
      EXPECT_THAT(refusal_with(key, value), HasSubstr(str(key, ": wanted a whole number")))
          << value;
  }
}

TEST(BertConfig, Inconsistent) {
  EXPECT_THAT(refusal_with("num_attention_heads", 5), HasSubstr("multiple"));
  EXPECT_THAT(refusal_with("num_attention_heads", 64), HasSubstr("from 1 to 32"));
  EXPECT_NE(refusal_with("max_position_embeddings", 1), "accepted");
  for (const nlohmann::json& eps : std::vector<nlohmann::json>{0, -1e-12, 1, "1e-12", nullptr})
    EXPECT_THAT(refusal_with("layer_norm_eps", eps), HasSubstr("layer_norm_eps")) << eps;
}

TEST(BertConfig, OtherModels) {
  EXPECT_THAT(refusal_with("model_type", "roberta"), HasSubstr("roberta"));
  EXPECT_THAT(refusal_with("hidden_act", "gelu_new"), HasSubstr("gelu_new"));
  EXPECT_THAT(refusal_with("hidden_act", 1), HasSubstr("hidden_act"));
  EXPECT_THAT(refusal_with("position_embedding_type", "relative_key"), HasSubstr("relative_key"));
  EXPECT_LT(refusal_with("model_type", std::string(100000, 'x')).size(), 300U);
}

TEST(SentenceConfig, OptionalFiles) {
  const wick::testing::ScratchFolder scratch;
  const BertConfig model = BertConfig::parse(good().dump(), "config.json");
  const auto write = [&](const char* name, const char* text) {
    wick::testing::write_text(scratch / name, text);
  };
  EXPECT_EQ(SentenceConfig::load(scratch.path(), model).max_tokens, 16);
  EXPECT_TRUE(SentenceConfig::load(scratch.path(), model).lowercase);
  write("sentence_bert_config.json", R"({"max_seq_length": 8, "do_lower_case": false})");
  write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(SentenceConfig::load(scratch.path(), model).max_tokens, 8);
  EXPECT_FALSE(SentenceConfig::load(scratch.path(), model).lowercase);
  write("tokenizer_config.json", R"({"do_lower_case": 1})");
  EXPECT_THROW((void)SentenceConfig::load(scratch.path(), model), Error);
  for (const char* bad : {"{\"max_seq_length\": 17}", "{\"max_seq_length\": 1}", "[]", ""}) {
    write("sentence_bert_config.json", bad);
    EXPECT_THROW((void)SentenceConfig::load(scratch.path(), model), Error) << bad;
  }
}

TEST(BertConfig, MissingFile) {
  try {
    (void)BertConfig::load("/nonexistent/config.json");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::io);
    EXPECT_THAT(e.what(), HasSubstr("/nonexistent/config.json"));
  }
}

TEST(BertConfig, TheSentenceModel) {
  WICK_NEED_MODEL();
  const auto folder = wick::testing::model_folder();
  const BertConfig c = BertConfig::load(folder / "config.json");
  EXPECT_EQ(c.hidden_size, 384);
  EXPECT_EQ(c.layers, 6);
  EXPECT_EQ(c.heads, 12);
  const SentenceConfig s = SentenceConfig::load(folder, c);
  EXPECT_EQ(s.max_tokens, 256);
  EXPECT_TRUE(s.lowercase);
}

}  // namespace
}  // namespace wick::models
