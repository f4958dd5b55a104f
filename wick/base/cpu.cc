// SPDX-License-Identifier: Apache-2.0
#include "wick/base/cpu.h"

#include <charconv>
#include <fstream>
#include <set>
#include <string_view>

#include "wick/base/str.h"

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace wick {
namespace {

constexpr std::string_view kCpus = "/sys/devices/system/cpu/cpu";

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

#if defined(__APPLE__)
std::string cpu_name() {
  char text[256] = {};
  std::size_t size = sizeof text - 1;
  return ::sysctlbyname("machdep.cpu.brand_string", text, &size, nullptr, 0) == 0 ? text : "";
}
#else
std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    // Arm kernels give no name, only numbers.
    if (!line.starts_with("model name") && !line.starts_with("Model")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}
#endif

/// "32768K" and the like.
Index parse_size(const std::string& text) {
  Index value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  const char unit = at == text.data() + text.size() ? ' ' : *at;
  return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : value;
}

/// Linux tells of each CPU's caches and who shares them; a cache is counted once.
std::vector<CacheLevel> caches_of_sys() {
  std::vector<CacheLevel> result;
  std::set<std::string> seen;
  // CPUs that this process may not use count as well: the caches are the machine's.
  for (int cpu = 0; !first_line(str(kCpus, cpu, "/cache/index0/type")).empty(); ++cpu) {
    for (int i = 0; i < 8; ++i) {
      const std::string folder = str(kCpus, cpu, "/cache/index", i, "/");
      const std::string type = first_line(folder + "type");
      if (type.empty()) break;
      if (type == "Instruction") continue;
      const Index level = parse_size(first_line(folder + "level"));
      const Index bytes = parse_size(first_line(folder + "size"));
      if (level < 1 || bytes < 1) continue;
      if (!seen.insert(str(level, " ", first_line(folder + "shared_cpu_list"))).second) continue;
      CacheLevel* known = nullptr;
      for (CacheLevel& c : result)
        if (c.level == level) known = &c;
      if (known != nullptr)
        ++known->instances;
      else
        result.push_back({static_cast<int>(level), bytes, 1});
    }
  }
  return result;
}

std::vector<CacheLevel> caches_of_libc() {
  std::vector<CacheLevel> result;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  for (int level = 1; level <= 3; ++level)
    if (const long bytes = ::sysconf(names[level - 1]); bytes > 0) result.push_back({level, bytes});
#endif
  return result;
}

}  // namespace

CpuInfo cpu_info() {
  CpuInfo info{cpu_name(), caches_of_sys()};
  if (info.caches.empty()) info.caches = caches_of_libc();
  return info;
}

Index last_level_cache(const CpuInfo& info) {
  return info.caches.empty() ? 0 : info.caches.back().bytes * info.caches.back().instances;
}

}  // namespace wick
