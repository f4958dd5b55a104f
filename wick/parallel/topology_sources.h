// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wick/parallel/topology.h"

// Who can list cores. Each returns none where it knows nothing.

namespace wick {

std::vector<Core> cores_from_hwloc(const TopologySource& source);
std::vector<Core> cores_from_sysfs(const std::string& root);

/// The whole text of a small file, without the last newline; none if it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);

/// The numbers of a list as /sys writes them, e.g. "0-3,8"; whatever is not a number is skipped.
std::vector<int> parse_cpu_list(const std::string& text);

}  // namespace wick
