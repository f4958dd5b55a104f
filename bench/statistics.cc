// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.h"

#include <algorithm>
#include <cstddef>

namespace wick::bench {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  const double upper = *(values.begin() + middle);
  if (values.size() % 2 == 1) return upper;
  return (upper + *std::max_element(values.begin(), values.begin() + middle)) / 2;
}

int count_kept(std::span<const Batch> batches, double best) {
  return static_cast<int>(std::count_if(batches.begin(), batches.end(), [&](const Batch& b) {
    return b.bracket >= kBracketShare * best;
  }));
}

Verdict judge(std::span<const Batch> batches, double best) {
  Verdict verdict;
  verdict.kept = count_kept(batches, best);
  verdict.dropped = static_cast<int>(batches.size()) - verdict.kept;
  verdict.noisy = verdict.kept < kFewestBatches;
  std::vector<double> seconds;
  for (const Batch& b : batches)
    if (verdict.kept == 0 || b.bracket >= kBracketShare * best)
      seconds.insert(seconds.end(), b.seconds.begin(), b.seconds.end());
  verdict.seconds = median(std::move(seconds));
  return verdict;
}

}  // namespace wick::bench
