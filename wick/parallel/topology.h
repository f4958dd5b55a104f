// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>
#include "wick/parallel/guest.h"
namespace wick {
struct Topology {
  int default_threads() const { return usable_cpus(); }
  std::vector<int> clusters() const { return {usable_cpus()}; }
};
inline Topology topology() { return {}; }
}  // namespace wick
