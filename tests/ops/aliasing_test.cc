// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <functional>

#include "tests/ops/op_calls.h"

// What an output may share with the inputs, and the other checks before a write.

namespace wick {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Random;
using testing::same_bits;

Tensor numbers(Index n) { return Tensor::arange(1, n + 1); }

// C152.
TEST(Aliasing, IdentityIsFine) {
  for (const Dims& shape : {Dims{6}, Dims{1, 6}, Dims{2, 1, 3}, Dims{1}, Dims{}, Dims{6, 1, 1}}) {
    const Tensor a = Tensor::full(shape, 3, DType::f32);
    add_into(a, a, a);
    EXPECT_EQ(a.flatten().to_vector<f32>()[0], 6.0F) << to_string(shape);
    copy_into(a, a);
    neg_into(a, a);
    clamp_into(a, a, -4, 4);
    // The same elements through another handle whose size-1 dims have other strides.
    const Tensor b = a.unsqueeze(0).squeeze(0);
    mul_into(a, b, b);
    EXPECT_EQ(a.flatten().to_vector<f32>()[0], 16.0F) << to_string(shape);
  }
  const Tensor m = Tensor::arange(0, 6).reshape({2, 3});
  sqr_into(m.t(), m.t());
  sqr_into(m.flip(0), m.flip(0));
  EXPECT_THAT(m.flatten().to_vector<f32>(), ElementsAre(0, 1, 16, 81, 256, 625));
  const Tensor flags = Tensor::from_vector(std::vector<u8>{3, 4}, {2});
  eq_into(flags, flags, Scalar(3));
  EXPECT_THAT(flags.to_vector<u8>(), ElementsAre(1, 0));
  where_into(flags, flags, Tensor::full({2}, 7, DType::u8), flags);
  EXPECT_THAT(flags.to_vector<u8>(), ElementsAre(7, 0));
}

TEST(Aliasing, PartialOverlapIsAnError) {
  const Tensor a = numbers(8);
  const Tensor head = a.narrow(0, 0, 7), tail = a.narrow(0, 1, 7);
  EXPECT_ERROR(add_into(tail, tail, head), overlap);
  EXPECT_ERROR(add_into(tail, head, tail), overlap);
  EXPECT_ERROR(exp_into(tail, head), overlap);
  EXPECT_ERROR(add_into(head, tail, Scalar(1)), overlap);
  EXPECT_ERROR(copy_into(tail, head), overlap);
  EXPECT_ERROR(exp_into(a.flip(0), a), overlap);
  const Tensor m = Tensor::arange(0, 9).reshape({3, 3});
  EXPECT_ERROR(exp_into(m.t(), m), overlap);
  EXPECT_ERROR(copy_into(m, m.narrow(0, 0, 1)), overlap);  // a row spread over all
  EXPECT_ERROR(affine_into(m, m.t(), 1, 0), overlap);
  const Tensor u = Tensor::zeros({4}, DType::u8);
  EXPECT_ERROR(
      where_into(u.narrow(0, 0, 3), u.narrow(0, 1, 3), u.narrow(0, 0, 3), u.narrow(0, 0, 3)),
      overlap);
  EXPECT_THAT(a.to_vector<f32>(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));  // nothing was written
}

TEST(Aliasing, SeparatePartsOfOneTensorAreFine) {
  const Tensor m = Tensor::arange(0, 12).reshape({3, 4});
  copy_into(m.narrow(1, 0, 2), m.narrow(1, 2, 2));
  EXPECT_THAT(m.flatten().to_vector<f32>(), ElementsAre(2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11));
  add_into(m.slice(1, 0, 4, 2), m.slice(1, 1, 4, 2), m.slice(1, 1, 4, 2));
  EXPECT_THAT(m.select(0, 0).to_vector<f32>(), ElementsAre(6, 3, 6, 3));
  copy_into(m.narrow(0, 0, 1), m.narrow(0, 2, 1));
}

TEST(Aliasing, TwoTensorsOfOneForeignArray) {
  alignas(8) f32 data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto part = [&](Index from, Index n, DType t = DType::f32) {
    return Tensor::from_foreign(data + from, n * 4, t, Layout::contiguous({n}), nullptr);
  };
  const Tensor whole = part(0, 8), again = part(0, 8), head = part(0, 4), tail = part(4, 4);
  add_into(whole, again, again);  // the same elements
  EXPECT_EQ(data[7], 16);
  sqr_into(head, tail);  // apart
  EXPECT_EQ(data[0], 100);
  sqr_into(whole.narrow(0, 4, 4), head);
  EXPECT_EQ(data[4], 10000);
  neg_into(whole.slice(0, 0, 8, 2), again.slice(0, 1, 8, 2));
  EXPECT_ERROR(neg_into(part(1, 4), head), overlap);
  EXPECT_ERROR(neg_into(whole, again.flip(0)), overlap);
  EXPECT_ERROR(copy_into(part(0, 4, DType::i32), head), overlap);  // other dtypes: not the same
  copy_into(part(0, 4, DType::i32), tail);
  const Tensor wide = Tensor::from_foreign(data, 32, DType::f64, Layout::contiguous({4}), nullptr);
  EXPECT_ERROR(copy_into(wide, whole.narrow(0, 0, 4)), overlap);
  copy_into(wide.narrow(0, 0, 2), tail.narrow(0, 0, 2));  // bytes 0 to 15 and 16 to 23
}

TEST(Aliasing, RandomViewsOfOneTensor) {
  // Whatever is accepted gives what copies of the inputs would give.
  Random random(1);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    const Tensor base = Tensor::arange(1, 25).reshape({2, 3, 4});
    const Tensor out = testing::random_view(base, random, false),
                 a = testing::random_view(base, random);
    const Tensor b = random.chance(50) ? out : testing::random_view(base, random);
    try {
      if (broadcast_shapes(a.shape(), b.shape(), "test") != out.shape()) continue;
    } catch (const Error&) {
      continue;
    }
    const Tensor want = testing::compact(a).add(testing::compact(b));
    try {
      add_into(out, a, b);
      ++accepted;
      ASSERT_TRUE(same_bits(out, want))
          << to_string(out.shape()) << to_string(out.layout().strides);
    } catch (const Error& e) {
      ASSERT_EQ(e.kind(), ErrorKind::overlap) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(accepted, 20);
  EXPECT_GT(refused, 20);
}

TEST(OutputChecks, ShapeDtypeReadOnlyRepetition) {
  const Tensor x = numbers(4);
  Error e = testing::error_of([&] { exp_into(Tensor::empty({5}), x); });
  EXPECT_EQ(e.kind(), ErrorKind::shape);
  EXPECT_THAT(e.what(), ::testing::AllOf(HasSubstr("exp"), HasSubstr("[4]"), HasSubstr("[5]")));
  ASSERT_EQ(e.operands().size(), 1U);
  EXPECT_EQ(e.operands()[0].dtype, "f32");
  EXPECT_ERROR(exp_into(Tensor::empty({1, 4}), x), shape);
  EXPECT_ERROR(add_into(x.narrow(0, 0, 1), x.narrow(0, 2, 1), x), shape);
  e = testing::error_of([&] { exp_into(Tensor::empty({4}, DType::f64), x); });
  EXPECT_EQ(e.kind(), ErrorKind::dtype);
  EXPECT_THAT(e.what(), ::testing::AllOf(HasSubstr("f32"), HasSubstr("f64")));
  EXPECT_ERROR(eq_into(Tensor::empty({4}), x, x), dtype);
  EXPECT_ERROR(exp_into(Tensor::empty({1}).broadcast_as({4}), x), overlap);
  EXPECT_ERROR(fill_into(Tensor::empty({1}).broadcast_as({4}), 1), overlap);
  EXPECT_ERROR(copy_into(Tensor::empty({3}), x), shape);

  const std::vector<f32> fixed{1, 2, 3, 4};
  const Tensor r = Tensor::from_foreign(const_cast<f32*>(fixed.data()), 16, DType::f32,
                                        Layout::contiguous({4}), nullptr, true);
  EXPECT_TRUE(r.is_read_only());
  EXPECT_TRUE(r.narrow(0, 1, 2).is_read_only());
  EXPECT_ERROR(exp_into(r, x), read_only);
  EXPECT_ERROR(exp_into(r, r), read_only);
  EXPECT_ERROR(add_into(r, x, x), read_only);
  EXPECT_ERROR(add_into(r, x, Scalar(1)), read_only);
  EXPECT_ERROR(clamp_into(r, x, 0, 1), read_only);
  EXPECT_ERROR(clamp_into(r, x, NAN, 1), read_only);
  EXPECT_ERROR(copy_into(r, x), read_only);
  EXPECT_ERROR(fill_into(r, 1), read_only);
  EXPECT_ERROR(where_into(r, Tensor::ones({4}, DType::u8), x, x), read_only);
  EXPECT_THAT(r.neg().to_vector<f32>(), ElementsAre(-1, -2, -3, -4));
  EXPECT_THAT(Tensor(r).neg().to_vector<f32>(), ElementsAre(-1, -2, -3, -4));  // not in place
  EXPECT_EQ(fixed[0], 1);
}

TEST(InputChecks, DtypesAndShapesOfPairs) {
  const Tensor a = numbers(4), b = Tensor::ones({4}, DType::f64);
  for (const auto& run : {std::function<void()>([&] { (void)a.add(b); }),
                          std::function<void()>([&] { (void)a.eq(b); }),
                          std::function<void()>([&] { add_into(a, a, b); })}) {
    const Error e = testing::error_of(run);
    EXPECT_EQ(e.kind(), ErrorKind::dtype);
    EXPECT_THAT(e.what(), ::testing::AllOf(HasSubstr("f32"), HasSubstr("f64")));
  }
  const Error e = testing::error_of([&] { (void)a.broadcast_add(numbers(3)); });
  EXPECT_EQ(e.kind(), ErrorKind::shape);
  EXPECT_THAT(e.what(), ::testing::AllOf(HasSubstr("add"), HasSubstr("[4]"), HasSubstr("[3]")));
}

TEST(Reuse, OnlyWhatNobodyElseSees) {
  Tensor a = numbers(100);
  const void* block = view(a.storage()).block;
  Tensor b = std::move(a).exp();
  EXPECT_EQ(view(b.storage()).block, block);
  const Tensor shared = b;
  const Tensor c = std::move(b).neg();
  EXPECT_NE(view(c.storage()).block, block);
  EXPECT_EQ(view(shared.storage()).block, block);
  EXPECT_GT(shared.select(0, 0).item<f32>(), 0);
  // An lvalue is never written to.
  const Tensor x = numbers(4);
  (void)x.neg();
  EXPECT_THAT(x.to_vector<f32>(), ElementsAre(1, 2, 3, 4));
  // A unique but strided view is reused as it is.
  const Tensor strided = Tensor::arange(0, 12).reshape({3, 4}).t().narrow(0, 1, 2).neg();
  EXPECT_THAT(strided.flatten().to_vector<f32>(), ElementsAre(-1, -5, -9, -2, -6, -10));
  // A broadcast view is not: one element stands for many.
  const Tensor wide = Tensor::full({1}, 2, DType::f32).broadcast_as({4}).sqr();
  EXPECT_THAT(wide.to_vector<f32>(), ElementsAre(4, 4, 4, 4));
  // An op that fails leaves its input alone.
  Tensor ints = Tensor::full({3}, 5, DType::i32);
  EXPECT_ERROR(std::move(ints).exp(), unsupported_dtype);
  EXPECT_THAT(ints.to_vector<i32>(), ElementsAre(5, 5, 5));  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace wick
