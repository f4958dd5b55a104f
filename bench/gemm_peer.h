// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/gemm_cases.h"
#include "bench/peer.h"

namespace wick::bench {

/// Another library's products: the other end of bench/peers/gemm_peer.h.
class GemmPeer : public Peer {
 public:
  /// `program` is what runs the engine: a program, or an interpreter and a script.
  GemmPeer(std::vector<std::string> program, const std::string& engine,
           const std::vector<int>& cpus, std::vector<std::string> settings = {});

  /// Asks for what run() does. ask() for several peers, then answer() for each: they prepare at the
  /// same time.
  void ask(const Gemm& row);
  struct Answer {
    std::string refused = {};  ///< why the library does not do this; else empty
    double seconds = 0;        ///< of one call
    std::string wrong = {};    ///< what is wrong with its result; else empty
  };
  Answer answer(const Gemm& row);
};

/// An engine of `wick bench gemm` and what runs it.
struct GemmEngine {
  std::string name;
  std::vector<std::string> program;  ///< empty: not built here
  std::vector<std::string> settings;
};

/// What each engine needs on this machine to be at its best with so many threads, with the
/// instruction sets that wick uses.
std::vector<GemmEngine> gemm_engines(int threads);

/// Whether the engine may enter the row: matrix-vector functions where there is a vector, packed
/// operands where the row has no twin for them.
bool engine_takes(std::string_view engine, const Gemm& row);

}  // namespace wick::bench
