// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/ops/rearranged.h"

// sort, argsort, topk.

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers
using ::testing::ElementsAre;

/// Whether a comes before b in ascending order: NaN last. i64 is compared as what it is.
template <Element T>
bool before(T a, T b) {
  if constexpr (Int<T>) return a < b;
  const f64 x = convert<f64>(a), y = convert<f64>(b);
  if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
  return x < y;
}

/// argsort by std::sort, line by line; of equal elements the first comes first.
Tensor sorted_places(const Tensor& x, int dim, bool descending) {
  const Tensor places = Tensor::empty(x.shape(), DType::u32);
  dispatch(x.dtype(), "test", [&]<Element T>(std::type_identity<T>) {
    const T* data = std::get<Buffer<T>>(x.storage()).data();
    Dims lines = x.shape();
    if (lines[dim] > 0) lines[dim] = 1;
    for_each_index(lines, [&](const Dims& line) {
      const Index from = offset_of(x.layout(), line), to = offset_of(places.layout(), line);
      std::vector<u32> order(static_cast<std::size_t>(x.shape()[dim]));
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<u32>(i);
      const auto at = [&](u32 i) { return data[from + i * x.layout().strides[dim]]; };
      std::sort(order.begin(), order.end(), [&](u32 a, u32 b) {
        const bool first = before(at(a), at(b)), second = before(at(b), at(a));
        if (!first && !second) return a < b;
        return descending ? second : first;
      });
      for (std::size_t i = 0; i < order.size(); ++i)
        places.data<u32>()[to + static_cast<Index>(i) * places.layout().strides[dim]] = order[i];
    });
  });
  return places;
}

/// Every op of the family on x against the reference.
void check(const Tensor& x, int dim, bool descending, Random& random) {
  const Index n = x.shape()[dim];
  const Tensor order = sorted_places(x, dim, descending);
  const Tensor values = moved(x, x.shape(), [&](const Dims& i) {
    Dims at = i;
    at[dim] = id_at(order, i);
    return at;
  });
  const auto about = [&] {
    return str(name(x.dtype()), to_string(x.shape()), " ", dim, descending ? " down" : " up");
  };
  ASSERT_TRUE(same_bits(x.argsort(dim, descending), order)) << about();
  ASSERT_TRUE(same_bits(x.sort(dim - x.rank(), descending), values)) << about();
  const Tensor out = strided_empty(x.shape(), x.dtype(), random),
               places = strided_empty(x.shape(), DType::u32, random);
  sort_into(out, x, dim, descending);
  ASSERT_TRUE(same_bits(out, values)) << about();
  copy_into(out, x);
  sort_into(out, out, dim, descending);  // in place
  ASSERT_TRUE(same_bits(out, values)) << about();
  argsort_into(places, x, dim, descending);
  ASSERT_TRUE(same_bits(places, order)) << about();
  for (const Index k : {random.between(0, n), random.between(0, std::min<Index>(n, 5))}) {
    const TopK top = x.topk(k, dim, descending);
    ASSERT_TRUE(same_bits(top.values, values.narrow(dim, 0, k))) << about() << " k " << k;
    ASSERT_TRUE(same_bits(top.indices, order.narrow(dim, 0, k))) << about() << " k " << k;
    const Tensor v = strided_empty(top.values.shape(), x.dtype(), random),
                 i = strided_empty(top.values.shape(), DType::u32, random);
    topk_into(v, i, x, k, dim, descending);
    ASSERT_TRUE(same_bits(v, top.values));
    ASSERT_TRUE(same_bits(i, top.indices));
  }
}

TEST(Sort, EveryDtypeDimAndView) {
  Random random(1);
  for (int round = 0; round < 1000; ++round) {
    const DType t = kTen[random.below(10)];
    Dims shape = random_shape(random, 3, 5);
    shape.push_back(random.chance(30) ? random.between(60, 200) : random.below(12));
    const auto values = random.chance(50) ? Values::any : Values::exponents;
    const Tensor x = random_view(odd_tensor(shape, t, random, values), random);
    if (x.rank() == 0) continue;
    check(x, static_cast<int>(random.below(x.rank())), random.chance(50), random);
    if (HasFatalFailure()) return;
  }
}

TEST(Sort, EveryBitPattern) {
  Random random(2);
  for (const DType t : kTen) {
    const Tensor x = Tensor::empty({3, 3000}, t);
    for (Index i = 0; i < view(x.storage()).bytes; ++i)
      view(x.storage()).data[i] = static_cast<std::byte>(random.bits());
    for (const bool descending : {false, true}) {
      check(x, 1, descending, random);
      check(x, 0, descending, random);
      check(x.t().flip(0), 0, descending, random);
    }
  }
}

TEST(Sort, C081_NaNLast) {
  const Tensor x = Tensor::from_vector<f32>({3, NAN, 1, NAN, 2}, {5});
  EXPECT_THAT(x.argsort().to_vector<u32>(), ElementsAre(2, 4, 0, 1, 3));
  EXPECT_THAT(x.argsort(0, true).to_vector<u32>(), ElementsAre(1, 3, 0, 4, 2));
  const auto up = x.sort().to_vector<f32>(), down = x.sort(0, true).to_vector<f32>();
  EXPECT_THAT(std::vector<f32>(up.begin(), up.begin() + 3), ElementsAre(1, 2, 3));
  EXPECT_TRUE(std::isnan(up[3]) && std::isnan(up[4]));
  EXPECT_TRUE(std::isnan(down[0]) && std::isnan(down[1]));
  EXPECT_THAT(std::vector<f32>(down.begin() + 2, down.end()), ElementsAre(3, 2, 1));
}

TEST(Sort, C083_StableAtEveryLength) {
  const Tensor equal = Tensor::full({2000}, 4);
  EXPECT_TRUE(same_bits(equal.argsort(), Tensor::arange(0, 2000, 1, DType::u32)));
  EXPECT_TRUE(same_bits(equal.argsort(0, true), Tensor::arange(0, 2000, 1, DType::u32)));
  // Both zeros are equal, and keep their signs and places.
  std::vector<f32> zeros;
  for (int i = 0; i < 500; ++i) zeros.push_back(i % 3 == 0 ? -0.0F : 0.0F);
  const Tensor z = Tensor::from_vector(zeros, {500});
  EXPECT_TRUE(same_bits(z.sort(), z));
  EXPECT_TRUE(same_bits(z.sort(0, true), z));
  EXPECT_TRUE(same_bits(z.argsort(), Tensor::arange(0, 500, 1, DType::u32)));
  Random random(3);
  for (const Index n : {1, 2, 79, 80, 81, 82, 1023, 1024, 1025, 4097})
    for (const DType t : kTen) {
      const Tensor base = odd_tensor({n + 7}, t, random, Values::any);
      check(base.narrow(0, 5, n), 0, random.chance(50), random);
    }
}

TEST(Sort, LinesSideBySide) {
  Random random(4);
  for (const DType t : {DType::u8, DType::f16, DType::f32, DType::f64})
    for (const Index columns : {1, 2, 15, 16, 17, 40})
      check(odd_tensor({150, columns}, t, random, Values::any), 0, random.chance(50), random);
}

TEST(Sort, SameBitsForAnyThreadCountAndLongLines) {
  Random random(5);
  for (const DType t : {DType::f32, DType::i64, DType::u8, DType::f16})
    for (const Dims& shape : {Dims{300, 500}, Dims{2, 70000}, Dims{150000}}) {
      const auto values = t == DType::f32 ? Values::any : Values::tame;
      const Tensor x = fill_random(Tensor::empty(shape, t), random, values);
      for (int dim = 0; dim < x.rank(); ++dim)
        for (const bool descending : {false, true}) {
          expect_same_bits_for_any_threads([&] { return x.sort(dim, descending); });
          expect_same_bits_for_any_threads([&] { return x.argsort(dim, descending); });
          expect_same_bits_for_any_threads(
              [&] { return x.topk(x.size(dim) / 50, dim, descending).indices; });
        }
      StdThreadPool pool(3);
      const ExecutorScope scope(pool);
      check(x, x.rank() - 1, true, random);
      check(x.flip(0), x.rank() - 1, false, random);
    }
}

TEST(Sort, OrderedInputs) {
  Random random(6);
  const Tensor up = Tensor::arange(-500, 500, 1, DType::i32);
  for (const bool descending : {false, true}) {
    check(up, 0, descending, random);
    check(up.flip(0), 0, descending, random);
    check(up.to_dtype(DType::f64), 0, descending, random);
  }
  // topk of what gets better all the time, and worse.
  const Tensor many = Tensor::arange(0, 20000);
  EXPECT_THAT(many.topk(3).indices.to_vector<u32>(), ElementsAre(19999, 19998, 19997));
  EXPECT_THAT(many.topk(3, 0, false).values.to_vector<f32>(), ElementsAre(0, 1, 2));
}

TEST(Sort, EmptyAndErrors) {
  EXPECT_EQ(Tensor::empty({0}).sort().shape(), (Dims{0}));
  EXPECT_EQ(Tensor::empty({3, 0}).argsort(0).shape(), (Dims{3, 0}));
  EXPECT_EQ(Tensor::empty({3, 0}).topk(0).values.shape(), (Dims{3, 0}));
  EXPECT_EQ(Tensor::ones({3, 2}).topk(0).indices.shape(), (Dims{3, 0}));
  const Tensor x = Tensor::arange(0, 6).reshape({2, 3});
  EXPECT_ERROR(x.sort(2), index);
  EXPECT_ERROR(Tensor::scalar(1).argsort(), index);
  EXPECT_ERROR(x.topk(4), argument);
  EXPECT_ERROR(x.topk(-1), argument);
  EXPECT_ERROR(Tensor::zeros({2}, DType::f4).sort(), unsupported_dtype);
  EXPECT_ERROR(sort_into(Tensor::zeros({3, 2}), x), shape);
  EXPECT_ERROR(sort_into(x.flip(0), x), overlap);
  EXPECT_ERROR(sort_into(Tensor::zeros({2, 3}, DType::f64), x), dtype);
  EXPECT_ERROR(argsort_into(Tensor::zeros({2, 3}), x), dtype);
  const Tensor u = Tensor::zeros({2, 3}, DType::u32);
  EXPECT_ERROR(argsort_into(u, u), overlap);
  EXPECT_ERROR(topk_into(u, u, Tensor::zeros({2, 3}, DType::u32), 3), overlap);
  const Tensor wide = Tensor::zeros({1}).broadcast_as({Index{1} << 33});
  EXPECT_ERROR(wide.argsort(), shape);
  EXPECT_ERROR(wide.topk(1), shape);
}

}  // namespace
}  // namespace wick
