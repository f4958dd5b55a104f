// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm_peer.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "wick/base/str.h"
#include "wick/core/isa.h"

namespace wick::bench {
namespace {

std::vector<std::string> start_words(std::vector<std::string> program, const std::string& engine,
                                     const std::vector<int>& cpus) {
  program.insert(program.end(), {engine, fmt::format("{}", cpus.size())});
  return program;
}

bool has_part(std::string_view engine, std::string_view part) {
  return engine.find(part) != engine.npos;
}

/// Threads of pools wait busily for a moment between calls, as users' programs have it, and are
/// asleep when the next engine's turn comes.
std::vector<std::string> thread_settings(int threads) {
  const std::string count = fmt::format("{}", threads);
  std::vector<std::string> settings{"OMP_WAIT_POLICY=passive", "OPENBLAS_THREAD_TIMEOUT=18",
                                    "KMP_BLOCKTIME=1", "MKL_DYNAMIC=FALSE", "OMP_DYNAMIC=FALSE"};
  for (const auto* name : {"OMP", "OPENBLAS", "BLIS", "MKL", "RAYON"})
    settings.push_back(str(name, "_NUM_THREADS=", count));
  return settings;
}

bool has_tiles() { return isa_chosen() == "amx_bf16"; }
bool has_avx512() { return isa_chosen().find("512") != std::string_view::npos || has_tiles(); }

/// The same instruction sets for all, where wick's are capped.
void add_isa(std::vector<std::string>& settings) {
  if (!has_avx512())
    settings.insert(settings.end(), {"OPENBLAS_CORETYPE=Haswell", "BLIS_ARCH_TYPE=haswell",
                                     "MKL_ENABLE_INSTRUCTIONS=AVX2", "DNNL_MAX_CPU_ISA=AVX2",
                                     "LIBXSMM_TARGET=hsw", "ATEN_CPU_CAPABILITY=avx2"});
  else if (!has_tiles())
    settings.insert(settings.end(),
                    {"DNNL_MAX_CPU_ISA=AVX512_CORE_BF16", "MKL_ENABLE_INSTRUCTIONS=AVX512_E3"});
}

std::vector<std::string> program_of(const std::string& engine) {
  if (engine == "pytorch") {
    const auto script = find_nearby("bench/peers/gemm_torch.py");
    return script ? std::vector<std::string>{peer_python(), *script} : std::vector<std::string>{};
  }
  const std::string library = engine.substr(0, engine.find('-'));
  std::string file = library == "libxsmm" ? "xsmm" : library;
  if (library == "openblas" || library == "blis" || library == "mkl") file = "blas";
  if (library == "eigen" && !has_avx512()) file = "eigen_avx2";
  const auto path = find_nearby("build/peers/gemm_" + file);
  return path ? std::vector<std::string>{*path} : std::vector<std::string>{};
}

}  // namespace

GemmPeer::GemmPeer(std::vector<std::string> program, const std::string& engine,
                   const std::vector<int>& cpus, std::vector<std::string> settings)
    : Peer(start_words(std::move(program), engine, cpus), engine, cpus, std::move(settings)) {}

void GemmPeer::ask(const Gemm& row) {
  write_line(fmt::format("case {} {} {} {} {} {}", name(row.dtype), row.m, row.n, row.k, row.batch,
                         row.transposed ? "T" : "N"));
}

GemmPeer::Answer GemmPeer::answer(const Gemm& row) {
  const std::string line = Peer::answer();
  if (line.starts_with("refused ")) return {.refused = line.substr(8)};
  std::istringstream words(line);
  std::string word;
  Answer answer;
  if (!(words >> word >> answer.seconds) || word != "values")
    fail(str("wanted \"values ...\", got \"", line, "\""));
  std::vector<double> values;
  // Not by >>, which takes no "nan".
  while (words >> word) values.push_back(std::strtod(word.c_str(), nullptr));
  answer.wrong = find_wrong_sample(row, values);
  return answer;
}

std::vector<GemmEngine> gemm_engines(int threads) {
  const std::vector<std::string> names{
      "openblas", "openblas-gemv", "blis",     "blis-gemv",  "onednn",  "onednn-packed", "libxsmm",
      "eigen",    "mkl",           "mkl-gemv", "mkl-packed", "mkl-jit", "pytorch",       "candle"};
  std::vector<GemmEngine> engines;
  for (const std::string& name : names) {
    GemmEngine& engine = engines.emplace_back();
    engine.name = name;
    engine.program = program_of(name);
    engine.settings = thread_settings(threads);
    // Two pools that wait busily hold each other up.
    if (name != "pytorch") engine.settings.emplace_back("GOMP_SPINCOUNT=10000");
    add_isa(engine.settings);
    if (const auto mkl = find_nearby("build/peers-venv/lib/libmkl_rt.so.3"))
      engine.settings.push_back("WICK_PEER_MKL=" + *mkl);
  }
  return engines;
}

bool engine_takes(std::string_view engine, const Gemm& row) {
  const bool vector = row.m == 1 || row.n == 1;
  if (row.cold) return false;
  if (has_part(engine, "gemv")) return vector && row.batch == 1;
  if (has_part(engine, "jit")) return row.m <= 64 && row.n <= 64 && row.k <= 64;
  if (has_part(engine, "packed")) return row.packed || !row.bound_by_memory;
  return true;
}

}  // namespace wick::bench
