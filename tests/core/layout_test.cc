// SPDX-License-Identifier: Apache-2.0
#include "wick/core/layout.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tests/views.h"

namespace wick {
namespace {

using ::testing::ElementsAre;
using testing::for_each_index;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::offset_of;
using testing::offsets_of;
using testing::Random;
using testing::random_shape;
using testing::random_view;

constexpr Index kHuge = Index{1} << 40;
constexpr Index kMax = std::numeric_limits<Index>::max();
constexpr Index kMin = std::numeric_limits<Index>::min();

TEST(Dims, AtMostEight) {
  Dims d = Dims::filled(kMaxRank, 2);
  EXPECT_EQ(d.rank(), 8);
  EXPECT_ERROR(d.push_back(1), shape);
  EXPECT_ERROR(Dims::filled(9, 1), shape);
  EXPECT_ERROR(d.inserted(0, 1), shape);
  EXPECT_EQ(Dims({1, 2, 3}).erased(1), Dims({1, 3}));
  EXPECT_EQ(Dims({1, 2}).inserted(2, 9), Dims({1, 2, 9}));
  EXPECT_EQ(to_string(Dims{}), "[]");
  EXPECT_EQ(to_string(Dims{2, 3}), "[2, 3]");
}

TEST(ElementCount, ChecksBeforeItMultiplies) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3}), 6);
  EXPECT_ERROR(element_count({Index{1} << 32, Index{1} << 32}), overflow);
  EXPECT_ERROR(element_count({2, -1}), shape);
  EXPECT_ERROR(element_count({0, -1}), shape);
  // A zero wins wherever it stands.
  for (const Dims& shape : {Dims{kMax, 2, 0}, Dims{0, kMax, 2}, Dims{kMax, 0, 2}}) {
    EXPECT_EQ(element_count(shape), 0);
    const Layout l = Layout::contiguous(shape);
    EXPECT_EQ(l.size(), 0);
    EXPECT_TRUE(l.is_contiguous());
    EXPECT_FALSE(extent(l));
    EXPECT_FALSE(self_overlaps(l));
    EXPECT_EQ(StridedBlocks(l).block * StridedBlocks(l).count, 0);
  }
  EXPECT_TRUE((Layout{{0, kHuge, kHuge}, {kHuge, kHuge, 1}, 0}.is_contiguous()));
}

TEST(NormalizeAxis, NamesTheOp) {
  EXPECT_EQ(normalize_axis(-1, 3, "sum"), 2);
  EXPECT_EQ(normalize_axis(0, 3, "sum"), 0);
  for (const Index bad : {Index{3}, Index{-4}, Index{-100}, kMax, kMin}) {
    const Error e = testing::error_of([&] { normalize_axis(bad, 3, "sum"); });
    EXPECT_EQ(e.kind(), ErrorKind::index);
    EXPECT_EQ(e.op(), "sum");
  }
  EXPECT_ERROR(normalize_axis(0, 0, "sum"), index);
}

TEST(BroadcastShapes, AsNumPy) {
  EXPECT_EQ(broadcast_shapes({}, {2, 3}, "add"), Dims({2, 3}));
  EXPECT_EQ(broadcast_shapes({3, 1}, {2, 1, 4}, "add"), Dims({2, 3, 4}));
  EXPECT_EQ(broadcast_shapes({0}, {1}, "add"), Dims({0}));
  EXPECT_EQ(broadcast_shapes({1, 3}, {0, 1}, "add"), Dims({0, 3}));
  EXPECT_ERROR(broadcast_shapes({0}, {2}, "add"), shape);
  const Error e = testing::error_of([] { broadcast_shapes({2, 3}, {4}, "add"); });
  EXPECT_THAT(e.what(), ::testing::AllOf(HasSubstr("add"), HasSubstr("[2, 3]"), HasSubstr("[4]")));
}

TEST(Layout, ContiguousStrides) {
  const Layout l = Layout::contiguous({2, 3, 4});
  EXPECT_THAT(std::vector<Index>(l.strides.begin(), l.strides.end()), ElementsAre(12, 4, 1));
  EXPECT_TRUE(l.is_contiguous());
  EXPECT_FALSE(l.transpose(0, 1).is_contiguous());
  EXPECT_TRUE(l.narrow(0, 1, 1).is_contiguous());
  EXPECT_FALSE(l.narrow(2, 0, 2).is_contiguous());
  EXPECT_TRUE(l.narrow(1, 0, 0).is_contiguous());
  EXPECT_FALSE(l.flip(0).is_contiguous());
  EXPECT_TRUE((Layout{{1, 3}, {77, 1}, 5}.is_contiguous()));
  EXPECT_TRUE(Layout::contiguous({}).is_contiguous());
}

// Every view against the definition of what its elements are.
TEST(Layout, ViewsSeeTheRightElements) {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    const Layout base = random_view(Layout::contiguous(random_shape(random, 4, 4)), random);
    const int rank = base.rank();
    if (rank == 0 || rank > 6) continue;
    const int a = static_cast<int>(random.below(rank)), b = static_cast<int>(random.below(rank));
    const Index n = base.shape[a];
    const auto check = [&](const Layout& l, auto&& source) {
      for_each_index(
          l.shape, [&](const Dims& i) { ASSERT_EQ(offset_of(l, i), offset_of(base, source(i))); });
    };
    check(base.transpose(a, b - rank), [&](Dims i) {
      std::swap(i[a], i[b]);
      return i;
    });
    const Index start = random.between(0, n), length = random.between(0, n - start);
    const Layout part = base.narrow(a, start, length);
    EXPECT_EQ(part.shape[a], length);
    check(part, [&](Dims i) {
      i[a] += start;
      return i;
    });
    check(base.flip(a), [&](Dims i) {
      i[a] = n - 1 - i[a];
      return i;
    });
    check(base.unsqueeze(b), [&](const Dims& i) { return i.erased(b); });
    if (n == 1) {
      check(base.squeeze(a), [&](const Dims& i) { return i.inserted(a, 0); });
      Dims wide = base.shape;
      wide[a] = 3;
      check(base.broadcast_to(wide), [&](Dims i) {
        i[a] = 0;
        return i;
      });
    } else {
      EXPECT_EQ(base.squeeze(a), base);
    }
  }
}

TEST(Layout, Permute) {
  const Layout l = Layout::contiguous({2, 3, 4}).permute({2, -3, 1});
  EXPECT_EQ(l.shape, Dims({4, 2, 3}));
  EXPECT_EQ(l.strides, Dims({1, 12, 4}));
  EXPECT_ERROR(Layout::contiguous({2, 3}).permute({0}), argument);
  EXPECT_ERROR(Layout::contiguous({2, 3}).permute({0, 0}), argument);
  EXPECT_ERROR(Layout::contiguous({2, 3}).permute({0, -2}), argument);
  EXPECT_ERROR(Layout::contiguous({2, 3}).permute({0, 2}), index);
}

TEST(Layout, NarrowBounds) {
  const Layout l = Layout::contiguous({2, 3});
  EXPECT_EQ(l.narrow(1, 3, 0).size(), 0);
  for (const auto& [start, length] : {std::pair<Index, Index>{0, 4},
                                      {3, 1},
                                      {4, 0},
                                      {-1, 1},
                                      {0, -1},
                                      {1, kMax},
                                      {kMax, 1},
                                      {kMin, 1}})
    EXPECT_ERROR(l.narrow(1, start, length), index);
  EXPECT_ERROR(l.narrow(2, 0, 1), index);
}

TEST(Layout, SliceIsPythonsRange) {
  for (Index n = 0; n <= 6; ++n)
    for (Index start = 0; start <= n; ++start)
      for (Index stop = -1; stop <= n; ++stop)
        for (const Index step : {Index{1}, Index{2}, Index{3}, Index{7}, kMax, Index{-1}, Index{-2},
                                 Index{-3}, Index{-7}, kMin}) {
          std::vector<Index> want;
          if (step > 0) {
            for (Index i = start; i < stop; i += step) {
              want.push_back(3 * i + 5);
              if (step > n) break;
            }
          } else {
            for (Index i = start; i > stop && i < n; i += step) {
              want.push_back(3 * i + 5);
              if (step < -n) break;
            }
          }
          if (step < 0 && start == n && n > 0) continue;  // outside: an error
          const Layout l = Layout{{n}, {3}, 5}.slice(0, start, stop, step);
          ASSERT_EQ(offsets_of(l), want) << n << ": " << start << ":" << stop << ":" << step;
        }
  const Layout l = Layout::contiguous({4});
  EXPECT_ERROR(l.slice(0, 0, 4, 0), index);
  EXPECT_ERROR(l.slice(0, 0, 5, 1), index);
  EXPECT_ERROR(l.slice(0, -1, 4, 1), index);
  EXPECT_ERROR(l.slice(0, 5, 5, 1), index);
  EXPECT_ERROR(l.slice(0, 4, -1, -1), index);
  EXPECT_ERROR(l.slice(0, 3, -2, -1), index);
  EXPECT_ERROR(l.slice(0, kMax, kMax, 1), index);
}

TEST(Layout, BroadcastErrorsAndHugeShapes) {
  EXPECT_ERROR(Layout::contiguous({2}).broadcast_to({3}), shape);
  EXPECT_ERROR(Layout::contiguous({2, 1}).broadcast_to({2}), shape);
  EXPECT_ERROR(Layout::contiguous({1}).broadcast_to({-1}), shape);
  EXPECT_ERROR(Layout::contiguous({1}).broadcast_to({kHuge, kHuge}), overflow);
  EXPECT_EQ(Layout::contiguous({1}).broadcast_to({0}).size(), 0);
  // A view of one element that claims nearly all the indices there are.
  const Layout l = Layout::contiguous({1}).broadcast_to({kHuge, Index{1} << 22});
  EXPECT_EQ(l.size(), kHuge << 22);
  EXPECT_EQ(l.flip(0).slice(1, 5, 4000000, 3).transpose(0, 1).offset, 0);
  EXPECT_EQ(l.unsqueeze(0).unsqueeze(2).squeeze(0).shape, Dims({kHuge, 1, Index{1} << 22}));
  EXPECT_TRUE(self_overlaps(l));
  EXPECT_TRUE(may_overlap(l, l));
  ASSERT_TRUE(l.reshape({kHuge << 22}));
  EXPECT_EQ(l.reshape({kHuge << 22})->strides, Dims{0});
  EXPECT_ERROR(l.reshape({kHuge, kHuge}), overflow);
}

TEST(Layout, AnyStrideOnSizeOne) {
  // Nobody steps along a dim of size 1: its stride may be anything.
  for (const Index stride : {kMin, kMax, Index{-1}, Index{0}}) {
    const Layout l{{1, 3}, {stride, 1}, 0};
    EXPECT_TRUE(l.is_contiguous());
    EXPECT_THAT(offsets_of(l.flip(0)), ElementsAre(0, 1, 2));
    EXPECT_THAT(offsets_of(l.slice(0, 0, 1, 5)), ElementsAre(0, 1, 2));
    EXPECT_THAT(offsets_of(l.broadcast_to({2, 3})), ElementsAre(0, 1, 2, 0, 1, 2));
    EXPECT_THAT(offsets_of(l.unsqueeze(0)), ElementsAre(0, 1, 2));
    EXPECT_THAT(offsets_of(*l.reshape({3})), ElementsAre(0, 1, 2));
    EXPECT_FALSE(self_overlaps(l));
    EXPECT_TRUE(may_overlap(l, Layout::contiguous({3})));
  }
}

/// The view of another shape on the same elements, worked out from the elements alone.
bool reshape_exists(const std::vector<Index>& all, const Dims& target) {
  if (all.empty()) return true;
  Layout l{target, Dims::filled(target.rank(), 0), all[0]};
  Index place = 1;  // the row-major number of the element one step along a dim
  for (int i = target.rank() - 1; i >= 0; --i) {
    if (target[i] > 1) l.strides[i] = all[static_cast<std::size_t>(place)] - all[0];
    place *= target[i];
  }
  return offsets_of(l) == all;
}

TEST(Layout, ReshapeWhereverAViewExists) {
  Random random(2);
  int views = 0, copies = 0;
  for (int round = 0; round < 6000; ++round) {
    const Layout base = random_view(Layout::contiguous(random_shape(random, 4, 4)), random);
    const Index n = base.size();
    Dims target;
    Index rest = n;
    if (n == 0) {
      target = {2, 0, 3};
    } else {
      while (rest > 1 && target.rank() < 5) {
        std::vector<Index> divisors;
        for (Index k = 1; k <= rest; ++k)
          if (rest % k == 0) divisors.push_back(k);
        target.push_back(
            divisors[static_cast<std::size_t>(random.below(static_cast<Index>(divisors.size())))]);
        rest /= target.last(1);
      }
      if (rest > 1 || random.chance(20)) target.push_back(rest);
    }
    const auto all = offsets_of(base);
    const auto l = base.reshape(target);
    ASSERT_EQ(l.has_value(), reshape_exists(all, target))
        << to_string(base.shape) << to_string(base.strides) << " as " << to_string(target);
    (l ? views : copies)++;
    if (!l) continue;
    ASSERT_EQ(offsets_of(*l), all);
    ASSERT_EQ(l->shape, target);
  }
  EXPECT_GT(views, 1000);
  EXPECT_GT(copies, 100);
}

TEST(Layout, ReshapeErrors) {
  const Layout l = Layout::contiguous({2, 8});
  EXPECT_ERROR(l.reshape({1, 8}), shape);
  EXPECT_ERROR(l.reshape({-1, 8}), shape);
  EXPECT_ERROR(l.reshape({}), shape);
  EXPECT_TRUE(Layout::contiguous({1, 1}).reshape({}));
  EXPECT_TRUE(Layout::contiguous({0, kHuge, kHuge}).reshape({kHuge, 0, kHuge}));
}

/// Any strides: what a caller may hand over.
Layout any_layout(Random& random) {
  const Dims shape = random_shape(random, 3, 4);
  Layout l{shape, Dims::filled(shape.rank(), 0), 0};
  for (int i = 0; i < l.rank(); ++i) l.strides[i] = random.between(-8, 8);
  if (const auto e = extent(l)) l.offset = random.below(6) - e->low;
  return l;
}

bool share(const std::vector<Index>& a, const std::vector<Index>& b) {
  const std::set<Index> places(a.begin(), a.end());
  return std::any_of(b.begin(), b.end(), [&](Index i) { return places.contains(i); });
}

TEST(Overlap, NeverDenied) {
  Random random(3);
  // Views of one array: the ordinary case; then layouts without any order.
  for (const bool views : {true, false}) {
    int apart = 0, feared = 0;
    for (int round = 0; round < 20000; ++round) {
      Layout a, b;
      if (views) {
        const Layout base = Layout::contiguous(random_shape(random, 3, 6, 1));
        a = random_view(base, random);
        b = random_view(base, random);
      } else {
        a = any_layout(random);
        b = any_layout(random);
      }
      const bool truly = share(offsets_of(a), offsets_of(b));
      if (truly) {
        ASSERT_TRUE(may_overlap(a, b))
            << to_string(a.shape) << to_string(a.strides) << a.offset << " and "
            << to_string(b.shape) << to_string(b.strides) << b.offset;
        ASSERT_TRUE(may_overlap(b, a));
      } else {
        ++apart;
        feared += may_overlap(a, b) ? 1 : 0;
      }
    }
    // Of the pairs that are apart, 2 in 1000 views and 60 in 1000 layouts without any order are
    // taken for overlapping.
    EXPECT_LT(feared * 1000, apart * (views ? 5 : 100));
  }
}

TEST(Overlap, ColumnsAndRowsAreApart) {
  const Layout m = Layout::contiguous({8, 12});
  EXPECT_FALSE(may_overlap(m.narrow(1, 0, 6), m.narrow(1, 6, 6)));
  EXPECT_TRUE(may_overlap(m.narrow(1, 0, 7), m.narrow(1, 6, 6)));
  EXPECT_FALSE(may_overlap(m.slice(1, 0, 12, 2), m.slice(1, 1, 12, 2)));
  EXPECT_FALSE(may_overlap(m.slice(0, 0, 8, 2), m.slice(0, 1, 8, 2).flip(0)));
  EXPECT_FALSE(may_overlap(m.narrow(0, 0, 4), m.narrow(0, 4, 4)));
  EXPECT_FALSE(may_overlap(m.narrow(0, 0, 0), m));
  EXPECT_TRUE(may_overlap(m, m.transpose(0, 1)));
  // Quarters of a matrix whose extents interleave.
  EXPECT_FALSE(may_overlap(m.narrow(0, 0, 5).narrow(1, 0, 6), m.narrow(0, 3, 5).narrow(1, 6, 6)));
}

TEST(Overlap, SelfIsNeverDenied) {
  Random random(4);
  int apart = 0, feared = 0;
  for (int round = 0; round < 20000; ++round) {
    const Layout l = round % 2 == 0
                         ? any_layout(random)
                         : random_view(Layout::contiguous(random_shape(random, 3, 5)), random);
    const auto all = offsets_of(l);
    const bool truly = std::set<Index>(all.begin(), all.end()).size() != all.size();
    if (truly) {
      ASSERT_TRUE(self_overlaps(l)) << to_string(l.shape) << to_string(l.strides);
    } else if (round % 2 == 0) {
      ++apart;
      feared += self_overlaps(l) ? 1 : 0;
    } else {
      ASSERT_FALSE(self_overlaps(l)) << to_string(l.shape) << to_string(l.strides);
    }
  }
  EXPECT_LT(feared * 10, apart);  // views of an array are always told right, any strides mostly
}

TEST(StridedBlocks, CoverTheElementsInOrder) {
  Random random(5);
  for (int round = 0; round < 5000; ++round) {
    const Layout l = random_view(Layout::contiguous(random_shape(random, 4, 4)), random);
    const StridedBlocks s(l);
    std::vector<Index> all;
    for (const Index start : offsets_of(s.starts))
      for (Index i = 0; i < s.block; ++i) all.push_back(start + i);
    ASSERT_EQ(all, offsets_of(l)) << to_string(l.shape) << to_string(l.strides);
    ASSERT_EQ(s.block * s.count, l.size());
    if (l.is_contiguous()) {
      ASSERT_EQ(s.form, StridedBlocks::Form::single);
    } else {
      ASSERT_EQ(s.form, s.block > 1 ? StridedBlocks::Form::uniform : StridedBlocks::Form::general);
    }
  }
}

TEST(StridedBlocks, FormsOfKnownViews) {
  using Form = StridedBlocks::Form;
  const Layout l = Layout::contiguous({2, 3, 4});
  const auto form = [](const Layout& x) { return StridedBlocks(x).form; };
  EXPECT_EQ(form(l), Form::single);
  EXPECT_EQ(form(l.narrow(0, 1, 1)), Form::single);
  EXPECT_EQ(form(l.narrow(1, 1, 2)), Form::uniform);
  EXPECT_EQ(StridedBlocks(l.narrow(1, 1, 2)).block, 8);
  EXPECT_EQ(StridedBlocks(l.narrow(1, 1, 2)).starts.offset, 4);
  EXPECT_EQ(form(l.transpose(0, 1)), Form::uniform);
  EXPECT_EQ(StridedBlocks(l.transpose(0, 1)).count, 6);
  EXPECT_EQ(form(l.transpose(0, 2)), Form::general);
  EXPECT_EQ(form(l.flip(2)), Form::general);
  EXPECT_EQ(form(Layout::contiguous({})), Form::single);
  EXPECT_THAT(offsets_of(StridedBlocks(Layout::contiguous({0})).starts),
              ::testing::SizeIs(::testing::Le(1)));
}

}  // namespace
}  // namespace wick
