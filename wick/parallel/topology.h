// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wick/base/export.h"

namespace wick {

/// One physical core.
struct Core {
  std::vector<int> cpus;  ///< its hardware threads, as the system numbers them
  int kind = 0;           ///< 0: the slowest kind of core, 1: the next, ...
  int cluster = 0;        ///< cores with one number share a last-level cache
};

/// The part of the machine that this process may use.
struct WICK_API Topology {
  std::vector<Core> cores;      ///< cores with at least one CPU in the affinity mask
  int cpus = 1;                 ///< hardware threads in the mask
  std::optional<double> quota;  ///< CPU time per time that the control group allows
  std::string source;           ///< who told: "hwloc", "sysfs", "sysctl" or "cpu count"

  /// The cores to compute on: all, or the fastest where there are several kinds (with the next kind
  /// if that is a single core).
  std::vector<Core> compute_cores() const;
  /// The number of compute_cores(), at most the quota rounded up, at least 1.
  int default_threads() const;
  /// How many compute_cores() share each last-level cache.
  std::vector<int> clusters() const;
};

/// What to describe instead of this machine.
struct TopologySource {
  std::string root;       ///< a folder that stands for "/": its sys and proc are read, not hwloc
  std::string xml;        ///< a machine as hwloc exports it
  std::string synthetic;  ///< a machine in hwloc's short form, e.g. "l3:2 core:4 pu:2"
  std::optional<std::vector<int>> affinity;  ///< CPUs allowed; none: this thread's, or all of `xml`
  bool use_hwloc = true;
};

/// Describes a machine; asks hwloc if it is built in, then /sys, then counts CPUs. A description
/// that hwloc cannot read is an `argument` Error.
WICK_API Topology read_topology(const TopologySource& source = {});

/// This machine, read on first use (about a millisecond).
WICK_API const Topology& topology();

/// CPUs' worth of time that the control groups (v1 or v2) of this process allow; none: no limit.
/// `root` stands before /proc and /sys.
WICK_API std::optional<double> cpu_quota(const std::string& root = "");

}  // namespace wick
