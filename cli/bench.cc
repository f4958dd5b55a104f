// SPDX-License-Identifier: Apache-2.0
#if WICK_WITH_BENCH
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "bench/report.h"
#include "bench/session.h"
#include "bench/startup.h"
#include "cli/commands.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/progress.h"

namespace wick::cli {
namespace {

struct Options {
  std::string suite, json, html, model, rows;
  std::vector<int> threads;
  bool quick = false, no_peers = false;
  double budget = 0;
};

const bench::Suite& find_suite(const std::string& name) {
  for (const bench::Suite& suite : bench::suites())
    if (suite.name == name) return suite;
  return bench::suites().front();
}

void run(const Options& options) {
  OutputFile json(options.json), html(options.html);
  const bench::Suite& suite = find_suite(options.suite);
  bench::Settings settings;
  settings.model = options.model;
  if (suite.needs_model && options.model.empty()) settings.model = find_model().string();
  Progress progress;
  // Where the JSON takes the standard output, the lines for people go to the other one.
  std::FILE* lines = json.is_stdout() || html.is_stdout() ? stderr : stdout;
  settings.quick = options.quick;
  settings.budget = options.budget;
  settings.rows = options.rows;
  settings.threads = options.threads;
  settings.peers = !options.no_peers;
  settings.print = [&](std::string_view line) {
    progress.wipe();
    fmt::print(lines, "{}\n", line);
    std::fflush(lines);
  };
  settings.progress = [&](double done, std::string_view what) { progress.show(done, what); };
  progress.show(0, "limits of this machine");
  bench::Session session(settings);
  settings.print(bench::machine_text(session.machine()));
  suite.run(session);
  progress.wipe();
  json.write(bench::to_json(session.machine(), session.rows()));
  html.write(bench::to_html(session.machine(), session.rows()));
}

}  // namespace

void add_bench(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("bench", "Measure wick on this machine");
  std::vector<std::string> names;
  std::string about;
  for (const bench::Suite& suite : bench::suites()) {
    names.emplace_back(suite.name);
    about += fmt::format("\n  {:<12} {}", suite.name, suite.about);
  }
  command->add_option("suite", options->suite, "What to measure; experiments if not given")
      ->check(CLI::IsMember(names));
  command->add_flag("--quick", options->quick,
                    "Less patience with noise: under 20 seconds; gemm: a minute");
  command
      ->add_option("--budget", options->budget,
                   "Seconds that each figure may look for quiet moments")
      ->check(CLI::PositiveNumber);
  command->add_option("--json", options->json, "Write the figures to this file (- for stdout)");
  command->add_option("--html", options->html, "Write a page with plots to this file");
  command
      ->add_option("--model", options->model,
                   "Folder with config.json and model.safetensors, for embed")
      ->type_name("DIR");
  command->add_option("--rows", options->rows,
                      "gemm: only rows with one of these in their names, e.g. \"f32 1024,4096 T\"");
  command->add_option("--threads", options->threads, "gemm: thread counts, e.g. 1,2")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  command->add_flag("--no-peers", options->no_peers, "gemm: wick alone");
  command->footer("Suites:" + about);
  command->callback([options] { run(*options); });
}

void add_first_op(CLI::App& app) {
  CLI::App* command = app.add_subcommand("first-op", "Time the first op of a process, in seconds");
  command->group("");  // `wick bench embed` calls it
  auto context = std::make_shared<bool>(false);
  command->add_flag("--context", *context, "Within with_context");
  command->callback([context] { fmt::print("{:.9f}\n", bench::first_op_seconds(*context)); });
}

}  // namespace wick::cli
#endif
