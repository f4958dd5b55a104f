// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/ops/samples.h"
#include "wick/arrange.h"

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers

template <class T>
Tensor ids(const std::vector<T>& v) {
  return Tensor::from_vector(v, {static_cast<Index>(v.size())});
}

TEST(IndexSelect, C060_C062_OutOfRange) {
  const Tensor x = Tensor::arange(0, 15).reshape({5, 3});
  const Error e = error_of([&] { (void)x.index_select(0, ids<i64>({0, 5, 9})); });
  EXPECT_EQ(e.kind(), ErrorKind::index);
  EXPECT_NE(e.message().find("got 5 at position 1"), std::string::npos) << e.what();
  EXPECT_NE(e.message().find("size 5"), std::string::npos) << e.what();
  EXPECT_ERROR(x.index_select(0, ids<i64>({-1})), index);
  EXPECT_ERROR(x.index_select(0, ids<i64>({INT64_MIN})), index);
  EXPECT_ERROR(x.index_select(1, ids<u32>({0xFFFFFFFFU})), index);
  EXPECT_ERROR(x.index_select(1, ids<u8>({3})), index);
  // Nothing is written, not even the good rows.
  const Tensor out = Tensor::full({3, 3}, -1);
  EXPECT_ERROR(index_select_into(out, x, 0, ids<i64>({0, 1, 5})), index);
  EXPECT_EQ(out.to_vector<f32>(), std::vector<f32>(9, -1));
}

TEST(IndexSelect, C066_MoreRowsThanTheSource) {
  const Tensor x = Tensor::arange(0, 6).reshape({3, 2});
  EXPECT_EQ(x.index_select(0, ids<u32>({0, 0, 1, 2, 2, 1})).to_vector<f32>(),
            (std::vector<f32>{0, 1, 0, 1, 2, 3, 4, 5, 4, 5, 2, 3}));
}

TEST(IndexSelect, EveryDtypeDimAndView) {
  Random random(14);
  for (int round = 0; round < 500; ++round) {
    const auto t = static_cast<DType>(random.below(11));
    const DType dtype = t == DType::f6e2m3 ? DType::f8e8m0 : t;
    Tensor base = Tensor::empty(random_shape(random, 4, 6, 1), dtype);
    for (Index i = 0; i < view(base.storage()).bytes; ++i)
      view(base.storage()).data[i] = static_cast<std::byte>(random.below(256));
    const Tensor x = random_view(base, random);
    if (x.rank() == 0) continue;
    const int dim = static_cast<int>(random.below(x.rank()));
    const Index size = x.shape()[dim];
    std::vector<i64> wanted;
    for (Index k = size == 0 ? 0 : random.between(0, 8); k > 0; --k)
      wanted.push_back(random.below(size));
    Tensor chosen = ids(wanted).to_dtype(random.chance(30)   ? DType::u8
                                         : random.chance(50) ? DType::u32
                                                             : DType::i64);
    if (random.chance(40)) {  // a strided view of the same ids
      chosen = chosen.unsqueeze(1).broadcast_as({chosen.size(0), 2}).copy().select(1, 1);
    }
    const Tensor y = x.index_select(dim - (random.chance(50) ? x.rank() : 0), chosen);
    ASSERT_EQ(y.dtype(), dtype);
    ASSERT_EQ(y.shape()[dim], static_cast<Index>(wanted.size()));
    for (std::size_t k = 0; k < wanted.size(); ++k)
      ASSERT_TRUE(same_bits(y.select(dim, static_cast<Index>(k)), x.select(dim, wanted[k])));
    const Tensor out = strided_empty(y.shape(), dtype, random);
    index_select_into(out, x, dim, chosen);
    ASSERT_TRUE(same_bits(out, y));
  }
}

TEST(IndexSelect, SameBitsForAnyThreadCount) {
  const Tensor x = normal({100, 37, 50}, DType::f32, 9);
  std::vector<u32> v;
  Random random(15);
  for (int i = 0; i < 300; ++i) v.push_back(static_cast<u32>(random.below(37)));
  for (Index dim = 0; dim < 3; ++dim)
    expect_same_bits_for_any_threads([&] { return x.index_select(dim, ids(v)); });
  expect_same_bits_for_any_threads([&] { return x.index_select(0, ids<u8>({1, 99})); });
}

TEST(IndexSelect, EmptyAndErrors) {
  const Tensor x = Tensor::ones({2, 3});
  EXPECT_EQ(x.index_select(0, Tensor::empty({0}, DType::i64)).shape(), (Dims{0, 3}));
  EXPECT_EQ(Tensor::empty({2, 0}).index_select(0, ids<u8>({1})).shape(), (Dims{1, 0}));
  EXPECT_ERROR(Tensor::empty({0, 2}).index_select(0, ids<u8>({0})), index);
  EXPECT_ERROR(x.index_select(2, ids<u8>({0})), index);
  EXPECT_ERROR(Tensor::scalar(1).index_select(0, ids<u8>({0})), index);
  EXPECT_ERROR(x.index_select(0, Tensor::ones({1, 1}, DType::u8)), shape);
  EXPECT_ERROR(x.index_select(0, ids<f32>({0})), unsupported_dtype);
  EXPECT_ERROR(x.index_select(0, ids<i32>({0})), unsupported_dtype);
  EXPECT_ERROR(Tensor::empty({4}, DType::f4).index_select(0, ids<u8>({0})), unsupported_dtype);
  EXPECT_ERROR(index_select_into(x, x, 0, ids<u8>({0, 1})), overlap);
  EXPECT_ERROR(index_select_into(Tensor::ones({1, 3}, DType::f64), x, 0, ids<u8>({0})), dtype);
  EXPECT_ERROR(index_select_into(Tensor::ones({2, 3}), x, 0, ids<u8>({0})), shape);
  // A result too large for any size.
  EXPECT_ERROR(Tensor::zeros({1})
                   .broadcast_as({2, Index{1} << 61})
                   .index_select(0, Tensor::zeros({64}, DType::u8)),
               overflow);
}

}  // namespace
}  // namespace wick
