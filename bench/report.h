// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "bench/session.h"
#include "wick/tensor.h"

namespace wick::bench {

/// "matmul f32 1024x1024x1024: median 3.256 ms (659 GFLOP/s), 83 % of f32 FMA peak".
std::string text_line(const Row& row);

/// "  onnxruntime   median 3.256 ms (659 GFLOP/s), 83 % of f32 FMA peak", where the case is said
/// above.
std::string engine_line(const Row& row);

/// The rows of one product, wick's first: "f32 512;512;512      161 GFLOP/s  96 % of f32 FMA peak
/// 1.02 x onednn-packed 158", then a line with the other engines.
std::string gemm_lines(std::span<const Row> rows);

/// "n=64: plain median 0.0076 ms, with_context median 0.0075 ms".
std::string context_line(const Row& plain, const Row& context);

/// The elements of a small tensor, e.g. "[[2, 2], [2, 2]]".
std::string one_line(const Tensor& x);

/// What the machine can do at most, a line for each thread count.
std::string machine_text(const Machine& machine);

/// {"machine": ..., "rows": [...]}; the fields are described in docs/performance.md.
std::string to_json(const Machine& machine, std::span<const Row> rows);

/// A page of its own: a roofline plot and bars, no scripts, nothing from outside.
std::string to_html(const Machine& machine, std::span<const Row> rows);

}  // namespace wick::bench
