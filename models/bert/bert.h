// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/bert/config.h"
#include "wick/io.h"
#include "wick/linear.h"
#include "wick/tensor.h"

namespace wick::models {

/// Several token sequences laid one after another, so that nothing is computed for padding.
/// Sequences of one length stand together and form a group.
struct PackedTokens {
  struct Group {
    Index first;   ///< row of its first token
    Index count;   ///< sequences
    Index length;  ///< tokens of each
  };
  std::vector<std::uint32_t> ids;
  std::vector<Group> groups;
  std::vector<std::uint32_t>
      place;  ///< where sequence i of the caller stands among the packed ones

  explicit PackedTokens(std::span<const std::vector<std::uint32_t>> sequences);
};

/// The BERT encoder (Devlin, Chang, Lee & Toutanova, 2019): token ids in, one hidden vector a token
/// out. Immutable after loading, so any number of threads may share one.
class Bert {
 public:
  /// Takes the weights by the names that published BERT checkpoints use. A weight that is missing,
  /// is not f32 or does not have the shape that `config` asks for is a `format` Error.
  Bert(const BertConfig& config, const SafeTensors& weights);

  const BertConfig& config() const { return config_; }

  /// The last hidden states, [rows, hidden], rows in the order of `tokens`. A row depends on its
  /// own sequence alone, bit for bit, whatever else is in the batch. An `index` Error for an id
  /// outside the vocabulary, a `shape` Error for a sequence that is too long.
  Tensor forward(const PackedTokens& tokens) const;

 private:
  struct Linear {
    PackedMatrix weight;  ///< [in, out]
    Tensor bias;
  };
  struct Norm {
    Tensor weight, bias;
  };
  struct Layer {
    Linear qkv, attention_out, up, down;
    Norm attention_norm, output_norm;
  };

  Tensor embed(const PackedTokens& tokens) const;
  /// softmax(q k^T / sqrt(width)) v for every sequence and head; qkv holds the three side by side.
  void attend(const Tensor& context, const Tensor& qkv,
              const std::vector<PackedTokens::Group>& groups) const;
  void normalize(const Tensor& x, const Norm& norm) const;

  BertConfig config_;
  Tensor words_, positions_;  // positions_ holds position + token type 0
  Norm embedding_norm_;
  std::vector<Layer> layers_;
};

}  // namespace wick::models
