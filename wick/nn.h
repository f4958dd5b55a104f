// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace wick
