// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm_cases.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/gemm_operands.h"
#include "wick/base/error.h"
#include "wick/base/str.h"

namespace wick::bench {
namespace {

constexpr Index kLinear = 4096;  ///< rows and columns of a layer's weights

/// A row bound by memory: against the limit from memory, against peers warm.
void add_both(std::vector<Gemm>& rows, Gemm row) {
  row.bound_by_memory = true;
  rows.push_back(row);
  row.cold = true;
  rows.push_back(row);
}

void add_linear(std::vector<Gemm>& rows, Index m) {
  for (const bool packed : {false, true})
    for (const bool transposed : {false, true}) {
      if (packed && (transposed || m == 1)) continue;  // packed, it is the same
      add_both(rows,
               {.m = m, .n = kLinear, .k = kLinear, .transposed = transposed, .packed = packed});
    }
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// Half the distance between 1 and the next number.
double rounding(DType dtype) {
  switch (dtype) {
    case DType::f64: return 0x1p-53;
    case DType::f16: return 0x1p-11;
    case DType::bf16: return 0x1p-8;
    default: return 0x1p-24;
  }
}

}  // namespace

double Gemm::flops() const {
  return 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) *
         static_cast<double>(k);
}

double Gemm::bytes() const {
  const Index elements = m * k + k * n + m * n;
  return static_cast<double>(batch) * static_cast<double>(elements) * bits(dtype) / 8;
}

std::string gemm_name(const Gemm& row) {
  std::string text(name(row.dtype));
  if (row.batch > 1) text += fmt::format(" {} x", row.batch);
  text += fmt::format(" {};{};{}", row.m, row.n, row.k);
  if (row.transposed) text += " T";
  if (row.packed) text += " packed";
  if (row.bound_by_memory) text += row.cold ? ", from memory" : ", warm";
  return text;
}

std::vector<Gemm> gemm_rows() {
  std::vector<Gemm> rows;
  const auto square = [](DType dtype, Index n) {
    return Gemm{.dtype = dtype, .m = n, .n = n, .k = n};
  };
  for (const Index n : {16, 32, 64}) {
    rows.push_back(square(DType::f32, n));
    rows.back().one_thread = true;
  }
  for (const Index n : {128, 256, 512, 1024, 2048}) rows.push_back(square(DType::f32, n));
  for (const Index m : {1, 4, 16}) add_linear(rows, m);
  for (const bool transposed : {false, true})
    rows.push_back({.m = 128, .n = kLinear, .k = kLinear, .transposed = transposed});
  add_both(rows, {.m = kLinear, .n = 1, .k = kLinear});
  rows.push_back({.m = 64, .n = 3136, .k = 576});
  rows.push_back({.m = 512, .n = 512, .k = 64, .batch = 12});
  rows.push_back({.m = 512, .n = 64, .k = 512, .batch = 12});
  rows.push_back({.m = 128, .n = 128, .k = 64, .batch = 32});
  rows.push_back({.m = 128, .n = 128, .k = 64, .batch = 96});
  add_both(rows, {.m = 3, .n = 3, .k = 3, .batch = 1000000});
  add_both(rows, {.m = 8, .n = 8, .k = 8, .batch = 100000});
  rows.push_back({.m = 8, .n = 8, .k = 8, .batch = 256});  // 192 KiB: in L2
  rows.push_back(square(DType::bf16, 512));
  rows.push_back(square(DType::bf16, 2048));
  add_both(rows, {.dtype = DType::bf16, .m = 16, .n = kLinear, .k = kLinear, .packed = true});
  rows.push_back(square(DType::f16, 512));
  rows.push_back(square(DType::f64, 1024));
  return rows;
}

std::vector<Gemm> select_rows(std::span<const Gemm> rows, std::string_view filter) {
  std::vector<Gemm> chosen;
  const std::vector<std::string_view> alternatives = split_at_commas(filter);
  for (const Gemm& row : rows) {
    const std::string name = gemm_name(row);
    const auto in_name = [&](std::string_view part) { return name.find(part) != name.npos; };
    if (alternatives.empty() || std::any_of(alternatives.begin(), alternatives.end(), in_name))
      chosen.push_back(row);
  }
  if (chosen.empty())
    throw Error(
        ErrorKind::argument, "bench",
        str("--rows: wanted a part of a row's name, such as \"f32 1024\" or \"4096 T\", got \"",
            filter, "\", which is in none"));
  return chosen;
}

Case gemm_case(const Gemm& row, int threads, Limit limit) {
  Case c{.op = "matmul", .dtype = row.dtype, .shape = {row.m, row.n, row.k}};
  if (row.batch > 1) c.shape.insert(c.shape.begin(), row.batch);
  c.name = gemm_name(row);
  c.threads = threads;
  c.limit = limit;
  c.flops = row.flops();
  c.bytes = row.bytes();
  c.work = limit < Limit::read ? c.flops : c.bytes;
  c.peers_only = row.bound_by_memory && !row.cold;
  return c;
}

namespace {

/// One element of the result, and the sum of the products' sizes.
struct Sample {
  double value = 0, sizes = 0;
};

Sample sample(const Gemm& row, Index place) {
  const Index product = place / (row.m * row.n), i = place / row.n % row.m, j = place % row.n;
  const Index a = product * row.m * row.k + i * row.k;
  const Index b = product * row.k * row.n + (row.transposed ? j * row.k : j);
  const Index step = row.transposed ? 1 : row.n;
  Sample s;
  for (Index p = 0; p < row.k; ++p) {
    const double x = operand_value(1, a + p) * operand_value(2, b + p * step);
    s.value += x;
    s.sizes += std::fabs(x);
  }
  return s;
}

Index place_of(const Gemm& row, int s) { return sample_place(s, row.batch * row.m * row.n); }

}  // namespace

std::vector<double> gemm_samples(const Gemm& row) {
  std::vector<double> values;
  for (int s = 0; s < kSamples; ++s) values.push_back(sample(row, place_of(row, s)).value);
  return values;
}

std::string find_wrong_sample(const Gemm& row, std::span<const double> values) {
  if (std::ssize(values) != kSamples)
    return str("wanted ", kSamples, " elements, got ", values.size());
  const auto k = static_cast<double>(row.k);
  for (int s = 0; s < kSamples; ++s) {
    const double got = values[static_cast<std::size_t>(s)];
    const Sample wanted = sample(row, place_of(row, s));
    double most = std::max(1.0, k) * rounding(row.dtype == DType::f64 ? DType::f64 : DType::f32) *
                  wanted.sizes;
    if (row.dtype == DType::bf16 || row.dtype == DType::f16)
      most += 4 * rounding(row.dtype) * (std::fabs(wanted.value) + std::sqrt(k));
    if (!(std::fabs(got - wanted.value) <= most))
      return fmt::format("element {} is {:.6g}, wanted {:.6g}", place_of(row, s), got,
                         wanted.value);
  }
  return {};
}

}  // namespace wick::bench
