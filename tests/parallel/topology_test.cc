// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/topology.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "wick/base/error.h"
#include "wick/parallel/topology_sources.h"

#if WICK_WITH_HWLOC
#include <hwloc.h>
#endif

namespace wick {
namespace {

/// A folder that stands for the root of a machine.
class FakeRoot {
 public:
  FakeRoot() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    path_ = std::filesystem::path(::testing::TempDir()) / ("wick_root_" + name);
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  void write(const std::string& file, const std::string& text) const {
    const auto path = path_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TopologySource from_root(const FakeRoot& root) {
  TopologySource source;
  source.root = root.path();
  return source;
}

TEST(Topology, DescribesThisMachine) {
  const Topology& t = topology();
  EXPECT_GE(t.cores.size(), 1U);
  EXPECT_GE(t.cpus, static_cast<int>(t.cores.size()));
  EXPECT_GE(t.default_threads(), 1);
  EXPECT_LE(t.default_threads(), t.cpus);
  const auto clusters = t.clusters();
  EXPECT_EQ(std::accumulate(clusters.begin(), clusters.end(), 0),
            static_cast<int>(t.compute_cores().size()));
}

TEST(Topology, SourcesAgreeOnThisMachine) {
  TopologySource source;
  source.use_hwloc = false;
  const Topology own = read_topology(source);
  EXPECT_EQ(own.cores.size(), topology().cores.size());
  EXPECT_EQ(own.default_threads(), topology().default_threads());
}

TEST(Topology, WithoutSysCountsCpus) {
  const FakeRoot empty;
  TopologySource source = from_root(empty);
  EXPECT_EQ(read_topology(source).source, "cpu count");
  EXPECT_GE(read_topology(source).default_threads(), 1);
  source.affinity = {{0, 3, 5}};
  EXPECT_EQ(read_topology(source).default_threads(), 3);
}

/// 2 x 2 performance cores with two threads each in two clusters, 4 efficiency cores in a third.
void write_hybrid(const FakeRoot& root) {
  root.write("sys/devices/system/cpu/online", "0-11");
  root.write("sys/devices/cpu_atom/cpus", "8-11");
  for (int cpu = 0; cpu < 12; ++cpu) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu);
    const int core = cpu < 8 ? cpu / 2 * 2 : cpu;
    root.write(
        folder + "/topology/thread_siblings_list",
        cpu < 8 ? std::to_string(core) + "-" + std::to_string(core + 1) : std::to_string(cpu));
    root.write(folder + "/cache/index0/level", "1");
    root.write(folder + "/cache/index0/shared_cpu_list", std::to_string(cpu));
    root.write(folder + "/cache/index1/level", "3");
    root.write(folder + "/cache/index1/type", "Unified");
    root.write(folder + "/cache/index1/shared_cpu_list", cpu < 4   ? "0-3"
                                                         : cpu < 8 ? "4-7"
                                                                   : "8-11");
  }
}

TEST(Topology, ReadsSysfs) {
  const FakeRoot root;
  write_hybrid(root);
  const Topology t = read_topology(from_root(root));
  EXPECT_EQ(t.source, "sysfs");
  EXPECT_EQ(t.cores.size(), 8U);
  EXPECT_EQ(t.cpus, 12);
  EXPECT_EQ(t.default_threads(), 4);
  EXPECT_EQ(t.clusters(), (std::vector<int>{2, 2}));
}

TEST(Topology, StaysInsideTheAffinityMask) {
  const FakeRoot root;
  write_hybrid(root);
  TopologySource source = from_root(root);
  source.affinity = {{0, 1, 2, 9}};
  EXPECT_EQ(read_topology(source).default_threads(), 2);
  EXPECT_EQ(read_topology(source).cpus, 4);
  source.affinity = {{8, 9, 10}};  // efficiency cores are all there is
  EXPECT_EQ(read_topology(source).default_threads(), 3);
  source.affinity = {{0, 1}};  // two threads of one core
  EXPECT_EQ(read_topology(source).default_threads(), 1);
  source.affinity = {{700}};
  EXPECT_EQ(read_topology(source).default_threads(), 1);
}

TEST(Topology, QuotaCapsThreads) {
  const FakeRoot root;
  write_hybrid(root);
  root.write("proc/self/cgroup", "0::/");
  root.write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
  root.write("sys/fs/cgroup/cpu.max", "250000 100000");
  const Topology t = read_topology(from_root(root));
  EXPECT_EQ(t.quota, 2.5);
  EXPECT_EQ(t.default_threads(), 3);
  root.write("sys/fs/cgroup/cpu.max", "10000 100000");
  EXPECT_EQ(read_topology(from_root(root)).default_threads(), 1);
}

TEST(Topology, CapacitiesMakeKinds) {
  const FakeRoot root;
  root.write("sys/devices/system/cpu/online", "0-7");
  const int capacities[] = {250, 250, 250, 250, 760, 760, 770, 1024};
  for (int cpu = 0; cpu < 8; ++cpu)
    root.write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpu_capacity",
               std::to_string(capacities[cpu]));
  const Topology t = read_topology(from_root(root));
  EXPECT_EQ(t.cores.front().kind, 0);
  EXPECT_EQ(t.cores[5].kind, 1);
  EXPECT_EQ(t.cores.back().kind, 2);
  EXPECT_EQ(t.default_threads(), 4);  // the single prime core and the next kind
}

TEST(Topology, NonsenseInSysIsHarmless) {
  const FakeRoot root;
  root.write("sys/devices/system/cpu/online", "0-1,x,-5,3-2,99999999999999");
  root.write("sys/devices/system/cpu/cpu0/cpu_capacity", "fast");
  EXPECT_GE(read_topology(from_root(root)).default_threads(), 1);
  EXPECT_EQ(parse_cpu_list("0-2,5,8-9"), (std::vector<int>{0, 1, 2, 5, 8, 9}));
  EXPECT_EQ(parse_cpu_list(""), std::vector<int>{});
  EXPECT_LE(parse_cpu_list("0-999999999").size(), 100000U);
}

#if WICK_WITH_HWLOC

TEST(Topology, ReadsHwlocSynthetic) {
  TopologySource source;
  source.synthetic = "pack:1 l3:2 l2:4 core:1 pu:2";
  const Topology t = read_topology(source);
  EXPECT_EQ(t.source, "hwloc");
  EXPECT_EQ(t.cores.size(), 8U);
  EXPECT_EQ(t.cpus, 16);
  EXPECT_EQ(t.default_threads(), 8);
  EXPECT_EQ(t.clusters(), (std::vector<int>{4, 4}));
  source.affinity = {{0, 1, 2, 14}};
  EXPECT_EQ(read_topology(source).default_threads(), 3);
  EXPECT_EQ(read_topology(source).clusters(), (std::vector<int>{2, 1}));
}

TEST(Topology, ReadsCoreKindsFromHwloc) {
  hwloc_topology_t machine = nullptr;
  hwloc_topology_init(&machine);
  hwloc_topology_set_synthetic(machine, "l3:2 core:4 pu:1");
  hwloc_topology_load(machine);
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  hwloc_bitmap_set_range(set, 0, 4);
  hwloc_cpukinds_register(machine, set, 10, 0, nullptr, 0);
  hwloc_bitmap_zero(set);
  hwloc_bitmap_set_range(set, 5, 7);
  hwloc_cpukinds_register(machine, set, 1, 0, nullptr, 0);
  char* xml = nullptr;
  int length = 0;
  ASSERT_EQ(hwloc_topology_export_xmlbuffer(machine, &xml, &length, 0), 0);
  TopologySource source;
  source.xml = xml;
  hwloc_free_xmlbuffer(machine, xml);
  hwloc_bitmap_free(set);
  hwloc_topology_destroy(machine);

  const Topology t = read_topology(source);
  EXPECT_EQ(t.cores.size(), 8U);
  EXPECT_EQ(t.default_threads(), 5);
  EXPECT_EQ(t.clusters(), (std::vector<int>{4, 1}));
}

TEST(Topology, RefusesWhatHwlocCannotRead) {
  TopologySource source;
  source.synthetic = "not a machine";
  EXPECT_THROW(read_topology(source), Error);
}

#endif  // WICK_WITH_HWLOC

TEST(CpuQuota, ReadsBothVersions) {
  const FakeRoot root;
  EXPECT_EQ(cpu_quota(root.path()), std::nullopt);
  root.write("proc/self/cgroup", "4:memory:/m\n3:cpu,cpuacct:/docker/abc/inner\n0::/x/y");
  root.write("proc/self/mountinfo",
             "1 0 0:1 / / rw - ext4 /dev/vda rw\n"
             "2 1 0:2 /docker/abc /sys/fs/cgroup/cpu rw shared:1 - cgroup cgroup rw,cpu,cpuacct\n"
             "3 1 0:3 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
  EXPECT_EQ(cpu_quota(root.path()), std::nullopt);
  root.write("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "-1");
  root.write("sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cpu_quota(root.path()), std::nullopt);
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "350000");  // of the group above
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cpu_quota(root.path()), 3.5);
  root.write("sys/fs/cgroup/unified/x/y/cpu.max", "max 100000");
  EXPECT_EQ(cpu_quota(root.path()), 3.5);
  root.write("sys/fs/cgroup/unified/x/cpu.max", "150000 100000");
  EXPECT_EQ(cpu_quota(root.path()), 1.5);
  root.write("sys/fs/cgroup/unified/x/y/cpu.max", "nonsense");
  EXPECT_EQ(cpu_quota(root.path()), 1.5);
}

}  // namespace
}  // namespace wick
