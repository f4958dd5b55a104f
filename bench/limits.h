// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/limit_loops.h"
#include "bench/team.h"
#include "wick/core/storage.h"

namespace wick::bench {

/// What bounds an op on this machine.
enum class Limit : std::uint8_t { fma_f32, fma_f64, fma_bf16, read, copy };
inline constexpr int kLimitCount = 5;

/// How a figure that names this limit calls it, e.g. "FMA peak".
std::string_view name(Limit limit);
/// "GFLOP/s" or "GB/s".
std::string_view unit(Limit limit);
/// The limit of products in `dtype`: the FMA peak of the type they are computed in, or the native
/// dot product's where the CPU has one for it. Integers are held against f32.
Limit fma_limit(DType dtype, bool native_bf16);

/// The rate of a limit, for the harness. A test brings its own.
class LimitSource {
 public:
  virtual ~LimitSource() = default;
  /// Runs the loop for a moment on `threads` pinned threads: operations (bytes, both read and
  /// written) per second.
  virtual double measure(Limit limit, int threads) = 0;
  /// The best rate of the run so far.
  virtual double best(Limit limit, int threads) const = 0;
  /// Whether two threads ever reached kTwoThreads times the FMA rate of one (true where one CPU is
  /// all there is).
  virtual bool two_threads_scale() const = 0;
};

/// The limits of this machine, by the loops of limit_loops.h.
class MachineLimits final : public LimitSource {
 public:
  struct Options {
    double seconds = 2e-3;          ///< of one measure()
    Index memory = Index{4} << 30;  ///< the most that the arrays behind read and copy may take
  };

  /// Picks the fastest form of each loop.
  MachineLimits(const std::vector<int>& cpus, Options options);

  double measure(Limit limit, int threads) override;
  double best(Limit limit, int threads) const override;
  bool two_threads_scale() const override;
  bool native_bf16() const { return loops_.bf16[0].loop != nullptr; }
  /// Measures a limit at least `times` times, for the figure itself.
  void settle(Limit limit, int threads, int times);

 private:
  double run_once(Limit limit, int threads, int form, double seconds);
  double run_fma(const Fma& fma, int threads, double seconds, double guess);
  double run_memory(Limit limit, int threads, int form, double seconds, double guess);
  const Fma* fma(Limit limit) const;

  Options options_;
  LimitLoops loops_;
  Team team_;
  Buffer<f64> array_;  ///< walked round, so that every run meets memory and not a cache
  Index place_ = 0;
  std::array<int, kLimitCount> form_{};
  std::map<std::pair<Limit, int>, double> best_;
};

/// Bytes that together leave no cache warm: 8 times the last-level caches, 512 MiB where their
/// size is not known, at most `most`.
Index cold_bytes(Index most);

}  // namespace wick::bench
