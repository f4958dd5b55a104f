// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace wick::testing {

struct CliResult {
  int code = -1;  ///< -1: ended by a signal
  std::string out;
};

/// Runs the program through the shell; `before` may set variables, `after` may redirect.
inline CliResult run_cli(const std::string& arguments, const std::string& before = "",
                         const std::string& after = "2>/dev/null") {
  CliResult result;
  const std::string line = before + " " WICK_CLI " " + arguments + " " + after;
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return result;
  char block[4096];
  while (const std::size_t n = std::fread(block, 1, sizeof block, pipe))
    result.out.append(block, n);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

}  // namespace wick::testing
