// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/topology.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>

#include "wick/base/made_once.h"
#include "wick/parallel/fork.h"
#include "wick/parallel/topology_sources.h"

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace wick {
namespace {

/// The CPUs the calling thread may use: threads that it starts inherit them. None where unknown.
std::optional<std::vector<int>> own_affinity() {
#if defined(__linux__)
  // The kernel refuses a set that is smaller than its own.
  for (int bits = 1024; bits <= 1 << 20; bits *= 8) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(bits));
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(bits));
    CPU_ZERO_S(bytes, set);
    const bool read = sched_getaffinity(0, bytes, set) == 0;
    std::vector<int> cpus;
    for (int cpu = 0; read && cpu < bits; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set)) cpus.push_back(cpu);
    CPU_FREE(set);
    if (read) return cpus;
  }
#endif
  return std::nullopt;
}

std::vector<Core> cores_from_sysctl() {
  std::vector<Core> cores;
#if defined(__APPLE__)
  const auto add = [&](const char* name, int kind) {
    int n = 0;
    std::size_t size = sizeof n;
    if (sysctlbyname(name, &n, &size, nullptr, 0) != 0) return false;
    for (int i = 0; i < n; ++i) cores.push_back({{static_cast<int>(cores.size())}, kind, 1 - kind});
    return true;
  };
  if (!add("hw.perflevel0.physicalcpu", 1)) {
    add("hw.physicalcpu", 0);
    for (Core& core : cores) core.cluster = 0;
  } else {
    add("hw.perflevel1.physicalcpu", 0);
  }
#endif
  return cores;
}

/// Only a count is known: every CPU counts as a core.
std::vector<Core> cores_from_count(const std::optional<std::vector<int>>& affinity) {
  std::vector<Core> cores;
  if (affinity) {
    for (const int cpu : *affinity) cores.push_back({{cpu}, 0, 0});
  } else {
    const int n = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
    for (int cpu = 0; cpu < n; ++cpu) cores.push_back({{cpu}, 0, 0});
  }
  return cores;
}

/// Drops the CPUs that are not allowed and cores that are left without one.
void restrict_to(std::vector<Core>& cores, const std::vector<int>& allowed) {
  for (Core& core : cores)
    std::erase_if(core.cpus, [&](int cpu) {
      return std::find(allowed.begin(), allowed.end(), cpu) == allowed.end();
    });
  std::erase_if(cores, [](const Core& core) { return core.cpus.empty(); });
}

}  // namespace

std::vector<Core> Topology::compute_cores() const {
  int kind = 0;
  for (const Core& core : cores) kind = std::max(kind, core.kind);
  const auto faster = [&] {
    return std::count_if(cores.begin(), cores.end(), [&](const Core& c) { return c.kind >= kind; });
  };
  while (kind > 0 && faster() < 2) --kind;
  std::vector<Core> chosen;
  for (const Core& core : cores)
    if (core.kind >= kind) chosen.push_back(core);
  return chosen;
}

int Topology::default_threads() const {
  double n = static_cast<double>(compute_cores().size());
  if (quota) n = std::min(n, std::ceil(*quota));
  return static_cast<int>(std::max(n, 1.0));
}

std::vector<int> Topology::clusters() const {
  std::map<int, int> sizes;
  for (const Core& core : compute_cores()) ++sizes[core.cluster];
  std::vector<int> result;
  for (const auto& [cluster, size] : sizes) result.push_back(size);
  return result;
}

namespace {

/// On Linux hwloc reads /sys, and complains on the standard error where there is none.
bool hwloc_can_look() {
#if defined(__linux__)
  std::error_code none;
  return std::filesystem::exists("/sys/devices/system/cpu", none);
#else
  return true;
#endif
}

}  // namespace

Topology read_topology(const TopologySource& source) {
  const bool described = !source.xml.empty() || !source.synthetic.empty();
  const bool here = !described && source.root.empty();
  const auto affinity = source.affinity || !here ? source.affinity : own_affinity();
  Topology result;
  const auto ask = [&](const char* name, auto cores_from) {
    if (!result.cores.empty()) return;
    result.cores = cores_from();
    result.source = name;
    if (affinity) restrict_to(result.cores, *affinity);
  };
  if (source.use_hwloc && source.root.empty() && (described || hwloc_can_look()))
    ask("hwloc", [&] { return cores_from_hwloc(source); });
  if (!described) ask("sysfs", [&] { return cores_from_sysfs(source.root); });
  if (here) ask("sysctl", cores_from_sysctl);
  ask("cpu count", [&] { return cores_from_count(affinity); });
  result.cpus = 0;
  for (const Core& core : result.cores) result.cpus += static_cast<int>(core.cpus.size());
  if (!described) result.quota = cpu_quota(source.root);
  return result;
}

const Topology& topology() {
  static constinit MadeOnce<const Topology> known;
  return known.get([] {
    const NoForkScope no_fork;
    return std::make_unique<const Topology>(read_topology());
  });
}

}  // namespace wick
