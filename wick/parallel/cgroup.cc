// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <string_view>

#include "wick/parallel/topology.h"
#include "wick/parallel/topology_sources.h"

namespace wick {
namespace {

/// Whether a comma-separated list has a word.
bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
  return false;
}

/// A place where a hierarchy of control groups is mounted.
struct Mount {
  std::string root;  // the group that is seen at `point`
  std::string point;
  bool v2 = false;
};

/// The mount a line of /proc/self/mountinfo describes, if it is one that limits CPU time.
std::optional<Mount> parse_mount(const std::string& line) {
  std::istringstream words(line);
  std::string skip;
  std::string type;
  std::string options;
  Mount mount;
  words >> skip >> skip >> skip >> mount.root >> mount.point;
  while (words >> skip && skip != "-") {
  }
  words >> type >> skip >> options;
  mount.v2 = type == "cgroup2";
  if (mount.v2 || (type == "cgroup" && lists(options, "cpu"))) return mount;
  return std::nullopt;
}

/// The group of this process in the hierarchy of a mount: a path from the mount's point, "" for the
/// point itself.
std::string group_below(const Mount& mount, const std::string& groups) {
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // number:controllers:path
    const auto a = line.find(':');
    const auto b = a == std::string::npos ? a : line.find(':', a + 1);
    if (b == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(a + 1, b - a - 1);
    if (mount.v2 ? !controllers.empty() : !lists(controllers, "cpu")) continue;
    std::string path = line.substr(b + 1);
    if (mount.root != "/" && path.starts_with(mount.root)) path.erase(0, mount.root.size());
    if (path == "/" || path.find("..") != std::string::npos) path.clear();
    return path;
  }
  return "";
}

std::optional<double> quota_of(const std::string& folder, bool v2) {
  std::string text;
  if (v2) {
    text = read_small_file(folder + "/cpu.max").value_or("");
  } else {
    text = read_small_file(folder + "/cpu.cfs_quota_us").value_or("") + " " +
           read_small_file(folder + "/cpu.cfs_period_us").value_or("");
  }
  double quota = 0;  // "max", and -1, mean no limit
  double period = 0;
  std::istringstream(text) >> quota >> period;
  if (quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

}  // namespace

std::optional<double> cpu_quota(const std::string& root) {
  const std::string groups = read_small_file(root + "/proc/self/cgroup").value_or("");
  std::istringstream mounts(read_small_file(root + "/proc/self/mountinfo").value_or(""));
  std::optional<double> least;
  for (std::string line; std::getline(mounts, line);) {
    const auto mount = parse_mount(line);
    if (!mount) continue;
    // Every group above limits this one too.
    for (std::string group = group_below(*mount, groups);;) {
      const auto quota = quota_of(root + mount->point + group, mount->v2);
      if (quota) least = std::min(least.value_or(*quota), *quota);
      if (group.empty()) break;
      group.erase(std::min(group.find_last_of('/'), group.size() - 1));
    }
  }
  return least;
}

}  // namespace wick
