// SPDX-License-Identifier: Apache-2.0
#include "bench/startup.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "bench/process.h"
#include "bench/team.h"
#include "wick/base/error.h"
#include "wick/parallel/executor.h"
#include "wick/tensor.h"

namespace wick::bench {
namespace {

constexpr double kMostSeconds = 60;

/// This program.
std::string program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

/// The first line that this program prints when it is started so, on all CPUs.
std::string first_line(const std::vector<std::string>& arguments, const std::vector<int>& cpus) {
  Process process(arguments, {.cpus = cpus});
  auto line = process.read_line(kMostSeconds);
  if (!line) throw Error(ErrorKind::io, "bench", str(arguments[0], " ", arguments[1], ": failed"));
  return *std::move(line);
}

}  // namespace

double first_op_seconds(bool context) {
  const double start = steady_seconds();
  const auto product = [] {
    const Tensor a = Tensor::ones({256, 256});
    return a.matmul(a);
  };
  if (context)
    with_context(product);
  else
    product();
  return steady_seconds() - start;
}

Candidate startup_candidate(const std::string& model) {
  const std::vector<std::string> arguments{program(), "embed", "--model", model,
                                           "A sentence of ordinary length, as people write them."};
  return {.engine = "wick",
          .call = [arguments, cpus = usable_cpu_list()] { (void)first_line(arguments, cpus); }};
}

Candidate first_op_candidate(bool context) {
  std::vector<std::string> arguments{program(), "first-op"};
  if (context) arguments.emplace_back("--context");
  return {.engine = "wick",
          .context = context,
          .timed = [arguments, cpus = usable_cpu_list()](int calls) {
            double seconds = 0;
            for (int i = 0; i < calls; ++i)
              seconds += std::strtod(first_line(arguments, cpus).c_str(), nullptr);
            return seconds;
          }};
}

}  // namespace wick::bench
