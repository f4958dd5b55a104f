// SPDX-License-Identifier: Apache-2.0
#include "models/bert/bert.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "wick/nn.h"
#include "wick/parallel/executor.h"

namespace wick::models {
namespace {

/// Attention scores that one thread keeps at a time: they should stay in L2.
constexpr Index kScoresAtOnce = Index{1} << 16;

/// Multiplications below which another thread is not worth its start.
constexpr Index kWorkPerThread = Index{1} << 18;

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
  // From the file's [out, in]; several side by side where one product serves them all.
  const auto linear = [&](std::initializer_list<std::string> names, Index in, Index out) -> Linear {
    if (names.size() == 1)
      return {PackedMatrix(weights.get(*names.begin() + ".weight", {out, in}).t()),
              weights.get(*names.begin() + ".bias", {out})};
    const auto parts = static_cast<Index>(names.size());
    const Tensor weight = Tensor::empty({parts * out, in}), bias = Tensor::empty({parts * out});
    Index at = 0;
    for (const std::string& name : names) {
      copy_into(weight.narrow(0, at, out), weights.get(name + ".weight", {out, in}));
      copy_into(bias.narrow(0, at, out), weights.get(name + ".bias", {out}));
      at += out;
    }
    return {PackedMatrix(weight.t()), bias};
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

void Bert::normalize(const Tensor& x, const Norm& norm) const {
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
  normalize(x, embedding_norm_);
  return x;
}

void Bert::attend(const Tensor& context, const Tensor& qkv,
                  const std::vector<PackedTokens::Group>& groups) const {
  const Index hidden = config_.hidden_size, width = config_.head_size();
  const Epilogue scaled{.alpha = 1.0 / std::sqrt(static_cast<f64>(width))};
  for (const auto& g : groups) {
    if (g.length == 0) continue;
    // Blocks of sequences and heads whose scores fit, and enough of them for all threads.
    const Index size = g.length * g.length, threads = current_executor().threads();
    Index heads = std::clamp<Index>(kScoresAtOnce / size, 1, config_.heads);
    const Index work = 2 * size * width;  // of one head
    if (g.count < threads && heads * work > kWorkPerThread)
      heads = std::min(heads, ceil_div(config_.heads * g.count, threads));
    const Index sequences =
        std::clamp<Index>(kScoresAtOnce / (size * heads), 1, std::max<Index>(1, g.count / threads));
    const Index across = ceil_div(config_.heads, heads);
    const auto block = [&](Index i) {
      const Index head = i % across * heads, sequence = i / across * sequences;
      const Index h = std::min(heads, config_.heads - head);
      const Index n = std::min(sequences, g.count - sequence);
      // [n, h, length, width] views of the rows.
      const auto split = [&](const Tensor& x, Index column) {
        return x.narrow(0, g.first + sequence * g.length, n * g.length)
            .narrow(1, column + head * width, h * width)
            .reshape({n, g.length, h, width})
            .transpose(1, 2);
      };
      const Tensor scores = Tensor::empty({n, h, g.length, g.length});
      matmul_into(scores, split(qkv, 0), split(qkv, hidden).t(), scaled);
      softmax_into(scores, scores, -1);
      matmul_into(split(context, 0), scores, split(qkv, 2 * hidden));
    };
    parallel_for(ceil_div(g.count, sequences) * across,
                 std::max<Index>(1, kWorkPerThread / (work * heads * sequences)),
                 [&](Index begin, Index end) {
                   for (Index i = begin; i < end; ++i) block(i);
                 });
  }
}

Tensor Bert::forward(const PackedTokens& tokens) const {
  for (const auto& g : tokens.groups)
    if (g.length > config_.positions)
      throw Error(ErrorKind::shape, "bert",
                  str("wanted at most ", config_.positions, " tokens, got ", g.length));
  const Tensor x = embed(tokens);
  const Index rows = x.size(0), hidden = config_.hidden_size;
  const Tensor qkv = Tensor::empty({rows, 3 * hidden}), context = Tensor::empty({rows, hidden});
  const Tensor y = Tensor::empty({rows, hidden});
  const Tensor inner = Tensor::empty({rows, config_.intermediate});
  for (const Layer& layer : layers_) {
    matmul_into(qkv, x, layer.qkv.weight, {.bias = layer.qkv.bias});
    attend(context, qkv, tokens.groups);
    matmul_into(y, context, layer.attention_out.weight,
                {.bias = layer.attention_out.bias, .residual = x});
    normalize(y, layer.attention_norm);
    matmul_into(inner, y, layer.up.weight,
                {.bias = layer.up.bias, .activation = UnaryOp::gelu_erf});
    matmul_into(x, inner, layer.down.weight, {.bias = layer.down.bias, .residual = y});
    normalize(x, layer.output_norm);
  }
  return x;
}

}  // namespace wick::models
