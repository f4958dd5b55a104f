// SPDX-License-Identifier: Apache-2.0
#include "wick/tensor.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/ops/op_calls.h"

namespace wick {
namespace {

using testing::doubles_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kTen;
using testing::Random;
using testing::same_bits;

constexpr Index kHuge = Index{1} << 40;

TEST(Making, FullZerosOnesInEveryDtype) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    for (const Dims& shape : {Dims{}, Dims{0}, Dims{3, 5}, Dims{100000}}) {
      const Index n = element_count(shape);
      const Tensor ones = Tensor::ones(shape, t);
      EXPECT_EQ(ones.dtype(), t);
      EXPECT_EQ(ones.shape(), shape);
      const auto v = ones.to_vector<f32>();
      EXPECT_EQ(std::count(v.begin(), v.end(), 1.0F), n) << name(t);
      const auto z = Tensor::zeros(shape, t).to_vector<f32>();
      // A scale has no zero: its smallest power stands for it.
      EXPECT_EQ(std::count(z.begin(), z.end(), t == DType::f8e8m0 ? 0x1p-127F : 0.0F), n)
          << name(t);
    }
  }
  EXPECT_THAT(Tensor::full({2}, 3.7, DType::i32).to_vector<i32>(), ElementsAre(3, 3));
  EXPECT_THAT(Tensor::full({1}, -1, DType::u8).to_vector<u8>(), ElementsAre(255));
  EXPECT_EQ(Tensor::scalar(2.5).item<f32>(), 2.5F);
  EXPECT_EQ(Tensor().element_count(), 0);
  EXPECT_EQ(Tensor().shape(), Dims{0});
  EXPECT_THAT(Tensor().exp().to_vector<f32>(), IsEmpty());
}

TEST(Making, FillThroughViewsChangesThoseElementsOnly) {
  for (const DType t : kTen) {
    const Tensor m = Tensor::zeros({4, 5}, t);
    fill_into(m.select(1, 2), 1);
    fill_into(m.select(0, -1).slice(0, 0, 5, 2), 2);
    EXPECT_THAT(m.flatten().to_vector<i32>(),
                ElementsAre(0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 2, 0, 2, 0, 2));
  }
}

// C084.
TEST(Making, Arange) {
  EXPECT_EQ(Tensor::arange(0.1, 0.5, 0.05, DType::f64).element_count(), 8);
  EXPECT_DOUBLE_EQ(Tensor::arange(0.1, 0.5, 0.05, DType::f64).select(0, 7).item<f64>(), 0.45);
  EXPECT_EQ(Tensor::arange(0, 1, 0.2).element_count(), 5);
  EXPECT_THAT(Tensor::arange(5, 0, -2, DType::i32).to_vector<i32>(), ElementsAre(5, 3, 1));
  EXPECT_THAT(Tensor::arange(0, 4, 1, DType::f8e4m3).to_vector<f32>(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Tensor::arange(0, 5.5).to_vector<f32>(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(Tensor::arange(3, 3).element_count(), 0);
  EXPECT_EQ(Tensor::arange(3, 0).element_count(), 0);
  EXPECT_EQ(Tensor::arange(0, 1e6, 1, DType::f64).select(0, 999999).item<f64>(), 999999.0);
  const i64 far = i64{1} << 53;  // where f64 has no odd numbers
  EXPECT_THAT(Tensor::arange(far, far + 3, 1, DType::i64).to_vector<i64>(),
              ElementsAre(far, far + 1, far + 2));
  EXPECT_THAT(Tensor::arange(INT64_MIN, INT64_MAX, INT64_MAX, DType::i64).to_vector<i64>(),
              ElementsAre(INT64_MIN, -1, INT64_MAX - 1));
  EXPECT_THAT(Tensor::arange(INT64_MAX, INT64_MIN, INT64_MIN, DType::i64).to_vector<i64>(),
              ElementsAre(INT64_MAX, -1));
  EXPECT_ERROR(Tensor::arange(0, 1, 0), argument);
  EXPECT_ERROR(Tensor::arange(0, 1, 0.0), argument);
  EXPECT_ERROR(Tensor::arange(0, INFINITY), argument);
  EXPECT_ERROR(Tensor::arange(0, 1, NAN), argument);
  EXPECT_ERROR(Tensor::arange(NAN, 1), argument);
  EXPECT_ERROR(Tensor::arange(0, 1, 1e-300), argument);
  EXPECT_ERROR(Tensor::arange(0, 1e17), out_of_memory);
  EXPECT_ERROR(Tensor::arange(0, 4, 1, DType::f4), unsupported_dtype);
}

// C078, C077.
TEST(Making, CountsAndSizesAreChecked) {
  EXPECT_ERROR(Tensor::from_vector(std::vector<f32>{1}, {10}), shape);
  EXPECT_ERROR(Tensor::from_vector(std::vector<f32>{1, 2, 3, 4}, {2, 2, 2}), shape);
  EXPECT_ERROR(Tensor::from_vector(std::vector<f32>{}, {-1}), shape);
  EXPECT_ERROR(Tensor::empty({-1, 0}), shape);
  EXPECT_ERROR(Tensor::empty({Index{1} << 32, Index{1} << 32}), overflow);
  EXPECT_ERROR(Tensor::empty({Index{1} << 61}, DType::f64), overflow);
  EXPECT_ERROR(Tensor::empty({Index{1} << 50}), out_of_memory);
  EXPECT_ERROR(Tensor::zeros({kHuge, kHuge}), overflow);
  for (const Dims& shape : {Dims{kHuge, kHuge, 0}, Dims{0, kHuge, kHuge}, Dims{kHuge, 0, kHuge}}) {
    const Tensor x = Tensor::zeros(shape);
    EXPECT_EQ(x.element_count(), 0);
    EXPECT_EQ(x.exp().shape(), shape);
    EXPECT_EQ((x + x).shape(), shape);
    EXPECT_EQ(x.copy().shape(), shape);
    EXPECT_EQ(x.transpose(0, 2).flip(1).to_dtype(DType::i64).element_count(), 0);
    EXPECT_EQ(x.reshape({0, kHuge, kHuge}).shape(), Dims({0, kHuge, kHuge}));
    EXPECT_EQ(x.reshape({kHuge, kHuge, 0}).shape(), Dims({kHuge, kHuge, 0}));
    EXPECT_EQ(x.flatten().shape(), Dims{0});
    EXPECT_THAT(x.to_vector<f32>(), IsEmpty());
    EXPECT_THAT(x.to_string(), HasSubstr("[]"));  // and at once
    fill_into(x, 1);
  }
  EXPECT_ERROR(Tensor::zeros({kHuge, kHuge, 0}).flatten(0, 1), overflow);
}

TEST(Shapes, ReshapeAndFlatten) {
  const Tensor x = Tensor::arange(0, 24).reshape({2, 3, 4});
  EXPECT_EQ(x.reshape({-1}).shape(), Dims{24});
  EXPECT_EQ(x.reshape({4, -1}).shape(), Dims({4, 6}));
  EXPECT_EQ(view(x.reshape({6, 4}).storage()).data, view(x.storage()).data);
  EXPECT_EQ(x.flatten(1).shape(), Dims({2, 12}));
  EXPECT_EQ(x.flatten(0, 1).shape(), Dims({6, 4}));
  EXPECT_EQ(x.flatten(-2, -1).shape(), Dims({2, 12}));
  EXPECT_EQ(Tensor::scalar(1).flatten().shape(), Dims{1});
  EXPECT_EQ(Tensor::scalar(1).reshape({1, 1}).reshape({}).rank(), 0);
  EXPECT_EQ(Tensor::zeros({0, 4}).reshape({-1, 4}).shape(), Dims({0, 4}));
  EXPECT_ERROR(Tensor::arange(0, 16).reshape({2, 8}).reshape({1, 8}), shape);
  EXPECT_ERROR(x.reshape({5, -1}), shape);
  EXPECT_ERROR(x.reshape({-1, -1}), shape);
  EXPECT_ERROR(x.reshape({-2, 12}), shape);
  EXPECT_ERROR(Tensor::zeros({0}).reshape({0, -1}), shape);
  EXPECT_ERROR(x.reshape({kHuge, kHuge}), overflow);
  EXPECT_ERROR(x.reshape({kHuge, kHuge, -1}), overflow);
  EXPECT_ERROR(x.flatten(2, 1), argument);
  EXPECT_ERROR(x.flatten(0, 3), index);
  // Where no view exists, the elements are copied in their order.
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const Tensor v = testing::random_view(x, random);
    EXPECT_TRUE(same_bits(v.reshape({v.element_count()}),
                          testing::compact(v).reshape({v.element_count()})));
  }
}

// C075.
TEST(Shapes, AxesAndIndices) {
  const Tensor x = Tensor::arange(0, 24).reshape({2, 3, 4});
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_EQ(x.select(-1, -1).shape(), Dims({2, 3}));
  EXPECT_EQ(x.select(0, 1).select(0, 2).select(0, 3).item<f32>(), 23);
  for (const Index bad : {Index{3}, Index{-4}, Index{-100}, INT64_MIN, INT64_MAX}) {
    EXPECT_ERROR(x.size(bad), index);
    EXPECT_ERROR(x.select(bad, 0), index);
    EXPECT_ERROR(x.select(0, bad), index);
    EXPECT_ERROR(x.transpose(0, bad), index);
    EXPECT_ERROR(x.flip(bad), index);
    EXPECT_ERROR(x.squeeze(bad), index);
    EXPECT_ERROR(x.narrow(bad, 0, 1), index);
    EXPECT_ERROR(x.slice(bad, 0, 1), index);
  }
  EXPECT_ERROR(x.unsqueeze(4), index);
  EXPECT_ERROR(Tensor::scalar(1).t(), index);
  EXPECT_ERROR(Tensor::scalar(1).select(0, 0), index);
  EXPECT_ERROR(Tensor::zeros({0}).select(0, 0), index);
  EXPECT_ERROR(Tensor::zeros({1, 1, 1, 1, 1, 1, 1, 1}).unsqueeze(0), shape);
  EXPECT_EQ(Tensor::zeros({0}).slice(0, 0, -1, -1).element_count(), 0);
}

TEST(Reading, ItemAndToVector) {
  EXPECT_EQ(Tensor::full({1, 1}, 2.75, DType::f64).item<i32>(), 2);
  EXPECT_ERROR(Tensor::zeros({2}).item<f32>(), shape);
  EXPECT_ERROR(Tensor::zeros({0}).item<f32>(), shape);
  const Tensor m = Tensor::arange(0, 6).reshape({2, 3});
  EXPECT_THAT(m.t().to_vector<f32>(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(m.flip(1).to_vector<i64>(), ElementsAre(2, 1, 0, 5, 4, 3));
  EXPECT_EQ(m.select(1, 2).data<f32>()[0], 2);
  EXPECT_ERROR(m.data<f64>(), dtype);
}

TEST(Foreign, LayoutMustStayInside) {
  std::vector<f32> data(10);
  const auto make = [&](const Layout& l, Index bytes = 40, DType t = DType::f32) {
    return Tensor::from_foreign(data.data(), bytes, t, l, nullptr);
  };
  EXPECT_EQ(make({{2, 5}, {5, 1}, 0}).element_count(), 10);
  EXPECT_EQ(make({{10}, {-1}, 9}).element_count(), 10);
  EXPECT_ERROR(make({{10}, {-1}, 8}), shape);
  EXPECT_ERROR(make({{11}, {1}, 0}), shape);
  EXPECT_ERROR(make({{10}, {1}, 1}), shape);
  EXPECT_ERROR(make({{10}, {1}, -1}), shape);
  EXPECT_ERROR(make({{2, 2}, {1}, 0}), shape);
  EXPECT_ERROR(make({{2}, {INT64_MAX}, 1}), overflow);
  EXPECT_ERROR(make({{3}, {INT64_MIN}, 0}), overflow);
  EXPECT_ERROR(make({{2}, {INT64_MIN}, 0}), shape);
  EXPECT_ERROR(make({{-1}, {1}, 0}), shape);
  EXPECT_ERROR(make({{1}, {1}, 0}, -4), argument);
  EXPECT_ERROR(make({{2}, {1}, 9}, 43), shape);  // three bytes are no element
  EXPECT_EQ(make({{81}, {1}, 0}, 61, DType::f6e2m3).element_count(), 81);
  EXPECT_ERROR(make({{82}, {1}, 0}, 61, DType::f6e2m3), shape);
  EXPECT_EQ(make({{1}, {1}, 0}, INT64_MAX, DType::f4).element_count(), 1);
  EXPECT_ERROR(Tensor::from_foreign(nullptr, 4, DType::f32, Layout::contiguous({1}), nullptr),
               argument);
  EXPECT_EQ(Tensor::from_foreign(nullptr, 0, DType::f32, Layout::contiguous({0}), nullptr)
                .element_count(),
            0);
  EXPECT_ERROR(Tensor(make({{10}, {1}, 0}).storage(), {{11}, {1}, 0}), shape);
  // An empty tensor may come with any strides and offset; its views lead nowhere.
  const Tensor e = make({{0, 5}, {INT64_MAX, INT64_MAX / 2}, INT64_MAX});
  EXPECT_EQ(e.narrow(1, 4, 1).flip(1).unsqueeze(0).reshape({0}).exp().element_count(), 0);
  // Any stride on a dim of one element.
  EXPECT_EQ(make({{1, 2}, {INT64_MIN, 1}, 0}).flip(0).exp().element_count(), 2);
}

TEST(Foreign, MisalignedMemoryIsCopied) {
  alignas(16) unsigned char bytes[64] = {};
  const f64 value = 2.5;
  std::memcpy(bytes + 4, &value, 8);
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = owner;
  const Tensor x =
      Tensor::from_foreign(bytes + 4, 8, DType::f64, Layout::contiguous({1}), std::move(owner));
  EXPECT_EQ(x.item<f64>(), 2.5);
  EXPECT_TRUE(watch.expired());
  bytes[4] = 1;
  EXPECT_EQ(x.item<f64>(), 2.5);
  const Tensor y = Tensor::from_foreign(bytes + 4, 8, DType::f32, Layout::contiguous({2}), nullptr);
  EXPECT_EQ(static_cast<void*>(y.data<f32>()), static_cast<void*>(bytes + 4));
}

TEST(Foreign, OwnerLivesAsLongAsAView) {
  auto owner = std::make_shared<std::vector<f32>>(std::vector<f32>{1, 2, 3, 4});
  const std::weak_ptr<std::vector<f32>> watch = owner;
  f32* data = owner->data();
  Tensor view_of_it;
  {
    const Tensor x =
        Tensor::from_foreign(data, 16, DType::f32, Layout::contiguous({4}), std::move(owner));
    view_of_it = x.narrow(0, 2, 2);
  }
  EXPECT_FALSE(watch.expired());
  EXPECT_THAT(view_of_it.to_vector<f32>(), ElementsAre(3, 4));
  neg_into(view_of_it, view_of_it);
  EXPECT_EQ(data[3], -4);
  view_of_it = Tensor();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace wick
