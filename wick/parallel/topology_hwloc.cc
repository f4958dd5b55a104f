// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/topology_sources.h"

#if WICK_WITH_HWLOC

#include <hwloc.h>

#include <algorithm>
#include <memory>

#include "wick/base/error.h"
#include "wick/base/str.h"

namespace wick {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t t) const { hwloc_topology_destroy(t); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroy>;

Handle load(const TopologySource& source) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Handle t(raw);
  const auto refuse = [](const char* what, const std::string& text) {
    return Error(ErrorKind::argument, "read_topology",
                 str("wanted ", what, ", got \"", text.substr(0, 80), "\""));
  };
  const bool described = !source.xml.empty() || !source.synthetic.empty();
  if (!source.xml.empty()) {
    if (hwloc_topology_set_xmlbuffer(raw, source.xml.c_str(),
                                     static_cast<int>(source.xml.size() + 1)) != 0)
      throw refuse("hwloc's XML", source.xml);
  } else if (described && hwloc_topology_set_synthetic(raw, source.synthetic.c_str()) != 0) {
    throw refuse("hwloc's synthetic form", source.synthetic);
  }
  if (hwloc_topology_load(raw) != 0) {
    if (described) throw refuse("a machine hwloc can load", source.xml + source.synthetic);
    return nullptr;
  }
  return t;
}

/// The biggest cache above an object, or null.
hwloc_obj_t last_cache(hwloc_obj_t object) {
  hwloc_obj_t cache = nullptr;
  for (; object != nullptr; object = object->parent)
    if (hwloc_obj_type_is_dcache(object->type) != 0) cache = object;
  return cache;
}

}  // namespace

std::vector<Core> cores_from_hwloc(const TopologySource& source) {
  const Handle handle = load(source);
  if (!handle) return {};
  hwloc_topology_t t = handle.get();
  const hwloc_obj_type_t type =
      hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  std::vector<Core> cores;
  std::vector<hwloc_obj_t> caches;
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(t, type, o)) != nullptr;) {
    Core core;
    for (int cpu = -1; (cpu = hwloc_bitmap_next(o->cpuset, cpu)) >= 0;) core.cpus.push_back(cpu);
    core.kind = std::max(hwloc_cpukinds_get_by_cpuset(t, o->cpuset, 0), 0);  // -1: not known
    const hwloc_obj_t cache = last_cache(o);
    const auto known = std::find(caches.begin(), caches.end(), cache);
    core.cluster = static_cast<int>(known - caches.begin());
    if (known == caches.end()) caches.push_back(cache);
    cores.push_back(std::move(core));
  }
  return cores;
}

}  // namespace wick

#else

namespace wick {

std::vector<Core> cores_from_hwloc(const TopologySource&) { return {}; }

}  // namespace wick

#endif  // WICK_WITH_HWLOC
