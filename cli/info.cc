// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "wick/base/cpu.h"
#include "wick/blas.h"
#include "wick/core/isa.h"
#include "wick/core/memory.h"
#include "wick/parallel/executor.h"
#include "wick/parallel/topology.h"

namespace wick::cli {
namespace {

using Json = nlohmann::ordered_json;

Json gather() {
  const CpuInfo cpu = cpu_info();
  const Topology& machine = topology();
  const MemoryStats memory = memory_stats();
  Json caches = Json::array();
  for (const CacheLevel& c : cpu.caches)
    caches.push_back({{"level", c.level}, {"bytes", c.bytes}, {"instances", c.instances}});
  Json engines = Json::array();
  for (const BlasInfo& b : blas_engines())
    engines.push_back({{"engine", name(b.engine)},
                       {"built", b.built},
                       {"found", b.found},
                       {"path", b.path},
                       {"version", b.version},
                       {"note", b.note}});
  return {
      {"version", WICK_VERSION},
      {"cpu", cpu.name},
      {"isa",
       {{"chosen", isa_chosen()}, {"available", isa_available()}, {"compiled", isa_compiled()}}},
      {"cores", machine.cores.size()},
      {"performance_cores", machine.compute_cores().size()},
      {"cpus", machine.cpus},
      {"clusters", machine.clusters()},
      {"topology_source", machine.source},
      {"caches", caches},
      {"quota", machine.quota ? Json(*machine.quota) : Json()},
      {"threads", {{"default", num_threads()}, {"barrier", num_barrier_threads()}}},
      {"blas", {{"chosen", name(blas())}, {"engines", engines}}},
      {"memory",
       {{"limit", memory.limit},
        {"in_use", memory.in_use},
        {"peak", memory.peak},
        {"cached", memory.cached},
        {"cache_limit", memory.cache_limit},
        {"cache_hits", memory.cache_hits},
        {"cache_misses", memory.cache_misses}}}};
}

std::string size_text(const Json& bytes) {
  auto value = bytes.get<double>();
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

std::string list_text(const Json& names) {
  std::string text;
  for (const auto& n : names) text += (text.empty() ? "" : ", ") + n.get<std::string>();
  return text.empty() ? "none" : text;
}

void print_line(std::string_view what, std::string_view value) {
  fmt::print("{:<14} {}\n", what, value);
}

void print(const Json& j) {
  print_line("wick", j["version"].get<std::string>());
  print_line("cpu", j["cpu"].get<std::string>());
  print_line("isa",
             fmt::format("{} (available: {}; compiled: {})", j["isa"]["chosen"].get<std::string>(),
                         list_text(j["isa"]["available"]), list_text(j["isa"]["compiled"])));
  print_line("cores", fmt::format("{} ({} to compute on, {} hardware threads; told by {})",
                                  j["cores"].get<int>(), j["performance_cores"].get<int>(),
                                  j["cpus"].get<int>(), j["topology_source"].get<std::string>()));
  print_line("clusters", fmt::format("{} of {} cores", j["clusters"].size(),
                                     fmt::join(j["clusters"].get<std::vector<int>>(), ", ")));
  std::string caches;
  for (const auto& c : j["caches"])
    caches += fmt::format("{}L{} {} x {}", caches.empty() ? "" : ", ", c["level"].get<int>(),
                          size_text(c["bytes"]), c["instances"].get<int>());
  print_line("caches", caches.empty() ? "unknown" : caches);
  print_line("cpu quota",
             j["quota"].is_null() ? "none" : fmt::format("{:g} CPUs", j["quota"].get<double>()));
  print_line("threads", fmt::format("{} (barrier pool: {})", j["threads"]["default"].get<int>(),
                                    j["threads"]["barrier"].get<int>()));
  std::string engines;
  for (const auto& b : j["blas"]["engines"])
    if (b["found"].get<bool>())
      engines += (engines.empty() ? "" : ", ") + b["engine"].get<std::string>();
  print_line("matmul engine",
             fmt::format("{} (found: {})", j["blas"]["chosen"].get<std::string>(), engines));
  const auto& m = j["memory"];
  print_line("memory", fmt::format("limit {}, in use {}, peak {}", size_text(m["limit"]),
                                   size_text(m["in_use"]), size_text(m["peak"])));
  print_line("memory cache",
             fmt::format("{} of {}; {} hits, {} misses", size_text(m["cached"]),
                         size_text(m["cache_limit"]), m["cache_hits"].get<std::uint64_t>(),
                         m["cache_misses"].get<std::uint64_t>()));
}

}  // namespace

void add_info(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("info", "What wick sees of this machine and will use");
  command->add_flag("--json", *json, "Print it as JSON");
  command->callback([json] {
    const Json info = gather();
    if (*json)
      fmt::print("{}\n", info.dump(2));
    else
      print(info);
  });
}

}  // namespace wick::cli
