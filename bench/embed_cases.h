// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness.h"
#include "models/bert/config.h"

// What `wick bench embed` encodes.

namespace wick::bench {

using Sentences = std::vector<std::vector<std::uint32_t>>;

/// Made-up token ids of a vocabulary, one sentence for each length; the same at every call.
Sentences make_sentences(const std::vector<Index>& lengths, Index vocab_size);

/// Lengths from `low` to `high` in even steps.
std::vector<Index> even_lengths(Index count, Index low, Index high);

/// Operations of the encoder's products, attention included, for the tokens that are there: twice
/// the multiply-adds. Norms, softmax and activation are not counted.
double encoder_flops(const models::BertConfig& config, const Sentences& sentences);

/// A case [sentences, tokens of the longest] against the FMA peak of f32.
Case encoder_case(const std::string& op, const models::BertConfig& config,
                  const Sentences& sentences, int threads);

}  // namespace wick::bench
