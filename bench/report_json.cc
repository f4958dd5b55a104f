// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "bench/report.h"

namespace wick::bench {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

/// A figure for one thread and for all.
Json both(double one, double all) { return {{"1", one}, {"all", all}}; }

Json machine_json(const Machine& m) {
  return {{"cpu", m.cpu},
          {"isa", m.isa},
          {"cores", m.cores},
          {"threads", m.threads},
          {"two_threads_scale", m.two_threads_scale},
          {"limits",
           {{"fma_gflops",
             {{"f32", both(m.one.fma_f32, m.all.fma_f32)},
              {"f64", both(m.one.fma_f64, m.all.fma_f64)},
              {"f16", both(m.one.fma_f16, m.all.fma_f16)},
              {"bf16", both(m.one.fma_bf16, m.all.fma_bf16)}}},
            {"copy_gbs", both(m.one.copy, m.all.copy)},
            {"read_gbs", both(m.one.read, m.all.read)}}}};
}

Json row_json(const Row& row) {
  Json json = {{"experiment", row.what.experiment},
               {"op", row.what.op},
               {"dtype", name(row.what.dtype)},
               {"shape", row.what.shape},
               {"threads", row.what.threads},
               {"engine", row.engine},
               {"context", row.context},
               {"median_ms", or_null(row.median_ms)},
               {"rate", or_null(row.rate)},
               {"unit", unit(row.what.limit)},
               {"share_of_limit", or_null(row.share_of_limit)},
               {"error", or_null(row.error)},
               {"limit", name(row.what.limit)},
               {"noisy", row.noisy},
               {"kept", row.kept},
               {"dropped", row.dropped}};
  if (!row.result.empty()) json["result"] = row.result;
  if (!row.what.name.empty()) json["name"] = row.what.name;
  if (row.what.flops > 0 && row.median_ms && *row.median_ms > 0)
    json["gflops"] = row.what.flops / *row.median_ms / 1e6;
  if (row.ratio) {
    json["best_peer"] = row.best_peer;
    json["ratio_to_best_peer"] = *row.ratio;
  }
  return json;
}

}  // namespace

std::string to_json(const Machine& machine, std::span<const Row> rows) {
  Json list = Json::array();
  for (const Row& row : rows) list.push_back(row_json(row));
  return Json{{"machine", machine_json(machine)}, {"rows", list}}.dump(2) + "\n";
}

}  // namespace wick::bench
