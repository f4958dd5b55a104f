// SPDX-License-Identifier: Apache-2.0
#include "models/embedder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/test_files.h"
#include "wick/wick.h"

namespace wick::models {
namespace {

using wick::testing::data_file;
using wick::testing::model_folder;
using wick::testing::read_text;

class EmbedderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(model_folder() / "model.safetensors"))
      GTEST_SKIP() << "no model in " << model_folder() << "; scripts/fetch-model downloads it";
  }

  static const Embedder& embedder() {
    static const auto* const e = new Embedder(Embedder::load(model_folder()));
    return *e;
  }
  static std::vector<std::string> golden_texts() {
    return nlohmann::json::parse(read_text(data_file("minilm_golden.json")))["cases"]
        .get<std::vector<std::string>>();
  }
};

f64 largest_difference(const Tensor& a, const Tensor& b) {
  return static_cast<f64>((a - b).abs().max().item<f32>());
}

/// The reference run is PyTorch's, on the same weights: tools/make-golden.
TEST_F(EmbedderTest, AgreesWithPyTorch) {
  const std::vector<std::string> texts = golden_texts();
  ASSERT_EQ(texts.size(), 50U);
  const Tensor want =
      SafeTensors::open(data_file("minilm_golden.safetensors")).tensor("embeddings");
  const Tensor got = embedder().embed(texts);
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_LE(largest_difference(got, want), 1e-5);
  // Both have length 1, so their product is the cosine.
  EXPECT_GE(static_cast<f64>((got * want).sum(-1).min().item<f32>()), 0.99999);
  EXPECT_NEAR(got.sqr().sum(-1).max().item<f64>(), 1.0, 1e-6);
}

/// Batch, order and threads leave no trace in the bits.
TEST_F(EmbedderTest, OneAndManyGiveTheSameBits) {
  std::vector<std::string> texts = golden_texts();
  texts.resize(32);
  const std::vector<f32> all = embedder().embed(texts).to_vector<f32>();
  const auto width = static_cast<std::size_t>(embedder().size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto one = embedder().embed(std::span(texts).subspan(i, 1)).to_vector<f32>();
    EXPECT_TRUE(
        std::equal(one.begin(), one.end(), all.begin() + static_cast<std::ptrdiff_t>(i * width)))
        << texts[i];
  }
  std::vector<std::string> reversed(texts.rbegin(), texts.rend());
  const Tensor back = embedder().embed(reversed).flip(0);
  EXPECT_EQ(back.to_vector<f32>(), all);
  const int threads = num_threads();
  for (const int n : {1, 2, 3, 8}) {
    set_num_threads(n);
    EXPECT_EQ(embedder().embed(texts).to_vector<f32>(), all) << n << " threads";
  }
  set_num_threads(threads);
}

TEST_F(EmbedderTest, NoTexts) { EXPECT_EQ(embedder().embed({}).shape(), (Dims{0, 384})); }

TEST_F(EmbedderTest, LongTextsAreCut) {
  std::string text = "word";
  for (int i = 0; i < 100000; ++i) text += " word";
  const std::vector<std::string> texts{text, text + " and more"};
  const Tensor v = embedder().embed(texts);
  EXPECT_EQ(v.select(0, 0).to_vector<f32>(), v.select(0, 1).to_vector<f32>());
}

TEST_F(EmbedderTest, ReadInsteadOfMapped) {
  const std::vector<std::string> texts{"the same"};
  const auto read = Embedder::load(model_folder(), FileMode::read);
  EXPECT_EQ(read.embed(texts).to_vector<f32>(), embedder().embed(texts).to_vector<f32>());
}

/// A tiny model with random weights, as a folder on disk.
class SmallModelTest : public ::testing::Test {
 protected:
  SmallModelTest()
      : config_(nlohmann::json::parse(R"({
      "model_type": "bert", "hidden_act": "gelu", "vocab_size": 8, "hidden_size": 4,
      "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8,
      "max_position_embeddings": 16, "type_vocab_size": 2, "layer_norm_eps": 1e-12})")) {
    const auto linear = [&](const std::string& name, Index out, Index in) {
      weights_[name + ".weight"] = Tensor::randn({out, in});
      weights_[name + ".bias"] = Tensor::randn({out});
    };
    const auto norm = [&](const std::string& name) {
      weights_[name + ".weight"] = Tensor::ones({4});
      weights_[name + ".bias"] = Tensor::zeros({4});
    };
    weights_["embeddings.word_embeddings.weight"] = Tensor::randn({8, 4});
    weights_["embeddings.position_embeddings.weight"] = Tensor::randn({16, 4});
    weights_["embeddings.token_type_embeddings.weight"] = Tensor::randn({2, 4});
    norm("embeddings.LayerNorm");
    const std::string layer = "encoder.layer.0.";
    for (const char* part : {"query", "key", "value"})
      linear(layer + "attention.self." + part, 4, 4);
    linear(layer + "attention.output.dense", 4, 4);
    linear(layer + "intermediate.dense", 8, 4);
    linear(layer + "output.dense", 4, 8);
    norm(layer + "attention.output.LayerNorm");
    norm(layer + "output.LayerNorm");
  }

  Embedder load() {
    wick::testing::write_text(folder_.path() / "config.json", config_.dump());
    wick::testing::write_text(folder_.path() / "vocab.txt", vocabulary_);
    save_safetensors(folder_.path() / "model.safetensors", weights_);
    return Embedder::load(folder_.path());
  }

  std::string failure() {
    try {
      (void)load();
    } catch (const Error& e) {
      EXPECT_NE(e.kind(), ErrorKind::internal);
      return e.what();
    }
    return "no error";
  }

  wick::testing::ScratchFolder folder_;
  nlohmann::json config_;
  std::string vocabulary_ = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\n##b\n##c\n";
  std::map<std::string, Tensor> weights_;
};

TEST_F(SmallModelTest, Works) {
  const std::vector<std::string> texts{"a b", "abc", "", "zz a"};
  const Tensor v = load().embed(texts);
  EXPECT_EQ(v.shape(), (Dims{4, 4}));
  EXPECT_TRUE(std::isfinite(v.abs().max().item<f32>()));
}

TEST_F(SmallModelTest, WrongWeightsAreNamed) {
  const std::string name = "encoder.layer.0.output.dense.weight";
  const Tensor good = weights_[name];
  weights_.erase(name);
  EXPECT_NE(failure().find(name), std::string::npos);
  weights_[name] = good.t().contiguous();
  EXPECT_NE(failure().find("[4, 8]"), std::string::npos);
  weights_[name] = good.to_dtype(DType::f16);
  EXPECT_NE(failure().find("f16"), std::string::npos);
}

TEST_F(SmallModelTest, SizesOfConfigMustMatch) {
  for (const char* key : {"hidden_size", "vocab_size", "intermediate_size",
                          "max_position_embeddings", "type_vocab_size", "num_hidden_layers"}) {
    const auto config = config_;
    config_[key] = config[key].get<int>() * 2;
    EXPECT_NE(failure(), "no error") << key;
    config_ = config;
  }
}

TEST_F(SmallModelTest, VocabularyLargerThanTheModel) {
  vocabulary_ += "more\n";
  EXPECT_NE(failure().find("vocab.txt"), std::string::npos);
}

TEST_F(SmallModelTest, IdsAndLengthsAreChecked) {
  (void)load();
  const auto config = BertConfig::load(folder_.path() / "config.json");
  const Bert bert(config, SafeTensors::open(folder_.path() / "model.safetensors"));
  const std::vector<std::vector<std::uint32_t>> outside{{0, 8}},
      longer{std::vector<std::uint32_t>(17, 1)};
  EXPECT_THROW((void)bert.forward(PackedTokens(outside)), Error);
  EXPECT_THROW((void)bert.forward(PackedTokens(longer)), Error);
  const std::vector<std::vector<std::uint32_t>> empty{{}, {1}};
  EXPECT_EQ(bert.forward(PackedTokens(empty)).shape(), (Dims{1, 4}));
}

}  // namespace
}  // namespace wick::models
