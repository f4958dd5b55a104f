// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "bench/report.h"
#include "bench/roofline.h"

// Rows that several engines did, as a bar for wick with a mark for each of the others on it.

namespace wick::bench {
namespace {

constexpr double kStep = 26, kBarLeft = 275, kBarWidth = 300, kWidth = 900;

double gflops(const Row& row) {
  return row.median_ms && *row.median_ms > 0 ? row.what.flops / *row.median_ms / 1e6 : 0;
}

/// What a whole bar stands for, in GFLOP/s: the limit, or the fastest engine where there is none.
double whole(std::span<const Row* const> rows) {
  const Row& own = *rows.front();
  if (own.share_of_limit && *own.share_of_limit > 0) return gflops(own) / *own.share_of_limit;
  double most = 0;
  for (const Row* row : rows) most = std::max(most, gflops(*row));
  return most;
}

std::string figures(const Row& own, double y) {
  std::string svg;
  const auto text = [&](double x, std::string_view what) {
    svg += fmt::format(R"(<text x="{:.0f}" y="{:.0f}" class="end">{}</text>)", x, y, what);
  };
  if (own.share_of_limit)
    text(kBarLeft + kBarWidth + 45, fmt::format("{:.0f} %", 100 * *own.share_of_limit));
  text(kBarLeft + kBarWidth + 150, fmt::format("{:.4g} GFLOP/s", gflops(own)));
  if (own.ratio) text(kWidth, fmt::format("{:.2f} × {}", *own.ratio, escape(own.best_peer)));
  return svg;
}

std::string group(std::span<const Row* const> rows, double y) {
  const Row& own = *rows.front();
  std::string svg =
      fmt::format(R"(<text x="0" y="{:.0f}">{}</text>)", y + 17, escape(own.what.name));
  const double most = std::max(whole(rows), 1e-9);
  const auto place = [&](const Row& row) {
    return kBarWidth * std::clamp(gflops(row) / most, 0.0, 1.0);
  };
  svg +=
      fmt::format(R"(<rect x="{0}" y="{1:.0f}" width="{2}" height="14" rx="4" class="track"/>)"
                  R"(<rect x="{0}" y="{1:.0f}" width="{3:.1f}" height="14" rx="4" class="e0{4}"/>)",
                  kBarLeft, y + 6, kBarWidth, std::max(place(own), 3.0), own.noisy ? " noisy" : "");
  for (const Row* row : rows.subspan(1))
    svg += fmt::format(
        R"(<rect x="{:.1f}" y="{:.0f}" width="4" height="20" rx="2" class="{}{} edge"><title>{} )"
        "{:.4g} GFLOP/s</title></rect>",
        kBarLeft + place(*row) - 2, y + 3, engine_class(row->engine), row->noisy ? " noisy" : "",
        escape(row->engine), gflops(*row));
  return svg + figures(own, y + 17);
}

}  // namespace

std::string comparison_bars(std::span<const Row* const> rows) {
  std::string svg;
  double y = 0;
  int threads = 0;
  for (std::size_t i = 0; i < rows.size();) {
    std::vector<const Row*> same;
    const std::size_t first = i;
    while (i < rows.size() && rows[i]->what.name == rows[first]->what.name &&
           rows[i]->what.threads == rows[first]->what.threads) {
      const Row& row = *rows[i++];
      if (row.median_ms && !row.engine.starts_with("wick-matmul")) same.push_back(&row);
    }
    if (same.empty()) continue;
    if (same.front()->what.threads != threads) {
      threads = same.front()->what.threads;
      svg += fmt::format(R"(<text x="0" y="{:.0f}" class="label">{} thread{}</text>)", y + 19,
                         threads, threads == 1 ? "" : "s");
      y += kStep;
    }
    svg += group(same, y);
    y += kStep;
  }
  return fmt::format(R"(<svg viewBox="0 0 {} {:.0f}" role="img">)", kWidth, y) + svg + "</svg>";
}

}  // namespace wick::bench
