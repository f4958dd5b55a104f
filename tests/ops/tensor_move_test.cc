// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>

#include "wick/tensor.h"

namespace wick {
namespace {

/// What was moved from is an empty tensor, not one without memory.
TEST(TensorMove, LeavesAnEmptyTensor) {
  Tensor a = Tensor::ones({2, 3}, DType::i32);
  const Tensor b = std::move(a);
  EXPECT_EQ(a.element_count(), 0);  // NOLINT(bugprone-use-after-move): the point of the test
  EXPECT_EQ(a.dtype(), DType::f32);
  EXPECT_TRUE(a.exp().to_vector<f32>().empty());
  EXPECT_EQ(b.sum().item<i64>(), 6);
  Tensor c = Tensor::ones({4});
  c = Tensor(b);
  EXPECT_EQ(c.sum().item<i64>(), 6);
  Tensor d;
  d = std::move(c);
  EXPECT_EQ(c.element_count(), 0);  // NOLINT(bugprone-use-after-move)
  (void)d.to_dtype(DType::f32).exp();
  EXPECT_EQ(d.shape(), (Dims{2, 3}));
}

}  // namespace
}  // namespace wick
