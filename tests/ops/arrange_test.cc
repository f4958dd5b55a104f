// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/ops/rearranged.h"

// cat, stack, split, repeat, pad, roll, flip, triangles, eye, linspace, meshgrid, one_hot.

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

std::vector<f32> numbers(const Tensor& x) { return x.to_vector<f32>(); }

/// f32 0, 1, 2, ... of a shape.
Tensor counted(const Dims& shape) { return Tensor::arange(0, element_count(shape)).reshape(shape); }

// --- cat, stack ---

TEST(Cat, EveryDtypeDimAndView) {
  Random random(1);
  for (int round = 0; round < 1000; ++round) {
    const DType t = any_whole_dtype(random);
    const Tensor first = odd_bytes(t, random, 4, 5, 1);
    const int dim = static_cast<int>(random.below(first.rank()));
    std::vector<Tensor> pieces{first};
    for (Index more = random.below(4); more > 0; --more) {
      Dims shape = first.shape();
      shape[dim] = random.below(4);
      pieces.push_back(strided_empty(shape, t, random));
      for (Index i = 0; i < view(pieces.back().storage()).bytes; ++i)
        view(pieces.back().storage()).data[i] = static_cast<std::byte>(random.bits());
    }
    const Tensor y = cat(pieces, dim - (random.chance(50) ? first.rank() : 0));
    Index at = 0;
    for (const Tensor& p : pieces) {
      ASSERT_TRUE(same_bits(y.narrow(dim, at, p.size(dim)), p));
      at += p.size(dim);
    }
    ASSERT_EQ(y.size(dim), at);
    const Tensor out = strided_empty(y.shape(), t, random);
    cat_into(out, pieces, dim);
    ASSERT_TRUE(same_bits(out, y));
  }
}

TEST(Cat, C080_ZeroLengthAndTransposedPieces) {
  const Tensor a = counted({2, 3}).to_dtype(DType::f16), none = Tensor::empty({2, 0}, DType::f16);
  EXPECT_TRUE(same_bits(cat({none, a, none}, 1), a));
  EXPECT_EQ(cat({none, none}, 1).shape(), (Dims{2, 0}));
  EXPECT_EQ(cat({none, none}, 0).shape(), (Dims{4, 0}));
  const Tensor t = counted({3, 2}).t();
  EXPECT_TRUE(same_bits(cat({t, t.flip(0)}, 0), cat({t.copy(), t.flip(0).copy()}, 0)));
  EXPECT_TRUE(same_bits(cat({t, t.flip(0)}, 1), cat({t.copy(), t.flip(0).copy()}, 1)));
}

TEST(Cat, PackedElements) {
  const Tensor a = Tensor::from_vector<f32>({1, 2, 3}, {3}).to_dtype(DType::f4);
  const Tensor b = cat({a, a.flip(0), a.narrow(0, 0, 0), a}, 0);
  EXPECT_EQ(b.dtype(), DType::f4);
  EXPECT_THAT(numbers(b.to_dtype(DType::f32)), ElementsAre(1, 2, 3, 3, 2, 1, 1, 2, 3));
}

TEST(Cat, SameBitsForAnyThreadCountAndManyPieces) {
  std::vector<Tensor> columns, rows, flat;
  for (Index i = 0; i < 100; ++i) {
    const Tensor x = normal({1000, i % 5}, DType::f32, static_cast<std::uint64_t>(i));
    columns.push_back(x);
    rows.push_back(x.t());
    flat.push_back(normal({i * 37}, DType::f64, static_cast<std::uint64_t>(i)));
  }
  expect_same_bits_for_any_threads([&] { return cat(columns, 1); });
  expect_same_bits_for_any_threads([&] { return cat(rows, 0); });
  expect_same_bits_for_any_threads([&] { return cat(flat, 0); });
  EXPECT_TRUE(same_bits(cat(columns, 1), cat(rows, 0).t()));
  Index at = 0;
  const Tensor all = cat(flat, 0);
  for (const Tensor& x : flat) {
    EXPECT_TRUE(same_bits(all.narrow(0, at, x.size(0)), x));
    at += x.size(0);
  }
  const Tensor big = normal({3, 100000}, DType::f32, 7);
  expect_same_bits_for_any_threads([&] { return cat({big, big, big.narrow(1, 5, 1)}, 1); });
  EXPECT_TRUE(same_bits(cat({big, big}, 1).narrow(1, 100000, 100000), big));
}

TEST(Cat, Errors) {
  const Tensor x = Tensor::ones({2, 3});
  EXPECT_ERROR(cat({}, 0), argument);
  EXPECT_ERROR(cat({x}, 2), index);
  EXPECT_ERROR(cat({Tensor::scalar(1)}, 0), index);
  const Error e = error_of([&] { (void)cat({x, Tensor::ones({2, 4})}, 0); });
  EXPECT_EQ(e.kind(), ErrorKind::shape);
  EXPECT_THAT(e.what(), ::testing::AllOf(HasSubstr("[2, 3]"), HasSubstr("[2, 4]")));
  EXPECT_ERROR(cat({x, Tensor::ones({2})}, 0), shape);
  EXPECT_ERROR(cat({x, x.to_dtype(DType::f64)}, 0), dtype);
  EXPECT_ERROR(stack({x, Tensor::ones({3, 2})}, 0), shape);
  EXPECT_ERROR(stack({x}, 3), index);
  EXPECT_ERROR(stack({}, 0), argument);
  const Tensor wide = Tensor::zeros({1}).broadcast_as({Index{1} << 62});
  EXPECT_ERROR(cat({wide, wide}, 0), overflow);
  const Tensor out = Tensor::zeros({4, 3});
  EXPECT_ERROR(cat_into(out, {x, out.narrow(0, 0, 2)}, 0), overlap);
  EXPECT_ERROR(cat_into(out, {x, x, x}, 0), shape);
  EXPECT_TRUE(same_bits(out, Tensor::zeros({4, 3})));
}

TEST(Stack, EveryDim) {
  const Tensor a = counted({2, 3}), b = a.neg();
  for (const int dim : {0, 1, 2, -1, -3}) {
    const Tensor y = stack({a, b, a}, dim);
    ASSERT_EQ(y.rank(), 3);
    EXPECT_TRUE(same_bits(y.select(dim, 0), a));
    EXPECT_TRUE(same_bits(y.select(dim, 1), b));
    EXPECT_TRUE(same_bits(y.select(dim, 2), a));
    Random random(2);
    const Tensor out = strided_empty(y.shape(), DType::f32, random);
    stack_into(out, {a, b, a}, dim);
    EXPECT_TRUE(same_bits(out, y));
  }
  EXPECT_THAT(numbers(stack({Tensor::scalar(1), Tensor::scalar(2)}, 0)), ElementsAre(1, 2));
}

// --- views ---

TEST(Split, Pieces) {
  const Tensor x = counted({7, 2});
  const auto sizes = [](const std::vector<Tensor>& pieces, Index dim = 0) {
    std::vector<Index> all;
    for (const Tensor& p : pieces) all.push_back(p.size(dim));
    return all;
  };
  EXPECT_THAT(sizes(x.split(3)), ElementsAre(3, 3, 1));
  EXPECT_THAT(sizes(x.split(100)), ElementsAre(7));
  EXPECT_THAT(sizes(x.split(INT64_MAX)), ElementsAre(7));
  EXPECT_THAT(sizes(x.split(1, -1), 1), ElementsAre(1, 1));
  EXPECT_THAT(sizes(x.chunk(3)), ElementsAre(3, 3, 1));
  EXPECT_THAT(sizes(x.chunk(5)), ElementsAre(2, 2, 2, 1));  // fewer than asked for
  EXPECT_THAT(sizes(x.chunk(INT64_MAX)), ElementsAre(1, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(sizes(x.split_with_sizes({4, 0, 3})), ElementsAre(4, 0, 3));
  const Tensor none = Tensor::empty({0, 3});
  EXPECT_THAT(sizes(none.split(2)), ElementsAre(0));
  EXPECT_THAT(sizes(none.split(0)), ElementsAre(0));
  EXPECT_THAT(sizes(none.chunk(4)), ElementsAre(0));
  EXPECT_TRUE(none.split_with_sizes({}).empty());
  // Views.
  const Tensor t = x.t();
  const auto pieces = t.split(3, 1);
  EXPECT_TRUE(same_bits(pieces[1], t.narrow(1, 3, 3)));
  EXPECT_EQ(view(pieces[1].storage()).block, view(x.storage()).block);
  EXPECT_TRUE(same_bits(cat(pieces, 1), t));
  EXPECT_ERROR(x.split(0), argument);
  EXPECT_ERROR(x.split(-1), argument);
  EXPECT_ERROR(x.chunk(0), argument);
  EXPECT_ERROR(x.chunk(2, 2), index);
  EXPECT_ERROR(x.split_with_sizes({4, 4}), argument);
  EXPECT_ERROR(x.split_with_sizes({4}), argument);
  EXPECT_ERROR(x.split_with_sizes({8, -1}), argument);
  EXPECT_ERROR(x.split_with_sizes({INT64_MAX, INT64_MAX}), argument);
  EXPECT_ERROR(Tensor::zeros({1}).broadcast_as({Index{1} << 60}).split(1), out_of_memory);
}

TEST(Flip, SeveralDims) {
  const Tensor x = counted({2, 3, 2});
  EXPECT_TRUE(same_bits(x.flip({0, -1}), x.flip(0).flip(2)));
  EXPECT_TRUE(same_bits(x.flip(Dims{}), x));
  EXPECT_EQ(view(x.flip({0, 1}).storage()).block, view(x.storage()).block);
  EXPECT_ERROR(x.flip({0, -3}), argument);
  EXPECT_ERROR(x.flip({0, 3}), index);
}

TEST(Meshgrid, C080_AndBothIndexings) {
  const Tensor a = counted({2}), b = counted({3}).add(10);
  const auto ij = meshgrid({a, b}), xy = meshgrid({a, b}, MeshIndexing::xy);
  EXPECT_EQ(ij[0].shape(), (Dims{2, 3}));
  EXPECT_THAT(numbers(ij[0]), ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(numbers(ij[1]), ElementsAre(10, 11, 12, 10, 11, 12));
  EXPECT_TRUE(same_bits(xy[0], ij[0].t()));
  EXPECT_TRUE(same_bits(xy[1], ij[1].t()));
  EXPECT_EQ(view(ij[1].storage()).block, view(b.storage()).block);
  const auto empty = meshgrid({a, Tensor::empty({0}), b});
  ASSERT_EQ(empty.size(), 3U);
  for (const Tensor& t : empty) EXPECT_EQ(t.shape(), (Dims{2, 0, 3}));
  EXPECT_TRUE(meshgrid({}).empty());
  EXPECT_EQ(meshgrid({Tensor::scalar(1)})[0].shape(), (Dims{1}));
  EXPECT_EQ(meshgrid({b}, MeshIndexing::xy)[0].shape(), (Dims{3}));
  EXPECT_ERROR(meshgrid({counted({2, 2})}), shape);
  EXPECT_ERROR(meshgrid(std::vector<Tensor>(9, a)), shape);
  EXPECT_ERROR(fill_into(ij[0], 1), overlap);
  const Tensor wide = a.narrow(0, 0, 1).broadcast_as({Index{1} << 40});
  EXPECT_ERROR(meshgrid({wide, wide}), overflow);
}

// --- copies ---

TEST(Repeat, EveryDtypeAndView) {
  Random random(3);
  for (int round = 0; round < 600; ++round) {
    const Tensor x = odd_bytes(any_whole_dtype(random), random, 4, 4);
    Dims repeats;
    for (Index i = std::min<Index>(kMaxRank, x.rank() + random.below(3)); i > 0; --i)
      repeats.push_back(random.below(4));
    Dims shape = repeats;
    const int lead = repeats.rank() - x.rank();
    for (int i = lead; i < shape.rank(); ++i) shape[i] *= x.shape()[i - lead];
    const Tensor want = moved(x, shape, [&](const Dims& i) {
      Dims at = x.shape();
      for (int d = 0; d < at.rank(); ++d) at[d] = i[d + lead] % x.shape()[d];
      return at;
    });
    ASSERT_TRUE(same_bits(x.repeat(repeats), want));
    const Tensor out = strided_empty(shape, x.dtype(), random);
    repeat_into(out, x, repeats);
    ASSERT_TRUE(same_bits(out, want));
    tile_into(out, x, repeats);
    ASSERT_TRUE(same_bits(out, want));
  }
}

TEST(Repeat, C080_FactorsAndRanks) {
  const Tensor x = counted({2, 3});
  EXPECT_EQ(x.repeat({0, 2}).shape(), (Dims{0, 6}));
  EXPECT_EQ(x.repeat({0, 1, 1}).shape(), (Dims{0, 2, 3}));
  EXPECT_THAT(numbers(x.tile({2})), ElementsAre(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
  EXPECT_THAT(numbers(Tensor::scalar(4).repeat({3})), ElementsAre(4, 4, 4));
  EXPECT_THAT(numbers(Tensor::scalar(4).repeat({})), ElementsAre(4));
  // More pairs of dims than a tensor has dims.
  const Tensor deep = counted({2, 2, 2, 2, 2, 2, 2, 2}).transpose(0, 5);
  const Tensor wide = deep.repeat({2, 1, 3, 2, 1, 2, 2, 2});
  EXPECT_TRUE(same_bits(
      wide.narrow(0, 2, 2).narrow(2, 4, 2).narrow(3, 0, 2).narrow(5, 2, 2).narrow(6, 0, 2).narrow(
          7, 2, 2),
      deep));
  const Tensor packed = Tensor::from_vector<f32>({1, 2, 3}, {3}).to_dtype(DType::f4).repeat({2});
  EXPECT_THAT(numbers(packed.to_dtype(DType::f32)), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_ERROR(x.repeat({2}), argument);
  EXPECT_ERROR(x.repeat({2, -1}), argument);
  EXPECT_ERROR(x.repeat({Index{1} << 62, 2}), overflow);
  EXPECT_ERROR(x.repeat({Index{1} << 40, Index{1} << 40}), overflow);
  EXPECT_ERROR(counted({1}).repeat({1, 1, 1, 1, 1, 1, 1, 1, 1}), shape);
  EXPECT_ERROR(repeat_into(x, x, {1, 1}), overlap);
}

TEST(Pad, EveryModeDtypeAndView) {
  Random random(4);
  for (int round = 0; round < 1200; ++round) {
    const DType t = kTen[random.below(10)];
    const Tensor x =
        random_view(odd_tensor(random_shape(random, 4, 5), t, random, Values::any), random);
    const auto mode = static_cast<PadMode>(random.below(3));
    Dims before, after, shape;
    for (const Index n : x.shape()) {
      const Index most = mode == PadMode::constant  ? 3
                         : mode == PadMode::reflect ? std::max<Index>(n - 1, 0)
                                                    : (n > 0 ? 3 : 0);
      before.push_back(random.between(0, most));
      after.push_back(random.between(0, most));
      shape.push_back(before.last(1) + n + after.last(1));
    }
    const Tensor value = Tensor::scalar(3, t);
    const Tensor want = Tensor::empty(shape, t);
    for_each_index(shape, [&](const Dims& i) {
      Dims at = i;
      bool inside = true;
      for (int d = 0; d < at.rank(); ++d) {
        const Index n = x.shape()[d];
        Index k = i[d] - before[d];
        inside &= k >= 0 && k < n;
        if (mode == PadMode::reflect) k = k < 0 ? -k : k >= n ? 2 * (n - 1) - k : k;
        if (mode == PadMode::replicate) k = std::clamp<Index>(k, 0, n - 1);
        at[d] = k;
      }
      const bool outside = !inside && mode == PadMode::constant;
      copy_into({want.storage(), {{}, {}, offset_of(want.layout(), i)}},
                outside ? value : Tensor(x.storage(), {{}, {}, offset_of(x.layout(), at)}));
    });
    ASSERT_TRUE(same_bits(x.pad(before, after, mode, 3), want));
    const Tensor out = strided_empty(shape, t, random);
    pad_into(out, x, before, after, mode, 3);
    ASSERT_TRUE(same_bits(out, want));
  }
}

TEST(Pad, ExamplesAndErrors) {
  const Tensor x = counted({3}).add(1);
  EXPECT_THAT(numbers(x.pad({2}, {1})), ElementsAre(0, 0, 1, 2, 3, 0));
  EXPECT_THAT(numbers(x.pad(0, 2, 2, PadMode::reflect)), ElementsAre(3, 2, 1, 2, 3, 2, 1));
  EXPECT_THAT(numbers(x.pad(-1, 1, 2, PadMode::replicate)), ElementsAre(1, 1, 2, 3, 3, 3));
  EXPECT_EQ(x.pad({0}, {0}).shape(), (Dims{3}));
  EXPECT_THAT(numbers(Tensor::empty({0}).pad(0, 1, 1, PadMode::constant, 7)), ElementsAre(7, 7));
  EXPECT_EQ(Tensor::empty({0, 2}).pad({0, 1}, {0, 1}, PadMode::replicate).shape(), (Dims{0, 4}));
  EXPECT_EQ(Tensor::scalar(1).pad({}, {}).item<f32>(), 1);
  EXPECT_ERROR(x.pad(0, 3, 0, PadMode::reflect), argument);
  EXPECT_ERROR(Tensor::empty({0}).pad(0, 1, 0, PadMode::replicate), argument);
  EXPECT_ERROR(x.pad(0, -1, 0), argument);
  EXPECT_ERROR(x.pad({1, 1}, {1}), argument);
  EXPECT_ERROR(x.pad(1, 1, 1), index);
  EXPECT_ERROR(x.pad(0, INT64_MAX, INT64_MAX), overflow);
  EXPECT_ERROR(x.pad(0, Index{1} << 61, 0), overflow);
  EXPECT_ERROR(pad_into(x, x, {0}, {0}), overlap);
  EXPECT_ERROR(pad_into(Tensor::zeros({4}), x, {1}, {1}), shape);
}

TEST(Roll, EveryDtypeAndView) {
  Random random(5);
  for (int round = 0; round < 600; ++round) {
    const Tensor x = odd_bytes(any_whole_dtype(random), random, 4, 5, 1);
    Dims shifts, dims, total = Dims::filled(x.rank(), 0);
    for (Index k = random.below(4); k > 0; --k) {
      dims.push_back(random.below(x.rank()));
      shifts.push_back(random.between(-12, 12));
      total[static_cast<int>(dims.last(1))] += shifts.last(1);
    }
    const Tensor want = moved(x, x.shape(), [&](const Dims& i) {
      Dims at = i;
      for (int d = 0; d < at.rank(); ++d) {
        const Index n = x.shape()[d];
        at[d] = ((i[d] - total[d]) % n + n) % n;
      }
      return at;
    });
    ASSERT_TRUE(same_bits(x.roll(shifts, dims), want));
    const Tensor out = strided_empty(x.shape(), x.dtype(), random);
    roll_into(out, x, shifts, dims);
    ASSERT_TRUE(same_bits(out, want));
  }
  const Tensor x = counted({4});
  EXPECT_THAT(numbers(x.roll(1, 0)), ElementsAre(3, 0, 1, 2));
  EXPECT_THAT(numbers(x.roll(INT64_MIN + 1, -1)), ElementsAre(3, 0, 1, 2));
  EXPECT_THAT(numbers(x.roll(INT64_MIN, -1)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(numbers(x.roll({INT64_MAX, INT64_MAX}, {0, 0})), ElementsAre(2, 3, 0, 1));
  EXPECT_ERROR(x.roll({1, 2}, {0}), argument);
  EXPECT_ERROR(x.roll(1, 1), index);
  EXPECT_ERROR(roll_into(x, x, {1}, {0}), overlap);
}

TEST(Triangle, C086_EveryDtypeDiagonalAndView) {
  EXPECT_THAT(numbers(Tensor::ones({2, 3}).triu(1)), ElementsAre(0, 1, 1, 0, 0, 1));
  Random random(6);
  for (int round = 0; round < 800; ++round) {
    const DType t = kTen[random.below(10)];
    Dims shape = random_shape(random, 2, 3);
    // Blocks of rows end at 64.
    const Index most = random.chance(10) ? 150 : 9;
    shape.push_back(random.between(0, most));
    shape.push_back(random.between(0, most));
    const Tensor x = random_view(odd_tensor(shape, t, random, Values::any), random);
    if (x.rank() < 2) continue;
    const Index diagonal = random.chance(10) ? (random.chance(50) ? INT64_MIN : INT64_MAX)
                                             : random.between(-most - 2, most + 2);
    for (const bool upper : {false, true}) {
      const Tensor want = compact(x);
      const auto width = static_cast<std::size_t>(bits(t) / 8);
      for_each_index(x.shape(), [&](const Dims& i) {
        const Index d = i.last(1) - i.last(2);
        if (upper ? d < diagonal : d > diagonal)
          std::memset(view(want.storage()).data +
                          static_cast<std::size_t>(offset_of(want.layout(), i)) * width,
                      0, width);
      });
      ASSERT_TRUE(same_bits(upper ? x.triu(diagonal) : x.tril(diagonal), want))
          << to_string(x.shape()) << " " << diagonal;
      const Tensor out = strided_empty(x.shape(), t, random);
      upper ? triu_into(out, x, diagonal) : tril_into(out, x, diagonal);
      ASSERT_TRUE(same_bits(out, want));
      copy_into(out, x);
      upper ? triu_into(out, out, diagonal) : tril_into(out, out, diagonal);
      ASSERT_TRUE(same_bits(out, want));
    }
  }
  EXPECT_ERROR(counted({3}).tril(), shape);
  EXPECT_ERROR(Tensor::zeros({2, 2}, DType::f4).triu(), unsupported_dtype);
  const Tensor square = counted({3, 3});
  EXPECT_ERROR(tril_into(square.t(), square), overlap);
}

TEST(Eye, C086_NotSquare) {
  EXPECT_THAT(numbers(Tensor::eye(2, 3)), ElementsAre(1, 0, 0, 0, 1, 0));
  EXPECT_THAT(numbers(Tensor::eye(3, 2)), ElementsAre(1, 0, 0, 1, 0, 0));
  EXPECT_EQ(Tensor::eye(4, DType::i64).sum().item<i64>(), 4);
  EXPECT_EQ(Tensor::eye(0, 3).shape(), (Dims{0, 3}));
  for (const DType t : kTen)
    EXPECT_TRUE(same_bits(Tensor::eye(3, t), Tensor::ones({3, 3}, t).tril().triu()));
  Random random(7);
  const Tensor out = strided_empty({3, 5}, DType::f32, random);
  eye_into(out);
  EXPECT_TRUE(same_bits(out, Tensor::eye(3, 5)));
  EXPECT_ERROR(Tensor::eye(-1), shape);
  EXPECT_ERROR(eye_into(counted({3})), shape);
  EXPECT_ERROR(eye_into(counted({1}).broadcast_as({2, 2})), overlap);
}

TEST(Linspace, EndsAndSteps) {
  EXPECT_THAT(Tensor::linspace(0, 1, 11, DType::f64).to_vector<f64>(),
              ElementsAre(0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1));
  EXPECT_THAT(numbers(Tensor::linspace(3, -1, 5)), ElementsAre(3, 2, 1, 0, -1));
  EXPECT_THAT(Tensor::linspace(0, 10, 5, DType::i32).to_vector<i32>(), ElementsAre(0, 2, 5, 7, 10));
  EXPECT_THAT(numbers(Tensor::linspace(7, 9, 1)), ElementsAre(7));
  EXPECT_EQ(Tensor::linspace(7, 9, 0).shape(), (Dims{0}));
  const auto huge = Tensor::linspace(-1.7e308, 1.7e308, 3, DType::f64).to_vector<f64>();
  EXPECT_THAT(huge, ElementsAre(-1.7e308, 0, 1.7e308));
  EXPECT_EQ(Tensor::linspace(0, INT64_MAX, 2, DType::i64).select(0, 1).item<i64>(), INT64_MAX);
  for (const DType t : kTen)
    expect_same_bits_for_any_threads([&] { return Tensor::linspace(-3.5, 100, 100001, t); });
  Random random(8);
  const Tensor out = strided_empty({9}, DType::f64, random);
  linspace_into(out, -1, 1);
  EXPECT_TRUE(same_bits(out, Tensor::linspace(-1, 1, 9, DType::f64)));
  EXPECT_ERROR(Tensor::linspace(0, 1, -1), argument);
  EXPECT_ERROR(Tensor::linspace(0, INFINITY, 3), argument);
  EXPECT_ERROR(Tensor::linspace(NAN, 1, 3), argument);
  EXPECT_ERROR(Tensor::linspace(0, 1, 3, DType::f4), unsupported_dtype);
  EXPECT_ERROR(linspace_into(counted({2, 2}), 0, 1), shape);
}

// C084.
TEST(Arange, C084_CountAndValues) {
  const auto a = Tensor::arange(0.1, 0.5, 0.05, DType::f64).to_vector<f64>();
  ASSERT_EQ(a.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(a[i], 0.1 + static_cast<f64>(i) * 0.05);
  EXPECT_EQ(Tensor::arange(0, 1, 0.2).element_count(), 5);
}

TEST(OneHot, EveryDtype) {
  Random random(9);
  for (int round = 0; round < 200; ++round) {
    const DType t = kTen[random.below(10)];
    const Index classes = random.between(1, 7);
    const Tensor ids = odd_ids(random_shape(random, 3, 5), classes, random);
    const Dims shape = ids.shape().inserted(ids.rank(), classes);
    const Tensor want =
        moved(Tensor::from_vector<f32>({2, 5}, {2}).to_dtype(t), shape,
              [&](const Dims& i) { return Dims{id_at(ids, i.erased(i.rank() - 1)) == i.last(1)}; });
    ASSERT_TRUE(same_bits(ids.one_hot(classes, t, 5, 2), want));
    const Tensor out = strided_empty(shape, t, random);
    one_hot_into(out, ids, 5, 2);
    ASSERT_TRUE(same_bits(out, want));
  }
  const Tensor ids = Tensor::from_vector<i64>({1, 3}, {2});
  EXPECT_THAT(numbers(ids.one_hot(4)), ElementsAre(0, 1, 0, 0, 0, 0, 0, 1));
  EXPECT_ERROR(ids.one_hot(3), index);
  EXPECT_ERROR(Tensor::from_vector<i64>({-1}, {1}).one_hot(3), index);
  EXPECT_ERROR(ids.one_hot(-1), argument);
  EXPECT_EQ(Tensor::empty({0}, DType::u8).one_hot(0).shape(), (Dims{0, 0}));
  EXPECT_ERROR(ids.one_hot(Index{1} << 61), overflow);
  EXPECT_ERROR(ids.one_hot(4, DType::f4), unsupported_dtype);
  EXPECT_ERROR(ids.to_dtype(DType::f32).one_hot(4), unsupported_dtype);
  const Tensor out = Tensor::full({2, 3}, 9);
  EXPECT_ERROR(one_hot_into(out, ids), index);
  EXPECT_TRUE(same_bits(out, Tensor::full({2, 3}, 9)));
}

TEST(Building, SameBitsForAnyThreadCount) {
  const Tensor x = normal({70, 300, 20}, DType::f32, 11).transpose(0, 1);
  expect_same_bits_for_any_threads([&] { return x.repeat({2, 1, 3}); });
  for (const PadMode mode : {PadMode::constant, PadMode::reflect, PadMode::replicate})
    expect_same_bits_for_any_threads([&] { return x.pad({3, 2, 1}, {0, 60, 9}, mode, 4); });
  expect_same_bits_for_any_threads([&] { return x.roll({5, -7}, {0, 1}); });
  expect_same_bits_for_any_threads([&] { return x.tril(-2); });
  expect_same_bits_for_any_threads([&] { return x.transpose(1, 2).triu(100); });
  expect_same_bits_for_any_threads([&] { return stack({x, x}, 3); });
  expect_same_bits_for_any_threads([&] { return Tensor::eye(700); });
  expect_same_bits_for_any_threads(
      [&] { return Tensor::arange(0, 5000, 1, DType::i64).rem(99).one_hot(99); });
}

}  // namespace
}  // namespace wick
