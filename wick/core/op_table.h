// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "wick/core/dtype.h"

namespace wick {

/// Which dtypes an op takes.
enum class Domain : std::uint8_t { floats, numbers };

constexpr bool in_domain(DType t, Domain domain) {
  return is_float(t) || (domain == Domain::numbers && is_int(t));
}

/// What the tests, the docs and the tools know of an op.
struct OpInfo {
  std::string_view name;
  Domain domain;
  std::string_view doc;
};

enum class UnaryOp : std::uint8_t {
#define WICK_UNARY(name, ...) name,
#include "wick/core/ops.inc"
};
enum class ParamOp : std::uint8_t {
#define WICK_PARAM(name, ...) name,
#include "wick/core/ops.inc"
};
enum class BinaryOp : std::uint8_t {
#define WICK_BINARY(name, ...) name,
#include "wick/core/ops.inc"
};
enum class CompareOp : std::uint8_t {
#define WICK_COMPARE(name, ...) name,
#include "wick/core/ops.inc"
};

inline constexpr OpInfo kUnaryOps[] = {
#define WICK_UNARY(name, domain, meaning, doc) {#name, Domain::domain, doc},
#include "wick/core/ops.inc"
};
inline constexpr OpInfo kParamOps[] = {
#define WICK_PARAM(name, domain, meaning, doc) {#name, Domain::domain, doc},
#include "wick/core/ops.inc"
};
inline constexpr OpInfo kBinaryOps[] = {
#define WICK_BINARY(name, domain, meaning, doc) {#name, Domain::domain, doc},
#include "wick/core/ops.inc"
};
inline constexpr OpInfo kCompareOps[] = {
#define WICK_COMPARE(name, meaning, doc) {#name, Domain::numbers, doc},
#include "wick/core/ops.inc"
};

constexpr const OpInfo& info(UnaryOp op) { return kUnaryOps[static_cast<int>(op)]; }
constexpr const OpInfo& info(ParamOp op) { return kParamOps[static_cast<int>(op)]; }
constexpr const OpInfo& info(BinaryOp op) { return kBinaryOps[static_cast<int>(op)]; }
constexpr const OpInfo& info(CompareOp op) { return kCompareOps[static_cast<int>(op)]; }

/// The longer meanings of the table, on doubles.
namespace meaning {
inline double silu(double x) {
  return std::isinf(x) ? (x > 0 ? x : -0.0) : x / (1.0 + std::exp(-x));
}
inline double gelu(double x) {
  if (std::isinf(x)) return x > 0 ? x : -0.0;
  const double inner = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  // 1 + tanh(t) = 2 / (1 + e^-2t), which keeps its digits where tanh is near -1.
  return x / (1.0 + std::exp(-2.0 * inner));
}
inline double gelu_erf(double x) {
  if (std::isinf(x)) return x > 0 ? x : -0.0;
  return 0.5 * x * std::erfc(-x * 0.70710678118654752440);
}
inline double softplus(double x) {
  return (x > 0 ? x : std::isnan(x) ? x : 0.0) + std::log1p(std::exp(-std::fabs(x)));
}
inline double clamp(double x, double low, double high) {
  if (std::isnan(x) || std::isnan(low) || std::isnan(high)) return x + low + high;
  const double raised = x < low ? low : x;
  return raised > high ? high : raised;
}
inline double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return a > b ? a : b;
}
inline double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return a < b ? a : b;
}
inline double rem(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : (r == 0 ? std::copysign(0.0, b) : r);
}
inline double floor_div(double a, double b) {
  if (b == 0 || std::isnan(a) || std::isnan(b)) return a / b;
  const double r = std::fmod(a, b);  // NaN where a is infinite
  const bool below = r != 0 && (r < 0) != (b < 0);
  const double q = (std::isinf(b) ? 0 : std::nearbyint((a - r) / b)) - (below ? 1 : 0);
  return std::isnan(r) ? r : q == 0 ? std::copysign(0.0, a / b) : q;
}
}  // namespace meaning

}  // namespace wick
