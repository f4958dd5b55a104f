// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.h"

#include <gtest/gtest.h>

namespace wick::bench {
namespace {

std::vector<Batch> batches(int good, double good_seconds, int bad, double bad_seconds) {
  std::vector<Batch> all;
  for (int i = 0; i < good; ++i) all.push_back({{good_seconds}, 100});
  for (int i = 0; i < bad; ++i) all.push_back({{bad_seconds}, 96.9});
  return all;
}

TEST(Statistics, Median) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Statistics, DisturbedBatchesAreDroppedAndCounted) {
  const Verdict v = judge(batches(9, 1, 20, 5), 100);
  EXPECT_EQ(v.seconds, 1);
  EXPECT_EQ(v.kept, 9);
  EXPECT_EQ(v.dropped, 20);
  EXPECT_FALSE(v.noisy);
}

TEST(Statistics, TheEdgeIsKept) {
  const std::vector<Batch> edge(9, Batch{{1}, 97});
  EXPECT_EQ(judge(edge, 100).kept, 9);
}

TEST(Statistics, FewerThanNineAreNoisy) {
  const Verdict v = judge(batches(8, 1, 30, 5), 100);
  EXPECT_EQ(v.seconds, 1);
  EXPECT_EQ(v.kept, 8);
  EXPECT_TRUE(v.noisy);
}

TEST(Statistics, WhereNoneIsKeptAllAreShown) {
  const Verdict v = judge(batches(0, 0, 3, 5), 100);
  EXPECT_EQ(v.seconds, 5);
  EXPECT_TRUE(v.noisy);
}

TEST(Statistics, TheMedianIsOfTimingsNotOfBatches) {
  std::vector<Batch> all(9, Batch{{1, 2, 9}, 100});
  EXPECT_EQ(judge(all, 100).seconds, 2);
}

}  // namespace
}  // namespace wick::bench
