// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "wick/random.h"
#include "wick/tensor.h"

namespace wick {

/// e^(x - max) / sum of those, along `dim`. A row that is all -inf gives NaN.
WICK_API Tensor softmax(const Tensor& x, Index dim);
WICK_API void softmax_into(const Tensor& out, const Tensor& x, Index dim);
/// x - max - log(sum e^(x - max)), along `dim`.
WICK_API Tensor log_softmax(const Tensor& x, Index dim);
WICK_API void log_softmax_into(const Tensor& out, const Tensor& x, Index dim);

/// (x - mean) / sqrt(variance + eps) * weight + bias over the last dim; weight and bias have shape
/// [last] and the dtype of x. The variance is that of the centred row, so it neither cancels nor is
/// ever negative.
WICK_API Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, f64 eps);
WICK_API void layer_norm_into(const Tensor& out, const Tensor& x, const Tensor& weight,
                              const Tensor& bias, f64 eps);
/// x / sqrt(mean(x^2) + eps) * weight over the last dim.
WICK_API Tensor rms_norm(const Tensor& x, const Tensor& weight, f64 eps);
WICK_API void rms_norm_into(const Tensor& out, const Tensor& x, const Tensor& weight, f64 eps);

/// (x - mean) / sqrt(variance + eps) * weight[c] + bias[c] for x of shape [batch, channels, ...]:
/// mean and variance (over n) of each of `groups` groups of neighbouring channels of a batch.
/// weight and bias have shape [channels] and the dtype of x. Wu & He, "Group normalization" (2018).
/// Means and all that follows are computed in f64.
WICK_API Tensor group_norm(const Tensor& x, Index groups, const Tensor& weight, const Tensor& bias,
                           f64 eps);
WICK_API void group_norm_into(const Tensor& out, const Tensor& x, Index groups,
                              const Tensor& weight, const Tensor& bias, f64 eps);
/// The same with given statistics, as a trained model keeps them: (x - mean[c]) / sqrt(variance[c]
/// + eps) * weight[c] + bias[c]. All four have shape [channels] and the dtype of x. Ioffe &
/// Szegedy, "Batch normalization" (2015).
WICK_API Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance,
                           const Tensor& weight, const Tensor& bias, f64 eps);
WICK_API void batch_norm_into(const Tensor& out, const Tensor& x, const Tensor& mean,
                              const Tensor& variance, const Tensor& weight, const Tensor& bias,
                              f64 eps);

/// silu(gate) * up; both have one shape.
WICK_API Tensor swiglu(const Tensor& gate, const Tensor& up);
WICK_API void swiglu_into(const Tensor& out, const Tensor& gate, const Tensor& up);
/// silu of the first half of the last dim times the second half: [.., 2n] -> [.., n].
WICK_API Tensor swiglu(const Tensor& x);

/// Which elements of the last dim [d] make a pair.
enum class RotaryPairs : std::uint8_t {
  halves,      ///< i and i + d/2
  interleaved  ///< 2i and 2i + 1
};
/// Rotary position embedding: pair i at position t is turned by an angle, (a, b) -> (a cos - b sin,
/// a sin + b cos). x is [.., t, d] with even d, cos and sin are [t, d/2] (or broadcast to
/// [.., t, d/2]) and have the dtype of x. Su et al., "RoFormer" (2021).
WICK_API Tensor rotary(const Tensor& x, const Tensor& cos, const Tensor& sin,
                       RotaryPairs pairs = RotaryPairs::halves);
WICK_API void rotary_into(const Tensor& out, const Tensor& x, const Tensor& cos, const Tensor& sin,
                          RotaryPairs pairs = RotaryPairs::halves);

/// Each element is 0 with probability p (0 <= p <= 1), else x / (1 - p). Which, depends on the
/// generator and the element's number in row-major order. Floats only.
WICK_API Tensor dropout(const Tensor& x, f64 p, Generator& generator);
WICK_API Tensor dropout(const Tensor& x, f64 p);  ///< from the thread's current generator
WICK_API void dropout_into(const Tensor& out, const Tensor& x, f64 p, Generator& generator);

}  // namespace wick
