// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

// The measuring rules, without clocks and loops.

namespace wick::bench {

/// Batches with a bracket below this share of the best bracket saw another load on the machine.
inline constexpr double kBracketShare = 0.97;
/// With fewer batches than this nothing is said about speed.
inline constexpr int kFewestBatches = 9;
/// Below this ratio of the FMA limits of two threads and one, the second core was not ours.
inline constexpr double kTwoThreads = 1.7;

/// Timings taken between two runs of the limit loop.
struct Batch {
  std::vector<double> seconds;  ///< of one call each
  double bracket = 0;           ///< the lower rate of the two limit runs around it
};

/// What is left of the batches of one candidate.
struct Verdict {
  double seconds = 0;  ///< the median of the kept timings; of all of them if none was kept
  int kept = 0;        ///< batches
  int dropped = 0;     ///< batches
  bool noisy = false;  ///< fewer than kFewestBatches were kept
};

/// The middle value, the mean of the middle two for an even count; 0 for none.
double median(std::vector<double> values);

/// How many batches stay, given the best bracket of the run.
int count_kept(std::span<const Batch> batches, double best);

/// Drops what was disturbed and takes the median of the rest.
Verdict judge(std::span<const Batch> batches, double best);

}  // namespace wick::bench
