// SPDX-License-Identifier: Apache-2.0
#include "models/bert/config.h"

#include <nlohmann/json.hpp>

#include "models/text_file.h"
#include "wick/base/error.h"
#include "wick/base/str.h"

namespace wick::models {
namespace {

using nlohmann::json;

constexpr std::string_view kOp = "config";
constexpr Index kMaxBytes = Index{1} << 20;

// A value for a message: short, whatever the file holds.
std::string shown(const json& value) {
  constexpr std::size_t kMost = 60;
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

// The object in a JSON file; every getter checks what it gets.
class Settings {
 public:
  Settings(std::string_view text, std::string_view file) : file_(file) {
    object_ = json::parse(text, nullptr, false);
    if (object_.is_discarded()) throw bad("this is no JSON");
    if (!object_.is_object()) throw bad(str("wanted an object, got ", shown(object_)));
  }

  Error bad(std::string_view message) const {
    return {ErrorKind::format, kOp, str(file_, ": ", message)};
  }
  bool has(const char* key) const { return object_.contains(key); }

  Index size(const char* key, Index high) const {
    const json& value = at(key);
    if (!value.is_number_integer() || value < 1 || value > high)
      throw bad(str(key, ": wanted a whole number from 1 to ", high, ", got ", shown(value)));
    return value.get<Index>();
  }

  double number(const char* key, double low, double high) const {
    const json& value = at(key);
    if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high))
      throw bad(str(key, ": wanted a number from ", low, " to ", high, ", got ", shown(value)));
    return value.get<double>();
  }

  bool boolean(const char* key) const {
    const json& value = at(key);
    if (!value.is_boolean()) throw bad(str(key, ": wanted true or false, got ", shown(value)));
    return value.get<bool>();
  }

  void require(const char* key, const char* wanted) const {
    if (at(key) != wanted)
      throw bad(
          str(key, ": wanted \"", wanted, "\", got ", shown(at(key)), ", which is not there"));
  }

 private:
  const json& at(const char* key) const {
    const auto value = object_.find(key);
    if (value == object_.end()) throw bad(str("no ", key));
    return *value;
  }

  std::string file_;
  json object_;
};

Settings read(const std::filesystem::path& file) {
  return {read_text_file(file, kMaxBytes, kOp), file.string()};
}

BertConfig bert_config(const Settings& s) {
  s.require("model_type", "bert");
  s.require("hidden_act", "gelu");
  if (s.has("position_embedding_type")) s.require("position_embedding_type", "absolute");
  // The limits are some hundred times the largest model of this kind; with them no size of a weight
  // or an activation comes near 64 bits.
  BertConfig c;
  c.vocab_size = s.size("vocab_size", Index{1} << 24);
  c.hidden_size = s.size("hidden_size", Index{1} << 17);
  c.layers = s.size("num_hidden_layers", Index{1} << 12);
  c.heads = s.size("num_attention_heads", c.hidden_size);
  c.intermediate = s.size("intermediate_size", Index{1} << 20);
  c.positions = s.size("max_position_embeddings", Index{1} << 20);
  c.types = s.size("type_vocab_size", Index{1} << 10);
  c.norm_eps = s.number("layer_norm_eps", 1e-20, 0.1);
  if (c.hidden_size % c.heads != 0)
    throw s.bad(str("hidden_size: wanted a multiple of num_attention_heads ", c.heads, ", got ",
                    c.hidden_size));
  if (c.positions < 2)
    throw s.bad("max_position_embeddings: wanted room for [CLS] and [SEP], got 1");
  return c;
}

}  // namespace

BertConfig BertConfig::load(const std::filesystem::path& file) { return bert_config(read(file)); }

BertConfig BertConfig::parse(std::string_view json, std::string_view file) {
  return bert_config(Settings(json, file));
}

SentenceConfig SentenceConfig::load(const std::filesystem::path& folder, const BertConfig& model) {
  SentenceConfig out;
  out.max_tokens = model.positions;
  const auto sentence = folder / "sentence_bert_config.json";
  if (std::filesystem::exists(sentence)) {
    const Settings s = read(sentence);
    if (s.has("max_seq_length")) out.max_tokens = s.size("max_seq_length", model.positions);
    if (out.max_tokens < 2) throw s.bad("max_seq_length: wanted room for [CLS] and [SEP], got 1");
  }
  const auto tokenizer = folder / "tokenizer_config.json";
  if (std::filesystem::exists(tokenizer)) {
    const Settings s = read(tokenizer);
    if (s.has("do_lower_case")) out.lowercase = s.boolean("do_lower_case");
  }
  return out;
}

}  // namespace wick::models
