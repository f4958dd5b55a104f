// SPDX-License-Identifier: Apache-2.0
#include "wick/core/nd_iter.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "tests/views.h"

namespace wick {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::offsets_of;
using testing::Random;
using testing::random_shape;

template <std::size_t N>
using Place = std::array<Index, N>;

/// The operands' offsets of every element, in the order of the walk over [begin, end).
template <std::size_t N>
std::vector<Place<N>> walk(const NdIter<N>& it, Index begin, Index end) {
  std::vector<Place<N>> all;
  it.for_each(begin, end, [&](const Place<N>& at, const Loop2<N>& loop) {
    EXPECT_GT(loop.n, 0);
    EXPECT_GT(loop.m, 0);
    for (Index j = 0; j < loop.m; ++j)
      for (Index i = 0; i < loop.n; ++i) {
        Place<N> p = at;
        for (std::size_t k = 0; k < N; ++k) p[k] += j * loop.outer[k] + i * loop.inner[k];
        all.push_back(p);
      }
  });
  EXPECT_EQ(static_cast<Index>(all.size()), std::max<Index>(end - begin, 0));
  return all;
}

template <std::size_t N>
std::vector<Place<N>> by_index(const std::array<const Layout*, N>& layouts) {
  std::vector<Place<N>> all;
  testing::for_each_index(layouts[0]->shape, [&](const Dims& i) {
    Place<N> p;
    for (std::size_t k = 0; k < N; ++k) p[k] = testing::offset_of(*layouts[k], i);
    all.push_back(p);
  });
  return all;
}

TEST(NdIter, RankZeroIsOneElement) {
  const Layout a{{}, {}, 3}, b{{}, {}, 9};
  const NdIter<2> it({&a, &b});
  EXPECT_EQ(it.size(), 1);
  EXPECT_EQ(it.rank(), 1);
  EXPECT_THAT(walk(it, 0, 1), ElementsAre(Place<2>{3, 9}));
}

TEST(NdIter, EmptyShapesYieldNothing) {
  for (const Dims& shape : {Dims{0}, Dims{3, 0, 2}, Dims{Index{1} << 40, Index{1} << 40, 0}}) {
    const Layout l = Layout::contiguous(shape);
    const NdIter<2> it({&l, &l});
    EXPECT_EQ(it.size(), 0);
    EXPECT_THAT(walk(it, 0, 0), IsEmpty());
  }
}

TEST(NdIter, ContiguousBecomesOneRun) {
  for (const Dims& shape : {Dims{24}, Dims{2, 12}, Dims{2, 3, 4}, Dims{1, 2, 1, 3, 4, 1}}) {
    const Layout l = Layout::contiguous(shape);
    const NdIter<2> it({&l, &l});
    EXPECT_EQ(it.rank(), 1);
    EXPECT_EQ(it.extent(0), 24);
    EXPECT_THAT(it.strides(0), ElementsAre(1, 1));
  }
}

TEST(NdIter, GapsLimitMerging) {
  const Layout out = Layout::contiguous({2, 3, 4});
  const Layout outer_gap = Layout::contiguous({4, 3, 4}).slice(0, 0, 4, 2);
  const NdIter<2> partial({&out, &outer_gap});
  EXPECT_EQ(partial.rank(), 2);
  EXPECT_EQ(partial.extent(0), 12);
  EXPECT_THAT(partial.strides(1), ElementsAre(12, 24));
  const Layout every_gap = Layout::contiguous({2, 4, 5}).narrow(1, 0, 3).narrow(2, 0, 4);
  EXPECT_EQ(NdIter<2>({&out, &every_gap}).rank(), 3);
  const Layout mat = Layout::contiguous({3, 4}),
               turned = Layout::contiguous({4, 3}).transpose(0, 1);
  const NdIter<2> none({&mat, &turned});
  EXPECT_EQ(none.rank(), 2);
  EXPECT_THAT(none.strides(0), ElementsAre(1, 3));
}

TEST(NdIter, BroadcastZerosMerge) {
  const Layout out = Layout::contiguous({2, 3, 4});
  const Layout one = Layout::contiguous({1}).broadcast_to({2, 3, 4});
  const NdIter<2> whole({&out, &one});
  EXPECT_EQ(whole.rank(), 1);
  EXPECT_THAT(whole.strides(0), ElementsAre(1, 0));
  const Layout row = Layout::contiguous({4}).broadcast_to({2, 3, 4});
  const NdIter<3> mixed({&out, &out, &row});
  EXPECT_EQ(mixed.rank(), 2);
  EXPECT_EQ(mixed.extent(0), 4);
  EXPECT_EQ(mixed.extent(1), 6);
  EXPECT_THAT(mixed.strides(1), ElementsAre(4, 4, 0));
  const Layout column = Layout::contiguous({2, 1, 1}).broadcast_to({2, 3, 4});
  const NdIter<3> tail({&out, &out, &column});
  EXPECT_EQ(tail.rank(), 2);
  EXPECT_EQ(tail.extent(0), 12);
  EXPECT_THAT(tail.strides(0), ElementsAre(1, 1, 0));
}

TEST(NdIter, OffsetsOfAllOperands) {
  const Layout out = Layout::contiguous({2, 2}),
               in = Layout::contiguous({4, 4}).narrow(0, 1, 2).narrow(1, 2, 2);
  const NdIter<2> it({&out, &in});
  EXPECT_THAT(walk(it, 0, 4),
              ElementsAre(Place<2>{0, 6}, Place<2>{1, 7}, Place<2>{2, 10}, Place<2>{3, 11}));
  EXPECT_THAT(walk(it, 3, 4), ElementsAre(Place<2>{3, 11}));
  EXPECT_THAT(walk(it, 2, 2), IsEmpty());
}

TEST(NdIter, TransposedOutputIsWalkedInItsOwnOrder) {
  const Layout l = Layout::contiguous({3, 4, 5}).permute({2, 0, 1});
  const NdIter<2> it({&l, &l});
  EXPECT_EQ(it.rank(), 1);
  EXPECT_EQ(it.extent(0), 60);
  EXPECT_THAT(it.strides(0), ElementsAre(1, 1));
}

TEST(NdIter, FlipsMergeWithEachOther) {
  const Layout l = Layout::contiguous({3, 4}).flip(0).flip(1);
  const NdIter<2> it({&l, &l});
  EXPECT_EQ(it.rank(), 1);
  EXPECT_THAT(it.strides(0), ElementsAre(-1, -1));
  EXPECT_EQ(walk(it, 0, 12).front(), (Place<2>{11, 11}));
}

TEST(NdIter, SizeOneDimsWithAnyStrideVanish) {
  const Index big = std::numeric_limits<Index>::max(), small = std::numeric_limits<Index>::min();
  const Layout a{{1, 3, 1}, {big, 1, small}, 0}, b{{1, 3, 1}, {small, 2, big}, 1};
  const NdIter<2> it({&a, &b});
  EXPECT_EQ(it.rank(), 1);
  EXPECT_THAT(walk(it, 0, 3), ElementsAre(Place<2>{0, 1}, Place<2>{1, 3}, Place<2>{2, 5}));
}

TEST(NdIter, HugeBroadcastsDoNotOverflow) {
  const Layout l = Layout::contiguous({1}).broadcast_to({Index{1} << 31, Index{1} << 31});
  const NdIter<1> it({&l});
  EXPECT_EQ(it.size(), Index{1} << 62);
  EXPECT_THAT(walk(it, it.size() - 3, it.size()).size(), 3U);
}

/// A layout of this shape with any strides, zero and negative ones too.
Layout any_strides(const Dims& shape, Random& random, bool zeros) {
  Layout l{shape, Dims::filled(shape.rank(), 0), 0};
  const bool ordinary = random.chance(60);
  Index step = random.between(1, 2);
  for (int i = shape.rank() - 1; i >= 0; --i) {
    l.strides[i] = ordinary ? step : random.between(-9, 9);
    if (zeros && random.chance(25)) l.strides[i] = 0;
    if (random.chance(20)) l.strides[i] = -l.strides[i];
    step = step * shape[i] + (random.chance(25) ? random.below(4) : 0);
  }
  if (const auto e = extent(l)) l.offset = random.below(5) - e->low;
  return l;
}

/// Every element once, whatever the cuts.
template <std::size_t N>
void check_random(std::uint64_t seed, bool first_repeats) {
  Random random(seed);
  for (int round = 0; round < 2000; ++round) {
    const int max_rank = round % 50 == 0 ? kMaxRank : 5;
    const Dims shape = random_shape(random, max_rank, max_rank == kMaxRank ? 2 : 4);
    std::array<Layout, N> layouts;
    std::array<const Layout*, N> pointers;
    for (std::size_t k = 0; k < N; ++k) {
      layouts[k] = any_strides(shape, random, k > 0 || first_repeats);
      pointers[k] = &layouts[k];
    }
    const NdIter<N> it(pointers);
    auto want = by_index(pointers);
    ASSERT_EQ(it.size(), static_cast<Index>(want.size()));
    const auto whole = walk(it, 0, it.size());
    std::vector<Place<N>> pieces;
    for (Index begin = 0; begin < it.size();) {
      const Index end =
          std::min(it.size(), begin + random.between(1, std::max<Index>(1, it.size() / 2)));
      const auto piece = walk(it, begin, end);
      pieces.insert(pieces.end(), piece.begin(), piece.end());
      begin = end;
    }
    ASSERT_EQ(pieces, whole) << to_string(shape) << " round " << round;
    auto sorted = whole;
    std::sort(sorted.begin(), sorted.end());
    std::sort(want.begin(), want.end());
    ASSERT_EQ(sorted, want) << to_string(shape) << " round " << round;
  }
}

TEST(NdIter, EveryElementOnceInAnyPieces) {
  check_random<1>(1, true);
  check_random<2>(2, false);
  check_random<3>(3, false);
  check_random<3>(4, true);  // a lone operand or an input may come first and repeat elements
  check_random<4>(5, false);
}

TEST(NdIter, SameStridesMergeAsFarAsTheyCan) {
  // A whole permuted array is one run for operands of equal strides.
  Random random(6);
  for (int round = 0; round < 500; ++round) {
    const Dims shape = random_shape(random, 5, 4, 1);
    Layout l = Layout::contiguous(shape);
    for (int i = 0; i < 4 && l.rank() > 0; ++i)
      l = l.transpose(random.below(l.rank()), random.below(l.rank()));
    EXPECT_EQ(NdIter<2>({&l, &l}).rank(), 1) << to_string(l.shape) << to_string(l.strides);
  }
}

}  // namespace
}  // namespace wick
