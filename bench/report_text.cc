// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "bench/report.h"

namespace wick::bench {
namespace {

std::string shape_text(const Row& row) {
  if (row.what.op != "matmul") return fmt::format("[{}]", fmt::join(row.what.shape, ", "));
  return fmt::format("{}", fmt::join(row.what.shape, "x"));
}

std::string noise(const Row& row) {
  if (!row.noisy) return {};
  if (row.kept >= 9) return "  noisy: the second core was not ours";
  return fmt::format("  noisy: {} of {} batches kept", row.kept, row.kept + row.dropped);
}

std::string share(const Row& row) {
  return fmt::format("{:.0f} % of {}", 100 * row.share_of_limit.value_or(0), name(row.what.limit));
}

}  // namespace

std::string text_line(const Row& row) {
  const std::string_view dtype = name(row.what.dtype);
  if (row.what.experiment == 4)
    return fmt::format("matmul {}: {}", dtype, row.error ? "error: " + *row.error : row.result);
  const std::string head = fmt::format("{:<6} {} {}", row.what.op, dtype, shape_text(row));
  if (row.error) return fmt::format("{}: error: {}", head, *row.error);
  return fmt::format("{}: median {:.3f} ms ({:.{}f} {})  {}{}", head, row.median_ms.value_or(0),
                     row.rate.value_or(0), row.rate.value_or(0) < 100 ? 1 : 0, unit(row.what.limit),
                     share(row), noise(row));
}

std::string engine_line(const Row& row) {
  const std::string head = fmt::format("  {:<12}", row.engine);
  if (row.error) return fmt::format("{} error: {}", head, *row.error);
  std::string text = fmt::format("{} median {:.3f} ms", head, row.median_ms.value_or(0));
  if (row.rate)
    text += fmt::format(" ({:.1f} {})  {}", *row.rate, unit(row.what.limit), share(row));
  if (!row.result.empty()) text += "  " + row.result;
  return text + noise(row);
}

namespace {

double gflops(const Row& row) {
  return row.what.flops / std::max(row.median_ms.value_or(0) / 1e3, 1e-12) / 1e9;
}

std::string own_line(const Row& row) {
  std::string text = fmt::format("{:<34}", row.what.name);
  if (row.error) return text + " error: " + *row.error;
  text += fmt::format(" {:>9.4f} ms {:>6.1f} GFLOP/s", row.median_ms.value_or(0), gflops(row));
  text += row.share_of_limit ? fmt::format("  {:>3.0f} % of {:<12}", 100 * *row.share_of_limit,
                                           name(row.what.limit))
                             : fmt::format("  {:<20}", "");
  return text;
}

}  // namespace

std::string gemm_lines(std::span<const Row> rows) {
  const Row& own = rows.front();
  std::string text = own_line(own), others, beside;
  bool noisy = false;
  for (const Row& row : rows.subspan(1)) {
    if (row.error) continue;
    if (row.engine == own.best_peer) {
      text += fmt::format("  {:.2f} x {} {:.1f}", own.ratio.value_or(0), row.engine, gflops(row));
      noisy = row.noisy;
    } else if (row.engine.starts_with("wick-matmul")) {
      beside += fmt::format("  {} {:+.0f} ns", row.engine.substr(5),
                            (row.median_ms.value_or(0) - own.median_ms.value_or(0)) * 1e6);
    } else {
      others += fmt::format("  {} {:.1f}", row.engine, gflops(row));
    }
  }
  text += noise(own);
  if (noisy && !own.noisy) text += "  noisy: the peer's batches";
  if (!beside.empty()) text += "\n    Tensor API:" + beside;
  if (!others.empty()) text += "\n   " + others;
  return text;
}

std::string context_line(const Row& plain, const Row& context) {
  const auto part = [](const char* what, const Row& row) {
    if (row.error) return fmt::format("{} error: {}", what, *row.error);
    return fmt::format("{} median {:.4f} ms ({})", what, row.median_ms.value_or(0), share(row));
  };
  return fmt::format("n={}: {}, {}{}", plain.what.shape.front(), part("plain", plain),
                     part("with_context", context), noise(plain.noisy ? plain : context));
}

std::string one_line(const Tensor& x) {
  if (x.rank() == 0) return fmt::format("{}", x.item<f64>());
  std::string text = "[";
  for (Index i = 0; i < x.size(0); ++i) text += (i > 0 ? ", " : "") + one_line(x.select(0, i));
  return text + "]";
}

std::string machine_text(const Machine& m) {
  const auto limits = [](int threads, const Machine::Limits& l) {
    return fmt::format(
        "limits, {} thread{}: FMA f32 {:.0f}, f64 {:.0f}, f16 {:.0f}, bf16 {:.0f} GFLOP/s; copy "
        "{:.1f}, read {:.1f} GB/s",
        threads, threads == 1 ? "" : "s", l.fma_f32, l.fma_f64, l.fma_f16, l.fma_bf16, l.copy,
        l.read);
  };
  std::string text = fmt::format("{}, {} core{}, {}\n{}", m.cpu, m.cores, m.cores == 1 ? "" : "s",
                                 m.isa, limits(1, m.one));
  if (m.threads > 1) text += "\n" + limits(m.threads, m.all);
  if (!m.two_threads_scale)
    text += "\nnoisy: two threads reach less than 1.7 times the FMA rate of one";
  return text;
}

}  // namespace wick::bench
