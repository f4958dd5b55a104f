// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace wick::cli {

/// A command adds itself to the program: its name, its options and, as the callback, what it does.
/// Callbacks throw wick::Error for what failed (exit code 1) and CLI::ValidationError for wrong
/// usage (exit code 2).
using AddCommand = void (*)(CLI::App& app);

// One for each file of this folder; main.cc lists them.
void add_bench(CLI::App& app);
void add_embed(CLI::App& app);
void add_first_op(CLI::App& app);
void add_info(CLI::App& app);

}  // namespace wick::cli
