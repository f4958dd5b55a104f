// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/ops/op_calls.h"

// Copies, casts and the packed formats.

namespace wick {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::kTen;
using testing::odd_tensor;
using testing::Random;
using testing::same_bits;
using testing::Values;

constexpr DType kRaw[] = {DType::f6e2m3, DType::f6e3m2, DType::f4, DType::f8e8m0};

TEST(Copy, ViewsOfEveryKind) {
  Random random(1);
  for (const DType t : {DType::u8, DType::i16, DType::f32, DType::f64, DType::f8e8m0})
    for (int round = 0; round < 60; ++round) {
      const Dims shape = testing::random_shape(random, 5, 5);
      const Tensor base = testing::strided_empty(shape, t, random);
      for (Index i = 0; i < view(base.storage()).bytes; ++i)
        view(base.storage()).data[i] = static_cast<std::byte>(random.bits());
      const Tensor x = testing::random_view(base, random);
      EXPECT_TRUE(same_bits(x.copy(), x));
      EXPECT_TRUE(x.copy().is_contiguous());
      EXPECT_TRUE(same_bits(x.contiguous(), x));
      EXPECT_TRUE(x.contiguous().is_contiguous());
      const Tensor out = testing::strided_empty(x.shape(), t, random);
      copy_into(out, x);
      ASSERT_TRUE(same_bits(out, x))
          << name(t) << to_string(x.shape()) << to_string(x.layout().strides);
    }
}

TEST(Copy, TransposesLargeAndOdd) {
  for (const DType t : {DType::u8, DType::f16, DType::f32, DType::i64})
    for (const auto& [rows, columns] :
         {std::pair<Index, Index>{1, 77}, {33, 65}, {128, 130}, {257, 63}}) {
      const Tensor x =
          Tensor::arange(0, rows * columns, 1, DType::i64).to_dtype(t).reshape({rows, columns});
      EXPECT_TRUE(same_bits(x.t().copy(), x.t())) << rows << " " << columns;
      EXPECT_TRUE(same_bits(x.t().flip(0).copy(), x.t().flip(0)));
      const Tensor out = Tensor::empty({columns, rows}, t);
      copy_into(out.t(), x);
      EXPECT_TRUE(same_bits(out.t(), x));
    }
}

TEST(Copy, BroadcastsIntoTheOutput) {
  const Tensor out = Tensor::zeros({2, 3});
  copy_into(out, Tensor::arange(0, 3));
  EXPECT_THAT(out.flatten().to_vector<f32>(), ElementsAre(0, 1, 2, 0, 1, 2));
  copy_into(out, Tensor::scalar(7, DType::i32));  // and converts
  EXPECT_THAT(out.flatten().to_vector<f32>(), ElementsAre(7, 7, 7, 7, 7, 7));
  EXPECT_ERROR(copy_into(out, Tensor::zeros({2})), shape);
  EXPECT_ERROR(copy_into(Tensor::zeros({3}), Tensor::zeros({1, 1, 3})), shape);
}

// C111, C113: each pair as wick::convert has it, on views too, in vectors and in tails.
TEST(Cast, EveryPair) {
  Random random(2);
  for (const DType from : kTen)
    for (const DType to : kTen)
      for (const Dims& shape : {Dims{}, Dims{3, 5}, Dims{2, 3, 37}, Dims{0, 4}}) {
        const Tensor x = odd_tensor(shape, from, random, Values::any);
        std::string want;
        dispatch(from, "test", [&]<Element From>(std::type_identity<From>) {
          dispatch(to, "test", [&]<Element To>(std::type_identity<To>) {
            testing::for_each_element<From>(x, [&](From v) {
              const To c = convert<To>(v);
              want.append(reinterpret_cast<const char*>(&c), sizeof c);
            });
          });
        });
        ASSERT_EQ(testing::bytes_of(x.to_dtype(to)), want) << name(from) << " to " << name(to);
        const Tensor out = testing::strided_empty(shape, to, random);
        copy_into(out, x);
        ASSERT_EQ(testing::bytes_of(out), want) << name(from) << " to " << name(to);
      }
  const Tensor same = Tensor::arange(0, 4);
  EXPECT_EQ(view(same.to_dtype(DType::f32).storage()).data, view(same.storage()).data);
}

/// Numbers that a raw format may hold or must round.
Tensor raw_samples() {
  std::vector<f32> v;
  for (int i = -130; i <= 130; ++i) v.push_back(static_cast<f32>(i) / 16);
  for (const f32 x : {28.0F, 40.0F, -1e9F, INFINITY, 1e-9F}) v.push_back(x);
  return Tensor::from_vector(v, {static_cast<Index>(v.size())});
}

TEST(Packed, CastsRoundOnceAndComeBack) {
  const Tensor x = raw_samples();
  for (const DType t : kRaw) {
    const Tensor packed = x.to_dtype(t);
    EXPECT_EQ(view(packed.storage()).bytes, byte_size(t, x.element_count()));
    const Tensor back = packed.to_dtype(DType::f32);
    EXPECT_TRUE(same_bits(back.to_dtype(t).to_dtype(DType::f32), back)) << name(t);
    // Formats that hold the values exactly; the scales span more than f16 has.
    for (const DType other :
         {DType::f64, DType::bf16, t == DType::f8e8m0 ? DType::f32 : DType::f16})
      EXPECT_TRUE(same_bits(packed.to_dtype(other).to_dtype(DType::f32), back)) << name(t);
    EXPECT_TRUE(same_bits(x.to_dtype(DType::f64).to_dtype(t).to_dtype(DType::f32), back))
        << name(t);
  }
  // A hair below a tie in f64 is a tie in f32: one rounding goes down.
  const f64 below_tie = 1.75 + 0.5 - 1e-12;  // f4 has 2 and 3; the tie is 2.5
  const Tensor d = Tensor::full({1}, below_tie + 0.25, DType::f64);
  EXPECT_EQ(d.to_dtype(DType::f4).item<f32>(), 2.0F);
  EXPECT_EQ(Tensor::full({1}, 1.25 + 1e-12, DType::f64).to_dtype(DType::f4).item<f32>(), 1.5F);
  EXPECT_EQ(Tensor::full({1}, 1.25, DType::f64).to_dtype(DType::f4).item<f32>(), 1.0F);
  EXPECT_EQ(Tensor::full({1}, 1.25 + 1e-12, DType::f4).item<f32>(), 1.5F);
  const i64 tie = (i64{3} << 60) - 1;  // a hair below 1.5 * 2^61
  EXPECT_EQ(Tensor::full({1}, tie, DType::i64).to_dtype(DType::f8e8m0).item<f32>(), 0x1p61F);
  EXPECT_EQ(Tensor::full({1}, tie, DType::f8e8m0).item<f32>(), 0x1p61F);
  EXPECT_EQ(Tensor::full({1}, 5, DType::i32).to_dtype(DType::f4).item<i32>(), 4);
  EXPECT_EQ(Tensor::full({1}, 2.0, DType::f4).to_dtype(DType::f6e3m2).item<f32>(), 2.0F);
}

TEST(Packed, CopiesOfAnyView) {
  Random random(3);
  for (const DType t : kRaw)
    for (int round = 0; round < 60; ++round) {
      const Tensor values =
          odd_tensor(testing::random_shape(random, 4, 5), DType::f32, random, Values::tame);
      const Tensor base = values.to_dtype(t);
      const Layout l = testing::random_view(base.layout(), random);
      const Tensor x(base.storage(), l);  // may start and step within bytes
      const Tensor want = Tensor(testing::compact(base.to_dtype(DType::f32)).storage(), l).copy();
      ASSERT_TRUE(same_bits(x.copy().to_dtype(DType::f32), want)) << name(t);
      ASSERT_TRUE(same_bits(x.to_dtype(DType::f32), want)) << name(t);
      const auto v = x.to_vector<f32>();
      ASSERT_EQ(static_cast<Index>(v.size()), x.element_count());
    }
}

TEST(Packed, WritesLeaveNeighboursAlone) {
  for (const DType t : {DType::f4, DType::f6e2m3, DType::f6e3m2}) {
    const Tensor x = Tensor::ones({11}, t);
    fill_into(x.slice(0, 1, 11, 3), 2);
    EXPECT_THAT(x.to_vector<f32>(), ElementsAre(1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 2));
    copy_into(x.narrow(0, 3, 3), Tensor::full({3}, 0.5, DType::f32));
    EXPECT_THAT(x.to_vector<f32>(), ElementsAre(1, 2, 1, 0.5, 0.5, 0.5, 1, 2, 1, 1, 2));
    copy_into(x.narrow(0, 6, 2), x.narrow(0, 4, 2));
    EXPECT_THAT(x.to_vector<f32>(), ElementsAre(1, 2, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 1, 1, 2));
    EXPECT_ERROR(copy_into(x.narrow(0, 0, 3), x.narrow(0, 1, 3)), overlap);
  }
}

TEST(Packed, AddressesAreOfBytes) {
  const Tensor x = Tensor::ones({8}, DType::f4);
  EXPECT_EQ(x.narrow(0, 4, 2).data<f4>() - x.data<f4>(), 2);
  EXPECT_ERROR(x.narrow(0, 1, 2).data<f4>(), argument);
  const Tensor y = Tensor::ones({8}, DType::f6e2m3);
  EXPECT_EQ(y.narrow(0, 4, 2).data<f6e2m3>() - y.data<f6e2m3>(), 3);
  EXPECT_ERROR(y.narrow(0, 2, 2).data<f6e2m3>(), argument);
}

}  // namespace
}  // namespace wick
