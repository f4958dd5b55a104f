// SPDX-License-Identifier: Apache-2.0
#include "models/bert/bert.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "wick/nn.h"

namespace wick::models {
namespace {

/// Attention scores kept at a time: they should stay in the caches.
constexpr Index kScoresAtOnce = Index{1} << 20;

/// Looks weights up and holds them against the shapes they must have.
class Weights {
 public:
  explicit Weights(const SafeTensors& file) : file_(file) {}

  Tensor get(const std::string& name, const Dims& shape) const {
    Tensor w = file_.tensor(name);
    if (w.shape() != shape)
      throw Error(ErrorKind::format, "bert",
                  str("wanted ", name, " of shape ", to_string(shape), " as config.json says, got ",
                      to_string(w.shape())));
    if (w.dtype() != DType::f32)
      throw Error(ErrorKind::format, "bert",
                  str("wanted ", name, " in f32, got ", wick::name(w.dtype())));
    return w;
  }

 private:
  const SafeTensors& file_;
};

}  // namespace

PackedTokens::PackedTokens(std::span<const std::vector<std::uint32_t>> sequences)
    : place(sequences.size()) {
  std::vector<std::uint32_t> order(sequences.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(sequences[a].size(), a) < std::pair(sequences[b].size(), b);
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& sequence = sequences[order[i]];
    place[order[i]] = static_cast<std::uint32_t>(i);
    const auto length = static_cast<Index>(sequence.size());
    if (groups.empty() || groups.back().length != length)
      groups.push_back({static_cast<Index>(ids.size()), 0, length});
    ++groups.back().count;
    ids.insert(ids.end(), sequence.begin(), sequence.end());
  }
}

Bert::Bert(const BertConfig& config, const SafeTensors& file) : config_(config) {
  const Weights weights(file);
  const Index h = config.hidden_size, inner = config.intermediate;
  const auto norm = [&](const std::string& name) -> Norm {
    return {weights.get(name + ".weight", {h}), weights.get(name + ".bias", {h})};
  };
  // [in, out] from the file's [out, in]; several side by side where one product serves them all.
  const auto linear = [&](std::initializer_list<std::string> names, Index in, Index out) -> Linear {
    const auto parts = static_cast<Index>(names.size());
    Linear l{Tensor::empty({in, parts * out}), Tensor::empty({parts * out})};
    Index at = 0;
    for (const std::string& name : names) {
      copy_into(l.weight.narrow(1, at, out), weights.get(name + ".weight", {out, in}).t());
      copy_into(l.bias.narrow(0, at, out), weights.get(name + ".bias", {out}));
      at += out;
    }
    return l;
  };
  words_ = weights.get("embeddings.word_embeddings.weight", {config.vocab_size, h});
  positions_ =
      weights.get("embeddings.position_embeddings.weight", {config.positions, h}) +
      weights.get("embeddings.token_type_embeddings.weight", {config.types, h}).narrow(0, 0, 1);
  embedding_norm_ = norm("embeddings.LayerNorm");
  for (Index i = 0; i < config.layers; ++i) {
    const std::string layer = str("encoder.layer.", i, ".");
    const std::string self = layer + "attention.self.";
    layers_.push_back({linear({self + "query", self + "key", self + "value"}, h, h),
                       linear({layer + "attention.output.dense"}, h, h),
                       linear({layer + "intermediate.dense"}, h, inner),
                       linear({layer + "output.dense"}, inner, h),
                       norm(layer + "attention.output.LayerNorm"),
                       norm(layer + "output.LayerNorm")});
  }
}

Tensor Bert::Linear::operator()(const Tensor& x) const {
  Tensor y = x.matmul(weight);
  add_into(y, y, bias);
  return y;
}

void Bert::add_and_norm(const Tensor& x, const Tensor& residual, const Norm& norm) const {
  add_into(x, x, residual);
  layer_norm_into(x, x, norm.weight, norm.bias, config_.norm_eps);
}

Tensor Bert::embed(const PackedTokens& tokens) const {
  const Tensor ids = Tensor::from_vector(tokens.ids, {static_cast<Index>(tokens.ids.size())});
  Tensor x = words_.index_select(0, ids);
  for (const auto& g : tokens.groups) {
    const Tensor rows =
        x.narrow(0, g.first, g.count * g.length).reshape({g.count, g.length, config_.hidden_size});
    add_into(rows, rows, positions_.narrow(0, 0, g.length));
  }
  layer_norm_into(x, x, embedding_norm_.weight, embedding_norm_.bias, config_.norm_eps);
  return x;
}

Tensor Bert::attend(const Tensor& qkv, const std::vector<PackedTokens::Group>& groups) const {
  const Index heads = config_.heads, width = config_.hidden_size / heads;
  const f64 scale = 1.0 / std::sqrt(static_cast<f64>(width));
  const Tensor context = Tensor::empty({qkv.size(0), config_.hidden_size});
  for (const auto& g : groups) {
    const Index at_once =
        std::max<Index>(1, kScoresAtOnce / std::max<Index>(1, heads * g.length * g.length));
    for (Index done = 0; done < g.count; done += at_once) {
      const Index count = std::min(at_once, g.count - done);
      const Index first = g.first + done * g.length, rows = count * g.length;
      // [count, heads, length, width] views of the rows.
      const auto split = [&](const Tensor& x, Index column) {
        return x.narrow(0, first, rows)
            .narrow(1, column, config_.hidden_size)
            .reshape({count, g.length, heads, width})
            .transpose(1, 2);
      };
      const Tensor q = split(qkv, 0), k = split(qkv, config_.hidden_size),
                   v = split(qkv, 2 * config_.hidden_size);
      const Tensor scores = Tensor::empty({count, heads, g.length, g.length});
      matmul_into(scores, q, k.t(), scale);
      softmax_into(scores, scores, -1);
      matmul_into(split(context, 0), scores, v);
    }
  }
  return context;
}

Tensor Bert::forward(const PackedTokens& tokens) const {
  for (const auto& g : tokens.groups)
    if (g.length > config_.positions)
      throw Error(ErrorKind::shape, "bert",
                  str("wanted at most ", config_.positions, " tokens, got ", g.length));
  Tensor x = embed(tokens);
  for (const Layer& layer : layers_) {
    const Tensor attended = layer.attention_out(attend(layer.qkv(x), tokens.groups));
    add_and_norm(attended, x, layer.attention_norm);
    const Tensor y = layer.down(layer.up(attended).gelu_erf());
    add_and_norm(y, attended, layer.output_norm);
    x = y;
  }
  return x;
}

}  // namespace wick::models
