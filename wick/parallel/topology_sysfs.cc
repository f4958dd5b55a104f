// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>

#include "wick/base/str.h"
#include "wick/parallel/topology_sources.h"

namespace wick {
namespace {

constexpr int kMaxCpus = 1 << 16;

int read_number(const std::string& path, int otherwise) {
  const auto text = read_small_file(path);
  int value = 0;
  if (!text) return otherwise;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  return error == std::errc() && end != text->data() ? value : otherwise;
}

/// The first CPU of a list, which names the group that the list is; `otherwise` if there is none.
int first_of(const std::string& path, int otherwise) {
  const auto text = read_small_file(path);
  const std::vector<int> cpus = text ? parse_cpu_list(*text) : std::vector<int>{};
  return cpus.empty() ? otherwise : *std::min_element(cpus.begin(), cpus.end());
}

/// Names the last-level cache of a CPU by its first CPU; -1 where no cache is listed.
int last_cache(const std::string& cpu) {
  int group = -1;
  int level = 0;
  for (int i = 0;; ++i) {
    const std::string cache = str(cpu, "/cache/index", i);
    const int found = read_number(cache + "/level", 0);
    if (found == 0) return group;
    if (found > level && read_small_file(cache + "/type") != "Instruction") {
      level = found;
      group = first_of(cache + "/shared_cpu_list", -1);
    }
  }
}

/// Numbers the kinds of core from their speeds, 0 the slowest. Speeds within a tenth are one kind.
void number_kinds(std::vector<Core>& cores) {
  std::vector<int> speeds;
  for (const Core& core : cores) speeds.push_back(core.kind);
  std::sort(speeds.begin(), speeds.end());
  for (Core& core : cores) {
    int kind = 0;
    for (std::size_t i = 1; i < speeds.size() && speeds[i] <= core.kind; ++i)
      if (speeds[i] - speeds[i - 1] > speeds[i] / 10) ++kind;
    core.kind = kind;
  }
}

}  // namespace

std::optional<std::string> read_small_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int first = 0;
    auto [next, error] = std::from_chars(at, end, first);
    if (error != std::errc()) {
      ++at;
      continue;
    }
    int last = first;
    if (next < end && *next == '-') next = std::from_chars(next + 1, end, last).ptr;
    for (int cpu = std::max(first, 0); cpu <= last && cpu < kMaxCpus; ++cpu) cpus.push_back(cpu);
    at = next;
  }
  return cpus;
}

std::vector<Core> cores_from_sysfs(const std::string& root) {
  const std::string system = root + "/sys/devices/system/cpu";
  const auto online = read_small_file(system + "/online");
  if (!online) return {};
  // Where both kinds are listed, x86 has two; elsewhere cpu_capacity tells.
  const auto small = read_small_file(root + "/sys/devices/cpu_atom/cpus");
  const std::vector<int> small_cpus = small ? parse_cpu_list(*small) : std::vector<int>{};
  std::map<int, Core> cores;
  std::map<int, int> clusters;
  for (const int cpu : parse_cpu_list(*online)) {
    const std::string folder = str(system, "/cpu", cpu);
    const int siblings = first_of(folder + "/topology/thread_siblings_list", cpu);
    Core& core = cores[first_of(folder + "/topology/core_cpus_list", siblings)];
    core.cpus.push_back(cpu);
    const bool is_small = std::find(small_cpus.begin(), small_cpus.end(), cpu) != small_cpus.end();
    core.kind = read_number(folder + "/cpu_capacity", is_small ? 512 : 1024);
    core.cluster =
        clusters.try_emplace(last_cache(folder), static_cast<int>(clusters.size())).first->second;
  }
  std::vector<Core> result;
  for (auto& [first, core] : cores) result.push_back(std::move(core));
  number_kinds(result);
  return result;
}

}  // namespace wick
