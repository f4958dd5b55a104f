// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "wick/base/error.h"

namespace {

constexpr wick::cli::AddCommand kCommands[] = {
    wick::cli::add_info,
    wick::cli::add_embed,
#if WICK_WITH_BENCH
    wick::cli::add_bench,
    wick::cli::add_first_op,
#endif
};

constexpr int kFailed = 1, kWrongUsage = 2;

int failed(const char* what) {
  std::fflush(stdout);
  std::fprintf(stderr, "wick: %s\n", what);
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CLI::App app("Tensors on CPUs.", "wick");
    app.set_version_flag("--version", "wick " WICK_VERSION);
    app.require_subcommand(1);
    for (const auto add : kCommands) add(app);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      return app.exit(e) == 0 ? 0 : kWrongUsage;
    }
    return std::fflush(stdout) == 0 ? 0 : failed("cannot write to the standard output");
  } catch (const std::bad_alloc&) {
    return failed("out of memory");
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}
