// SPDX-License-Identifier: Apache-2.0
#include "bench/roofline.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace wick::bench {
namespace {

constexpr double kWidth = 640, kHeight = 400, kLeft = 56, kRight = 16, kTop = 16, kBottom = 44;

/// A point of the plot.
struct Point {
  double intensity, gflops;
};

Point point(const Row& row) {
  const double seconds = row.median_ms.value_or(0) / 1e3;
  return {row.what.flops / row.what.bytes, seconds > 0 ? row.what.flops / seconds / 1e9 : 0};
}

bool drawable(const Row& row) {
  return row.median_ms && row.what.bytes > 0 && point(row).gflops > 0;
}
/// wick's figures against a limit. Of a list with names, those of all threads.
bool numbered(const Row& row, int threads) {
  if (row.what.experiment > 1 || row.engine != "wick" || !drawable(row)) return false;
  return row.what.name.empty() || (!row.what.peers_only && row.what.threads == threads);
}

/// Both axes: powers of two from left to right, powers of ten upwards.
class Axes {
 public:
  Axes(const Machine& m, std::span<const Row> rows) {
    const double peak = std::max({m.all.fma_f32, m.all.fma_f64, m.all.fma_bf16, 1.0});
    double low = peak / 100, right = 64, left = 0.125;
    for (const Row& row : rows) {
      if (!numbered(row, m.threads)) continue;
      const Point p = point(row);
      low = std::min(low, p.gflops);
      left = std::min(left, p.intensity);
      right = std::max(right, p.intensity);
    }
    x0_ = std::floor(std::log2(left)) - 1;
    x1_ = std::ceil(std::log2(right)) + 1;
    y0_ = std::floor(std::log10(low / 1.2));
    y1_ = std::log10(peak * 1.6);
  }
  double x(double intensity) const {
    return kLeft + (std::log2(intensity) - x0_) / (x1_ - x0_) * (kWidth - kLeft - kRight);
  }
  double y(double gflops) const {
    return kHeight - kBottom -
           (std::log10(gflops) - y0_) / (y1_ - y0_) * (kHeight - kTop - kBottom);
  }
  double left() const { return std::exp2(x0_); }
  double right() const { return std::exp2(x1_); }
  double bottom() const { return std::pow(10, y0_); }
  double top() const { return std::pow(10, y1_); }
  std::string grid() const;

 private:
  double x0_, x1_, y0_, y1_;
};

std::string line(double x0, double y0, double x1, double y1, std::string_view style) {
  return fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>)", x0,
                     y0, x1, y1, style);
}
std::string text(double x, double y, std::string_view style, std::string_view what) {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" class="{}">{}</text>)", x, y, style,
                     escape(what));
}

std::string Axes::grid() const {
  std::string svg;
  for (double p = std::ceil(x0_); p <= x1_; p += 2) {
    const double v = std::exp2(p);
    svg += line(x(v), kTop, x(v), kHeight - kBottom, "grid");
    svg += text(x(v), kHeight - kBottom + 16, "tick mid",
                v < 1 ? fmt::format("1/{:.0f}", 1 / v) : fmt::format("{:.0f}", v));
  }
  for (double p = y0_; p <= y1_; ++p) {
    const double v = std::pow(10, p);
    svg += line(kLeft, y(v), kWidth - kRight, y(v), "grid");
    svg += text(kLeft - 6, y(v) + 4, "tick end", fmt::format("{:g}", v));
  }
  svg += text((kLeft + kWidth - kRight) / 2, kHeight - 8, "label mid",
              "operations for each byte moved");
  return svg + fmt::format(R"svg(<text transform="translate(14 {:.0f}) rotate(-90)" )svg"
                           R"(class="label mid">GFLOP/s</text>)",
                           (kTop + kHeight - kBottom) / 2);
}

/// The slope of the copy bandwidth, then the flat peak of each type.
std::string roofs(const Axes& axes, const Machine::Limits& limits, bool main) {
  const std::string style = main ? "roof" : "roof thin";
  struct Roof {
    double peak;
    std::string names;
  };
  std::vector<Roof> peaks;
  for (const auto& [peak, type] : {std::pair{limits.fma_f32, "f32"},
                                   {limits.fma_f16, "f16"},
                                   {limits.fma_bf16, "bf16"},
                                   {limits.fma_f64, "f64"}}) {
    auto same = std::find_if(peaks.begin(), peaks.end(), [&, p = peak](const Roof& r) {
      return std::fabs(r.peak - p) < 0.04 * p;
    });
    if (same != peaks.end())
      same->names += std::string(" ") + type;
    else if (peak > 0)
      peaks.push_back({peak, type});
  }
  double highest = 0;
  for (const Roof& r : peaks) highest = std::max(highest, r.peak);
  if (highest <= 0 || limits.copy <= 0) return {};
  std::string svg;
  for (const Roof& r : peaks) {
    svg += line(axes.x(std::max(r.peak / limits.copy, axes.left())), axes.y(r.peak),
                axes.x(axes.right()), axes.y(r.peak), style);
    if (main)  // at the ridge, where no points are
      svg += text(axes.x(std::max(r.peak / limits.copy, axes.left())) + 8, axes.y(r.peak) + 13,
                  "note", fmt::format("{} {:.0f}", r.names, r.peak));
  }
  const double from = std::max(axes.left(), axes.bottom() / limits.copy);
  svg += line(axes.x(from), axes.y(from * limits.copy), axes.x(highest / limits.copy),
              axes.y(highest), style);
  if (!main) return svg;
  const double at = std::sqrt(std::max(from, 0.5) * highest / limits.copy);
  const double angle =
      std::atan2(axes.y(limits.copy) - axes.y(2 * limits.copy), axes.x(2) - axes.x(1)) * 180 /
      3.14159265;
  return svg + fmt::format(R"svg(<text transform="translate({:.1f} {:.1f}) rotate({:.1f})" )svg"
                           R"(class="note mid">copy {:.1f} GB/s</text>)",
                           axes.x(at) - 5, axes.y(at * limits.copy) - 6, -angle, limits.copy);
}

}  // namespace

std::string escape(std::string_view what) {
  std::string safe;
  for (const char c : what) {
    switch (c) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string engine_class(std::string_view engine) {
  constexpr std::string_view kFamilies[] = {"wick",   "openblas", "mkl",   "accelerate", "blis",
                                            "onednn", "libxsmm",  "eigen", "candle"};
  const std::string_view family = engine.substr(0, engine.find('-'));
  if (family == "pytorch") return "e9";
  if (family == "onnxruntime") return "e2";
  const auto* at = std::find(std::begin(kFamilies), std::end(kFamilies), family);
  return fmt::format("e{}", at == std::end(kFamilies) ? 3 : at - std::begin(kFamilies));
}

std::string roofline_svg(const Machine& machine, std::span<const Row> rows) {
  const Axes axes(machine, rows);
  std::string svg = fmt::format(
      R"(<svg viewBox="0 0 {} {}" role="img" aria-label="Roofline plot">)", kWidth, kHeight);
  svg += axes.grid();
  if (machine.threads > 1) svg += roofs(axes, machine.one, false);
  svg += roofs(axes, machine.all, true);
  for (const Row& row : rows) {
    const bool compared = row.what.experiment == 0 || row.what.experiment == 2;
    if (!compared || row.engine.starts_with("wick") || !drawable(row)) continue;
    if (!row.what.name.empty() && (row.what.peers_only || row.what.threads != machine.threads))
      continue;
    const Point p = point(row);
    svg += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="4" class="{}"><title>{} {:.4g} )"
                       "GFLOP/s</title></circle>",
                       axes.x(p.intensity), axes.y(p.gflops), engine_class(row.engine),
                       escape(row.engine), p.gflops);
  }
  int number = 0;
  std::vector<std::pair<double, double>> taken;  // points that meet step aside
  for (const Row& row : rows) {
    if (!numbered(row, machine.threads)) continue;
    const Point p = point(row);
    double x = axes.x(p.intensity);
    const double y = axes.y(p.gflops);
    const auto meets = [&](const auto& t) { return std::hypot(t.first - x, t.second - y) < 17; };
    while (std::any_of(taken.begin(), taken.end(), meets)) x += 3;
    taken.emplace_back(x, y);
    svg += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="8.5" class="{}"/>)", x, y,
                       engine_class(row.engine));
    svg += text(x, y + 3.6, "number mid", fmt::format("{}", ++number));
  }
  return svg + "</svg>";
}

std::string roofline_key(const Machine& machine, std::span<const Row> rows) {
  std::string html = "<p>GFLOP/s</p><ol>";
  for (const Row& row : rows) {
    if (!numbered(row, machine.threads)) continue;
    const std::string what = row.what.name.empty()
                                 ? fmt::format("{} {} {}", row.what.op, name(row.what.dtype),
                                               fmt::join(row.what.shape, "×"))
                                 : row.what.name;
    html += fmt::format("<li>{} <b>{:.4g}</b></li>", escape(what), point(row).gflops);
  }
  return html + "</ol>";
}

}  // namespace wick::bench
