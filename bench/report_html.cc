// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "bench/report.h"
#include "bench/roofline.h"

namespace wick::bench {
namespace {

constexpr std::string_view kStyle = R"(
:root { --ink: #1d2327; --soft: #667078; --line: #dfe3e6; --page: #f6f7f8; --card: #fff;
  --e0: #d9622b; --e1: #3b78b5; --e2: #2d9a8f; --e3: #8a63b8; --e4: #b0892a; --e5: #17407a;
  --e6: #5f9e33; --e7: #c2528b; --e8: #7a4a2b; --e9: #c0392b; --track: #eceff1; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaec; --soft: #9aa4ab; --line: #33393e;
  --page: #15181a; --card: #1d2124; --track: #2a2f33; --e5: #6d9fe0; --e8: #c08a62; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { margin: 0; font-size: 28px; letter-spacing: -.01em; }
h2 { margin: 0 0 14px; font-size: 17px; }
.sub { color: var(--soft); margin: 4px 0 24px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 20px 22px; margin: 0 0 18px; }
.plot { display: grid; grid-template-columns: minmax(0, 1fr) 250px; gap: 20px; }
.plot ol, .plot p { margin: 0; padding-left: 22px; font-size: 13px; color: var(--soft); }
.plot b, td b { color: var(--ink); font-weight: 600; font-variant-numeric: tabular-nums; }
@media (max-width: 760px) { .plot { grid-template-columns: 1fr; } }
svg { width: 100%; height: auto; display: block; overflow: visible; }
svg text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink); }
.tick, .note { fill: var(--soft); font-size: 11px; } .label { fill: var(--soft); }
.mid { text-anchor: middle; } .end { text-anchor: end; }
.number { fill: #fff; font-size: 10px; font-weight: 700; }
.grid { stroke: var(--line); } .roof { stroke: var(--ink); stroke-width: 1.6; fill: none; }
.thin { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 4 4; }
.e0 { fill: var(--e0); } .e1 { fill: var(--e1); } .e2 { fill: var(--e2); } .e3 { fill: var(--e3); }
.e4 { fill: var(--e4); } .e5 { fill: var(--e5); } .e6 { fill: var(--e6); } .e7 { fill: var(--e7); }
.e8 { fill: var(--e8); } .e9 { fill: var(--e9); } .edge { stroke: var(--card); stroke-width: 1; }
.track { fill: var(--track); } .noisy { opacity: .4; } .bad { fill: var(--soft); }
.key { font-size: 13px; color: var(--soft); margin: 10px 0 0; }
.key i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin: 0 5px 0 12px; }
.key i:first-child { margin-left: 0; }
table { border-collapse: collapse; font-size: 14px; } td, th { padding: 3px 22px 3px 0; text-align: right; }
th { color: var(--soft); font-weight: 500; } td:first-child, th:first-child { text-align: left; }
footer { color: var(--soft); font-size: 13px; }
)";

constexpr std::string_view kHeadings[] = {"Results",
                                          "1. Products and elementwise ops",
                                          "2. The same for each engine",
                                          "3. Thread counts",
                                          "4. A 2×2 product of each dtype",
                                          "5. Plain calls and calls within with_context"};

std::string label(const Row& row) {
  std::string text =
      fmt::format("{} {} {}", row.what.op, name(row.what.dtype), fmt::join(row.what.shape, "×"));
  if (row.what.experiment == 2 || row.what.experiment == 0) text += ", " + row.engine;
  if (row.what.experiment == 3 || row.what.experiment == 0)
    text += fmt::format(", {} thread{}", row.what.threads, row.what.threads == 1 ? "" : "s");
  if (row.what.experiment == 5) text += row.context ? ", with_context" : ", plain";
  return text;
}

/// One bar for each row: its share of the limit, its time and its rate.
std::string bars(std::span<const Row* const> rows) {
  constexpr double kStep = 26, kBarLeft = 320, kBarWidth = 300, kWidth = 900;
  std::string svg = fmt::format(R"(<svg viewBox="0 0 {} {:.0f}" role="img">)", kWidth,
                                kStep * static_cast<double>(rows.size()));
  double y = 0;
  for (const Row* row : rows) {
    svg += fmt::format(R"(<text x="0" y="{:.0f}">{}</text>)", y + 17, escape(label(*row)));
    if (row->error) {
      svg += fmt::format(R"(<text x="{}" y="{:.0f}" class="bad">{}</text>)", kBarLeft, y + 17,
                         escape(*row->error));
    } else {
      const double share = row->share_of_limit.value_or(0);
      svg += fmt::format(
          R"(<rect x="{0}" y="{1:.0f}" width="{2}" height="14" rx="4" class="track"/>)"
          R"(<rect x="{0}" y="{1:.0f}" width="{3:.1f}" height="14" rx="4" class="{4}{5}"/>)",
          kBarLeft, y + 6, kBarWidth, std::clamp(share * kBarWidth, 3.0, kBarWidth),
          engine_class(row->engine), row->noisy ? " noisy" : "");
      svg += fmt::format(R"(<text x="{}" y="{:.0f}">{:.0f} %</text>)", kBarLeft + kBarWidth + 10,
                         y + 17, 100 * share);
      svg += fmt::format(R"(<text x="{}" y="{:.0f}" class="end">{:.4g} ms</text>)",
                         kBarLeft + kBarWidth + 130, y + 17, row->median_ms.value_or(0));
      if (row->rate)
        svg += fmt::format(R"(<text x="{}" y="{:.0f}" class="end">{:.4g} {}</text>)", kWidth,
                           y + 17, *row->rate, unit(row->what.limit));
    }
    y += kStep;
  }
  return svg + "</svg>";
}

std::string results(std::span<const Row* const> rows) {
  std::string html = "<table>";
  for (const Row* row : rows)
    html += fmt::format("<tr><td>{}</td><td style=\"text-align:left\">{}</td></tr>",
                        name(row->what.dtype),
                        row->error ? escape(*row->error) : "<b>" + escape(row->result) + "</b>");
  return html + "</table>";
}

std::string limits_table(const Machine& m) {
  std::string html =
      "<table><tr><th></th><th>f32</th><th>f64</th><th>f16</th><th>bf16</th><th>copy</th>"
      "<th>read</th></tr>";
  const auto line = [&](std::string_view what, const Machine::Limits& l) {
    html += fmt::format("<tr><td>{}</td>", what);
    for (const double v : {l.fma_f32, l.fma_f64, l.fma_f16, l.fma_bf16})
      html += fmt::format("<td><b>{:.0f}</b> GFLOP/s</td>", v);
    html +=
        fmt::format("<td><b>{:.1f}</b> GB/s</td><td><b>{:.1f}</b> GB/s</td></tr>", l.copy, l.read);
  };
  line("1 thread", m.one);
  if (m.threads > 1) line(fmt::format("{} threads", m.threads), m.all);
  return html + "</table>";
}

std::string engine_key(std::span<const Row> rows) {
  std::string html = "<p class=\"key\">";
  std::vector<std::string> seen;
  for (const Row& row : rows) {
    // Variants of a library share its colour.
    const std::string library = row.engine.substr(0, row.engine.find('-'));
    if (std::find(seen.begin(), seen.end(), library) != seen.end()) continue;
    seen.push_back(library);
    html += fmt::format("<i style=\"background:var(--{})\"></i>{}", engine_class(library),
                        escape(library));
  }
  return html + "</p>";
}

}  // namespace

std::string to_html(const Machine& machine, std::span<const Row> rows) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>wick bench</title>"
      "<style>{}</style></head><body><main><h1>wick bench</h1>"
      "<p class=\"sub\">{} · {} core{} · {} · {} thread{}{}</p>",
      kStyle, escape(machine.cpu), machine.cores, machine.cores == 1 ? "" : "s",
      escape(machine.isa), machine.threads, machine.threads == 1 ? "" : "s",
      machine.two_threads_scale ? "" : " · the second core was busy: not to be judged");
  html +=
      "<section><h2>What this machine can do at most, and what was reached</h2>"
      "<div class=\"plot\"><div>" +
      roofline_svg(machine, rows) + "</div><div>" + roofline_key(machine, rows) + "</div></div>" +
      engine_key(rows) + "</section>";
  html += "<section><h2>Limits</h2>" + limits_table(machine) + "</section>";
  for (int experiment = 0; experiment <= 5; ++experiment) {
    std::vector<const Row*> part;
    for (const Row& row : rows)
      if (row.what.experiment == experiment && row.what.name.empty()) part.push_back(&row);
    if (part.empty()) continue;
    html += fmt::format("<section><h2>{}</h2>{}</section>", kHeadings[experiment],
                        experiment == 4 ? results(part) : bars(part));
  }
  std::vector<const Row*> named;
  for (const Row& row : rows)
    if (!row.what.name.empty()) named.push_back(&row);
  if (!named.empty())
    html +=
        "<section><h2>Beside other libraries</h2><p class=\"key\">A whole bar is the limit, or "
        "the fastest where warm data knows none; marks are other libraries, by name under the "
        "pointer.</p>" +
        comparison_bars(named) + "</section>";
  return html +
         "<footer>Bars are shares of the limit measured in the same run: the FMA peak of the type, "
         "or the copy bandwidth. Medians of batches that lie between two undisturbed runs of the "
         "limit loop; pale bars had too few of those.</footer></main></body></html>\n";
}

}  // namespace wick::bench
