// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "wick/base/checked.h"
#include "wick/base/export.h"

namespace wick {

/// One level of the data caches, as one core sees it.
struct CacheLevel {
  int level = 0;
  Index bytes = 0;    ///< of one cache
  int instances = 1;  ///< how many of these the machine has
};

/// What a processor says of itself. Fields that the system does not tell stay empty.
struct CpuInfo {
  std::string name;
  std::vector<CacheLevel> caches;  ///< level 1 first
};

/// Reads it anew: cheap, but not free.
WICK_API CpuInfo cpu_info();

/// Bytes of all last-level caches together; 0 where the system does not tell.
WICK_API Index last_level_cache(const CpuInfo& info);

}  // namespace wick
