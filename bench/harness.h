// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/limits.h"
#include "wick/base/function_ref.h"
#include "wick/core/dtype.h"

namespace wick::bench {

/// One thing to measure, whoever does it.
struct Case {
  int experiment = 0;  ///< 1 to 5 of the chapter; 0 elsewhere
  std::string op = {};
  DType dtype = DType::f32;
  std::vector<Index> shape = {};
  int threads = 1;
  Limit limit = Limit::fma_f32;
  double work = 0;   ///< of one call, in the limit's terms: operations, or bytes read and written
  double flops = 0;  ///< operations of one call, for the roofline
  double bytes = 0;  ///< least bytes moved by one call, for the roofline
  std::string name = {};    ///< what people read, where op, dtype and shape do not say all
  bool peers_only = false;  ///< its data may be warm: the limit only tells quiet moments
};

/// Who does it. A call that should meet cold operands takes the next copy each time.
struct Candidate {
  std::string engine = "wick";
  std::function<void()> call = {};
  /// Runs a batch in the surroundings it needs: an engine chosen, a context entered.
  std::function<void(FunctionRef<void()> batch)> around = [](FunctionRef<void()> batch) {
    batch();
  };
  bool context = false;  ///< inside with_context
  /// Instead of `call`, for who keeps his own time (another process): does so many calls and says
  /// how many seconds they took.
  std::function<double(int calls)> timed = {};
  std::string note = {};  ///< becomes the row's result
  /// Seconds that its threads have waited for a CPU since they started, where that is known.
  std::function<double()> waited = {};
};

/// What came out: one line of a table.
struct Row {
  Case what;
  std::string engine;
  bool context = false;
  /// The rate is in unit(what.limit); it and the share are empty for a case without work.
  std::optional<double> median_ms, rate, share_of_limit;
  std::optional<std::string> error;  ///< the message, where the call failed
  std::string result;                ///< what was computed, where that is the question
  bool noisy = false;                ///< too few quiet batches: not to be judged
  int kept = 0, dropped = 0;         ///< batches
  std::string best_peer;             ///< the fastest other engine on the same case
  std::optional<double> ratio;       ///< our speed by its
};

/// The time, in seconds. A test brings its own.
using Now = std::function<double()>;
double steady_seconds();

struct Pace {
  double batch_seconds = 2e-3;  ///< short calls are repeated until a batch takes this long
  int calls_per_timing = 0;     ///< 0: as many as a batch needs; else so many
  int timings = 1;              ///< of a batch
  int most_batches = 45;        ///< of a candidate; ends the search for quiet ones
  double most_seconds = 10;     ///< of a candidate, likewise, once it has kFewestBatches; five
                                ///< times as long ends it in any case
};

/// Measures candidates side by side, by the rules: after one warm-up call each, batches of the
/// candidates take turns, and the limit loop runs between any two. A batch counts if both its limit
/// runs reached kBracketShare of the best of the whole run, and if its threads did not wait for a
/// CPU for more than the rest of its time: limit runs are too short to notice another load of the
/// same priority. Ends when each candidate has kFewestBatches that count, or at the bounds of the
/// pace. A candidate that throws an Error gives a row with its message. `between` is called before
/// each limit run: threads of pools can be sent to sleep there, and new ones pinned.
std::vector<Row> measure(
    const Case& what, std::span<const Candidate> candidates, LimitSource& limits, const Pace& pace,
    const std::function<void()>& between = [] {}, const Now& now = steady_seconds);

}  // namespace wick::bench
