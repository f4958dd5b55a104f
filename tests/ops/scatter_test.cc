// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/ops/rearranged.h"

// gather, scatter, scatter_add, index_add, slice_assign, masked_fill.

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
Tensor vec(const std::vector<T>& v) {
  return Tensor::from_vector(v, {static_cast<Index>(v.size())});
}

Dims with(Dims at, int dim, Index value) {
  at[dim] = value;
  return at;
}

TEST(Gather, EveryDtypeDimAndView) {
  Random random(1);
  for (int round = 0; round < 1500; ++round) {
    const Tensor x = odd_bytes(any_whole_dtype(random), random, 4, 6, 1);
    const int dim = static_cast<int>(random.below(x.rank()));
    Dims shape = smaller(x.shape(), dim, random);
    if (x.shape()[dim] == 0) shape[dim] = 0;
    const Tensor ids = odd_ids(shape, std::max<Index>(1, x.shape()[dim]), random);
    const Tensor want = moved(x, shape, [&](const Dims& i) { return with(i, dim, id_at(ids, i)); });
    ASSERT_TRUE(same_bits(x.gather(dim - (random.chance(50) ? x.rank() : 0), ids), want));
    const Tensor out = strided_empty(shape, x.dtype(), random);
    gather_into(out, x, dim, ids);
    ASSERT_TRUE(same_bits(out, want)) << to_string(x.shape()) << to_string(shape);
  }
}

TEST(Gather, RowsByRepeatedIds) {
  const Tensor x = Tensor::arange(0, 300).reshape({10, 30});
  const Tensor rows = vec<u32>({3, 3, 9, 0}).unsqueeze(1).broadcast_as({4, 30});
  EXPECT_TRUE(same_bits(x.gather(0, rows), x.index_select(0, vec<u32>({3, 3, 9, 0}))));
  EXPECT_TRUE(
      same_bits(x.t().gather(1, rows.t()), x.index_select(0, rows.select(1, 0)).t().copy()));
}

TEST(Gather, C062_OutOfRange) {
  const Tensor x = Tensor::arange(0, 6).reshape({2, 3});
  const auto ids = [](const std::vector<i64>& v) { return Tensor::from_vector(v, {2, 2}); };
  const Error e = error_of([&] { (void)x.gather(1, ids({0, 1, 3, 7})); });
  EXPECT_EQ(e.kind(), ErrorKind::index);
  EXPECT_THAT(e.message(), HasSubstr("got 3 at position [1, 0]"));
  EXPECT_THAT(e.message(), HasSubstr("size 3"));
  EXPECT_ERROR(x.gather(1, ids({0, 0, -1, 0})), index);
  EXPECT_ERROR(x.gather(0, ids({0, INT64_MIN, 0, 0})), index);
  EXPECT_ERROR(x.gather(0, Tensor::full({1, 3}, 2, DType::u8)), index);
  EXPECT_ERROR(x.gather(0, Tensor::full({1, 3}, 4294967295, DType::u32)), index);
  EXPECT_ERROR(Tensor::empty({0, 3}).gather(0, Tensor::zeros({1, 3}, DType::u8)), index);
  const Tensor out = Tensor::full({2, 2}, -1);
  EXPECT_ERROR(gather_into(out, x, 1, ids({0, 1, 2, 3})), index);
  EXPECT_THAT(out.flatten().to_vector<f32>(), ElementsAre(-1, -1, -1, -1));
  // The first in row-major order, whatever lies first in memory; also among very many.
  const Tensor many = Tensor::zeros({300, 1000}, DType::i64);
  fill_into(many.narrow(0, 7, 1).narrow(1, 999, 1), -5);
  fill_into(many.narrow(0, 8, 1).narrow(1, 0, 1), 9);
  const Error first = error_of([&] { (void)Tensor::zeros({1, 1000}).gather(0, many); });
  EXPECT_THAT(first.message(), HasSubstr("got -5 at position [7, 999]"));
}

TEST(Gather, Errors) {
  const Tensor x = Tensor::ones({2, 3});
  EXPECT_ERROR(x.gather(0, Tensor::zeros({1}, DType::u8)), shape);
  EXPECT_ERROR(x.gather(0, Tensor::zeros({1, 4}, DType::u8)), shape);
  EXPECT_ERROR(x.gather(2, Tensor::zeros({1, 3}, DType::u8)), index);
  EXPECT_ERROR(x.gather(0, Tensor::zeros({1, 3})), unsupported_dtype);
  EXPECT_ERROR(x.gather(0, Tensor::zeros({1, 3}, DType::i32)), unsupported_dtype);
  EXPECT_ERROR(Tensor::zeros({2}, DType::f4).gather(0, vec<u8>({0})), unsupported_dtype);
  EXPECT_ERROR(gather_into(x, x, 0, Tensor::zeros({2, 3}, DType::u8)), overlap);
  const Tensor ids = Tensor::zeros({3}, DType::i64);
  EXPECT_ERROR(gather_into(ids, Tensor::zeros({3}, DType::i64), 0, ids), overlap);
  EXPECT_ERROR(Tensor::scalar(1).gather(0, Tensor::scalar(0, DType::u8)), index);
}

// --- scatter ---

TEST(Scatter, C063_LastWriteWins) {
  const Tensor src = Tensor::arange(1, 7).reshape({2, 3}).t();
  const Tensor ids = Tensor::zeros({3, 2}, DType::i64), x = Tensor::zeros({3, 2});
  EXPECT_THAT(x.scatter(0, ids, src).flatten().to_vector<f32>(), ElementsAre(3, 6, 0, 0, 0, 0));
  EXPECT_THAT(x.scatter_add(0, ids, src).flatten().to_vector<f32>(),
              ElementsAre(6, 15, 0, 0, 0, 0));
  // Also in memory that runs backwards.
  const Tensor y = Tensor::zeros({3, 2}).flip({0, 1});
  scatter_into(y, y, 0, ids.flip(0), src);
  EXPECT_THAT(y.flatten().to_vector<f32>(), ElementsAre(3, 6, 0, 0, 0, 0));
}

TEST(Scatter, C062_OutOfRangeWritesNothing) {
  const Tensor x = Tensor::full({4}, 7), src = Tensor::ones({3});
  for (const auto& bad : {vec<i64>({0, -10000, 1}), vec<i64>({0, 1, 4})}) {
    EXPECT_ERROR(x.scatter(0, bad, src), index);
    EXPECT_ERROR(scatter_into(x, x, 0, bad, src), index);
    EXPECT_ERROR(scatter_add_into(x, x, 0, bad, src), index);
    EXPECT_ERROR(index_add_into(x, x, 0, bad, src), index);
  }
  EXPECT_THAT(x.to_vector<f32>(), ElementsAre(7, 7, 7, 7));
  const Error e = error_of([&] { (void)x.index_add(0, vec<i64>({0, 1, 4}), src); });
  EXPECT_THAT(e.message(), HasSubstr("got 4 at position 2"));
}

TEST(Scatter, EveryDtypeDimAndView) {
  Random random(2);
  for (int round = 0; round < 1500; ++round) {
    const Tensor x = odd_bytes(any_whole_dtype(random), random, 4, 6, 1);
    const int dim = static_cast<int>(random.below(x.rank()));
    Dims shape = smaller(x.shape(), dim, random);
    if (x.shape()[dim] == 0) shape[dim] = 0;
    const Tensor ids = odd_ids(shape, std::max<Index>(1, x.shape()[dim]), random);
    Dims larger = shape;
    for (int i = 0; i < larger.rank(); ++i) larger[i] += random.below(2);
    Tensor src = strided_empty(larger, x.dtype(), random);
    for (Index i = 0; i < view(src.storage()).bytes; ++i)
      view(src.storage()).data[i] = static_cast<std::byte>(random.bits());
    const Tensor want = compact(x);
    const auto width = static_cast<std::size_t>(bits(x.dtype()) / 8);
    for_each_index(shape, [&](const Dims& i) {
      const auto to =
          static_cast<std::size_t>(offset_of(want.layout(), with(i, dim, id_at(ids, i))));
      const auto from = static_cast<std::size_t>(offset_of(src.layout(), i));
      std::memcpy(view(want.storage()).data + to * width, view(src.storage()).data + from * width,
                  width);
    });
    ASSERT_TRUE(same_bits(x.scatter(dim - (random.chance(50) ? x.rank() : 0), ids, src), want));
    const Tensor out = strided_empty(x.shape(), x.dtype(), random);
    scatter_into(out, x, dim, ids, src);
    ASSERT_TRUE(same_bits(out, want));
    copy_into(out, x);
    scatter_into(out, out, dim, ids, src);  // in place
    ASSERT_TRUE(same_bits(out, want));
  }
}

/// The sums element by element, in the order of the index along dim: in T, small floats in f32.
template <Element T>
Tensor added(const Tensor& x, int dim, const std::function<Index(const Dims&)>& id,
             const Dims& shape, const Tensor& src) {
  using C = std::conditional_t<Int<T>, std::uint64_t, Compute<T>>;
  std::vector<C> sums;
  const auto as_sum = [](T v) {
    if constexpr (SmallFloat<T>) return to_f32(v);
    if constexpr (!SmallFloat<T>) return static_cast<C>(v);
  };
  for_each_element<T>(x, [&](T& v) { sums.push_back(as_sum(v)); });
  const Layout places = Layout::contiguous(x.shape());
  const T* from = std::get<Buffer<T>>(src.storage()).data();
  for_each_index(shape, [&](const Dims& i) {
    C& sum = sums[static_cast<std::size_t>(offset_of(places, with(i, dim, id(i))))];
    sum = static_cast<C>(sum + as_sum(from[offset_of(src.layout(), i)]));
  });
  std::vector<T> rounded;
  for (const C v : sums) {
    if constexpr (Int<T>) rounded.push_back(static_cast<T>(v));
    if constexpr (Float<T>) rounded.push_back(convert<T>(v));
  }
  return Tensor::from_vector(rounded, x.shape());
}

/// Same bits, but any NaN is as good as another: which operand's NaN an addition gives is up to the
/// compiler.
::testing::AssertionResult same_numbers(const Tensor& a, const Tensor& b) {
  const auto plain = [](const Tensor& x) {
    return is_float(x.dtype()) ? x.masked_fill(x.ne(x), NAN) : x;
  };
  return same_bits(plain(a), plain(b));
}

template <class F>
void try_additions(std::uint64_t seed, F&& f) {
  Random random(seed);
  for (int round = 0; round < 1200; ++round) {
    const DType t = kTen[random.below(10)];
    const Tensor x =
        random_view(odd_tensor(random_shape(random, 4, 6, 1), t, random, Values::any), random);
    if (x.rank() == 0) continue;
    dispatch(t, "test",
             [&]<Element T>(std::type_identity<T>) { f(std::type_identity<T>{}, x, random); });
  }
}

TEST(ScatterAdd, EveryDtypeDimAndView) {
  try_additions(3, []<Element T>(std::type_identity<T>, const Tensor& x, Random& random) {
    const int dim = static_cast<int>(random.below(x.rank()));
    Dims shape = smaller(x.shape(), dim, random);
    if (x.shape()[dim] == 0) shape[dim] = 0;
    const Tensor ids = odd_ids(shape, std::max<Index>(1, x.shape()[dim]), random);
    const Tensor src = odd_tensor(shape, x.dtype(), random, Values::any);
    const Tensor want = added<T>(x, dim, [&](const Dims& i) { return id_at(ids, i); }, shape, src);
    ASSERT_TRUE(same_numbers(x.scatter_add(dim, ids, src), want))
        << name(x.dtype()) << to_string(x.shape()) << to_string(shape) << dim;
    const Tensor out = strided_empty(x.shape(), x.dtype(), random);
    copy_into(out, x);
    scatter_add_into(out, out, dim, ids, src);
    ASSERT_TRUE(same_numbers(out, want));
  });
}

TEST(IndexAdd, EveryDtypeDimAndView) {
  try_additions(4, []<Element T>(std::type_identity<T>, const Tensor& x, Random& random) {
    const int dim = static_cast<int>(random.below(x.rank()));
    Dims shape = x.shape();
    shape[dim] = x.shape()[dim] == 0 ? 0 : random.below(20);
    const Tensor ids = odd_ids({shape[dim]}, std::max<Index>(1, x.shape()[dim]), random);
    const Tensor src = odd_tensor(shape, x.dtype(), random, Values::any);
    const Tensor want =
        added<T>(x, dim, [&](const Dims& i) { return id_at(ids, {i[dim]}); }, shape, src);
    ASSERT_TRUE(same_numbers(x.index_add(dim - x.rank(), ids, src), want));
    const Tensor out = strided_empty(x.shape(), x.dtype(), random);
    index_add_into(out, x, dim, ids, src);
    ASSERT_TRUE(same_numbers(out, want));
  });
}

TEST(IndexAdd, LongRowsOfEveryDtype) {
  Random random(5);
  for (const DType t : kTen)
    for (const Index rows : {5, 300})  // most of the rows are met, or few
      dispatch(t, "test", [&]<Element T>(std::type_identity<T>) {
        const Tensor x = odd_tensor({rows, 1100}, t, random, Values::tame);
        const Tensor ids = odd_ids({40}, rows, random);
        const Tensor src = odd_tensor({40, 1100}, t, random, Values::tame);
        const Tensor want =
            added<T>(x, 0, [&](const Dims& i) { return id_at(ids, {i[0]}); }, src.shape(), src);
        EXPECT_TRUE(same_bits(x.index_add(0, ids, src), want)) << name(t);
        EXPECT_TRUE(same_bits(x.t().index_add(1, ids, src.t()), want.t())) << name(t);
        const Tensor out = x.t().copy();
        index_add_into(out, out, -1, ids, src.t());
        EXPECT_TRUE(same_bits(out, want.t())) << name(t);
        expect_same_bits_for_any_threads([&] { return x.index_add(0, ids, src); });
      });
}

TEST(IndexAdd, C065_DuplicatesAddUp) {
  const Tensor sum = Tensor::zeros({3}).index_add(0, vec<i64>({2, 0, 2}),
                                                  Tensor::from_vector<f32>({1, 2, 4}, {3}));
  EXPECT_THAT(sum.to_vector<f32>(), ElementsAre(2, 0, 5));
  const Index n = 1000000;
  for (const DType t : {DType::f32, DType::f64, DType::i32, DType::i64}) {
    const Tensor ones = Tensor::ones({n}, t), zero = Tensor::zeros({2}, t);
    const Tensor ids = Tensor::zeros({n}, DType::u32);
    EXPECT_EQ(zero.index_add(0, ids, ones).select(0, 0).item<f64>(), n) << name(t);
    EXPECT_EQ(zero.scatter_add(0, ids, ones).select(0, 0).item<f64>(), n) << name(t);
  }
  // Small floats do not stall: they add up in f32.
  const Tensor ids = Tensor::zeros({4096}, DType::u32);
  for (const DType t : {DType::bf16, DType::f16})
    EXPECT_EQ(Tensor::zeros({1}, t).index_add(0, ids, Tensor::ones({4096}, t)).item<f64>(), 4096);
}

TEST(Scatter, SameBitsForAnyThreadCount) {
  Random random(6);
  // Many lines, few long lines, one line; along either dim.
  for (const Dims& shape : {Dims{300, 400}, Dims{3, 40000}, Dims{1, 120000}})
    for (const DType t : {DType::f32, DType::bf16, DType::i16}) {
      const Tensor x = normal(shape, DType::f32, 1, 9).to_dtype(t),
                   src = normal(shape, DType::f32, 2, 9).to_dtype(t);
      for (const int dim : {0, 1}) {
        const Tensor ids = odd_ids(shape, shape[dim], random);
        const Tensor list = odd_ids({shape[dim]}, shape[dim], random);
        expect_same_bits_for_any_threads([&] { return x.gather(dim, ids); });
        expect_same_bits_for_any_threads([&] { return x.scatter(dim, ids, src); });
        expect_same_bits_for_any_threads([&] { return x.scatter_add(dim, ids, src); });
        expect_same_bits_for_any_threads([&] { return x.index_add(dim, list, src); });
        // And by hand: however the work is cut, the order along dim is kept.
        dispatch(t, "test", [&]<Element T>(std::type_identity<T>) {
          EXPECT_TRUE(same_bits(
              x.scatter_add(dim, ids, src),
              added<T>(x, dim, [&](const Dims& i) { return id_at(ids, i); }, shape, src)));
        });
      }
      expect_same_bits_for_any_threads(
          [&] { return x.t().scatter_add(0, odd_ids(x.t().shape(), 1, random), src.t()); });
    }
}

TEST(ScatterAdd, NaNsToo) {
  Random random(9);
  for (const DType t : {DType::f32, DType::bf16})
    for (const Dims& shape : {Dims{400, 301}, Dims{60000, 2}}) {
      const Tensor src = fill_random(Tensor::empty(shape, t), random, Values::any);
      const Tensor x = fill_random(Tensor::empty({7, shape[1]}, t), random, Values::any);
      const Tensor list = odd_ids({shape[0]}, 7, random), ids = odd_ids(shape, 7, random);
      expect_same_bits_for_any_threads([&] { return x.index_add(0, list, src.neg()); });
      expect_same_bits_for_any_threads([&] { return x.scatter_add(0, ids, src.neg()); });
    }
}

TEST(Scatter, C166_ABadIdInOnePieceIsReportedOnceAndWritesNothing) {
  const Tensor ids = Tensor::zeros({400000}, DType::i64), src = Tensor::ones({400000});
  fill_into(ids.narrow(0, 399000, 1), 5);
  const Tensor x = Tensor::full({5}, 1);
  const Error e = error_of([&] { index_add_into(x, x, 0, ids, src); });
  EXPECT_THAT(e.message(), HasSubstr("got 5 at position 399000"));
  EXPECT_THAT(x.to_vector<f32>(), ElementsAre(1, 1, 1, 1, 1));
}

TEST(Scatter, Errors) {
  const Tensor x = Tensor::ones({2, 3}), src = Tensor::ones({2, 3});
  const Tensor ids = Tensor::zeros({2, 3}, DType::u8);
  EXPECT_ERROR(x.scatter(0, ids, src.to_dtype(DType::f64)), dtype);
  EXPECT_ERROR(x.scatter(0, ids.narrow(0, 0, 1).squeeze(0), src), shape);
  EXPECT_ERROR(x.scatter(0, ids, src.narrow(0, 0, 1)), shape);
  EXPECT_ERROR(x.narrow(1, 0, 2).scatter(0, ids, src), shape);
  EXPECT_ERROR(x.scatter_add(3, ids, src), index);
  EXPECT_ERROR(x.scatter_add(0, ids.to_dtype(DType::i16), src), unsupported_dtype);
  const Tensor scale = Tensor::zeros({2}, DType::f8e8m0);
  EXPECT_ERROR(scale.scatter_add(0, vec<u8>({0}), scale), unsupported_dtype);
  EXPECT_ERROR(x.index_add(0, ids, src), shape);
  EXPECT_ERROR(x.index_add(0, vec<u8>({0}), src), shape);
  EXPECT_ERROR(scatter_into(x, x, 0, ids, x), overlap);
  EXPECT_ERROR(scatter_into(x.t(), x, 0, ids, src), shape);
  const Tensor square = Tensor::ones({3, 3});
  EXPECT_ERROR(scatter_into(square.t(), square, 0, ids, src), overlap);
  EXPECT_ERROR(scatter_into(Tensor::ones({2, 3}, DType::f64), x, 0, ids, src), dtype);
  EXPECT_ERROR(scatter_into(Tensor::ones({1, 3}).broadcast_as({2, 3}), x, 0, ids, src), overlap);
  EXPECT_TRUE(same_bits(x, src));
  // Nothing to do is fine, on nothing too.
  EXPECT_TRUE(same_bits(x.scatter(0, Tensor::empty({0, 3}, DType::u8), src), x));
  EXPECT_EQ(Tensor::empty({0, 3}).scatter_add(0, Tensor::empty({0, 3}, DType::u8), src).shape(),
            (Dims{0, 3}));
}

// --- slice_assign, masked_fill ---

TEST(SliceAssign, LikeNumPy) {
  const Tensor x = Tensor::zeros({3, 4});
  const Tensor y =
      x.slice_assign({{0, 2}, {1, Slice::kAll, 2}}, Tensor::from_vector<f32>({1, 2, 3, 4}, {2, 2}));
  EXPECT_THAT(y.flatten().to_vector<f32>(), ElementsAre(0, 1, 0, 2, 0, 3, 0, 4, 0, 0, 0, 0));
  const Tensor z = x.slice_assign({{2, Slice::kAll, -2}}, Tensor::arange(1, 5));  // broadcasts
  EXPECT_THAT(z.flatten().to_vector<f32>(), ElementsAre(1, 2, 3, 4, 0, 0, 0, 0, 1, 2, 3, 4));
  EXPECT_TRUE(same_bits(x.slice_assign({}, y), y));
  EXPECT_TRUE(same_bits(x, Tensor::zeros({3, 4})));
  Random random(7);
  const Tensor out = strided_empty({3, 4}, DType::f32, random);
  slice_assign_into(out, x, {{0, 1}}, Tensor::scalar(5));
  EXPECT_THAT(out.flatten().to_vector<f32>(), ElementsAre(5, 5, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0));
  slice_assign_into(out, out, {{1, 2}}, Tensor::scalar(6));
  EXPECT_EQ(out.sum().item<f32>(), 44);
}

TEST(SliceAssign, C074_SourceInTheDestination) {
  const Tensor x = Tensor::arange(0, 6);
  EXPECT_ERROR(slice_assign_into(x, x, {{1, 6}}, x.narrow(0, 0, 5)), overlap);
  EXPECT_ERROR(copy_into(x.narrow(0, 1, 5), x.narrow(0, 0, 5)), overlap);
  EXPECT_THAT(x.to_vector<f32>(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(x.slice_assign({{1, 6}}, x.narrow(0, 0, 5)).to_vector<f32>(),
              ElementsAre(0, 0, 1, 2, 3, 4));
}

TEST(SliceAssign, Errors) {
  const Tensor x = Tensor::zeros({3, 4});
  EXPECT_ERROR(x.slice_assign({{0, 4}}, Tensor::scalar(1)), index);
  EXPECT_ERROR(x.slice_assign({{0, 1, 0}}, Tensor::scalar(1)), index);
  EXPECT_ERROR(x.slice_assign({{}, {}, {}}, Tensor::scalar(1)), argument);
  EXPECT_ERROR(x.slice_assign({{0, 2}}, Tensor::ones({3, 4})), shape);
  EXPECT_ERROR(x.slice_assign({{0, 2}}, Tensor::scalar(1, DType::f64)), dtype);
  EXPECT_ERROR(slice_assign_into(Tensor::zeros({4, 3}), x, {}, x), shape);
}

TEST(MaskedFill, EveryDtypeAndMask) {
  Random random(8);
  for (int round = 0; round < 400; ++round) {
    const DType t = kTen[random.below(10)];
    const Tensor x =
        random_view(odd_tensor(random_shape(random, 4, 6), t, random, Values::any), random);
    const Tensor mask = odd_ids(shrunk(x.shape(), random), 2, random);
    const Tensor value = Tensor::scalar(3, t);
    const Tensor wide = mask.broadcast_as(x.shape());
    const Tensor want = compact(x);
    for_each_index(x.shape(), [&](const Dims& i) {
      if (id_at(wide, i) != 0)
        copy_into({want.storage(), {{}, {}, offset_of(want.layout(), i)}}, value);
    });
    ASSERT_TRUE(same_bits(x.masked_fill(mask, 3), want));
    const Tensor out = strided_empty(x.shape(), t, random);
    copy_into(out, x);
    masked_fill_into(out, out, mask, 3);
    ASSERT_TRUE(same_bits(out, want));
  }
}

TEST(MaskedFill, NaNAndErrors) {
  const Tensor x = Tensor::from_vector<f32>({1, NAN}, {2});
  EXPECT_THAT(x.masked_fill(vec<u8>({0, 9}), -INFINITY).to_vector<f32>(),
              ElementsAre(1, -INFINITY));
  EXPECT_ERROR(x.masked_fill(Tensor::ones({2}), 0), dtype);
  EXPECT_ERROR(x.masked_fill(Tensor::ones({3}, DType::u8), 0), shape);
  EXPECT_ERROR(x.masked_fill(Tensor::ones({2, 2}, DType::u8), 0), shape);
  EXPECT_ERROR(Tensor::zeros({2}, DType::f4).masked_fill(vec<u8>({0, 9}), 0), unsupported_dtype);
}

}  // namespace
}  // namespace wick
