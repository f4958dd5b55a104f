// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/all_isas.h"
#include "tests/parallel/std_thread_pool.h"
#include "wick/base/error.h"
#include "wick/gemm.h"
#include "wick/parallel/executor.h"
#include "wick/tensor.h"

namespace wick {
namespace {

/// Values that every float type holds exactly, and whose small products do too.
Tensor numbers(const Dims& shape, DType dtype, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<f32> values(static_cast<std::size_t>(element_count(shape)));
  for (auto& v : values) v = static_cast<f32>(std::uniform_int_distribution<int>(-2, 2)(rng));
  return Tensor::from_vector(values, shape).to_dtype(dtype);
}

/// One element, element by element in f64.
f64 product(const Tensor& a, const Tensor& b, Index i, Index j) {
  f64 sum = 0;
  for (Index k = 0; k < a.size(1); ++k)
    sum += a.select(0, i).select(0, k).item<f64>() * b.select(0, k).select(0, j).item<f64>();
  return sum;
}

void expect_product(const Tensor& out, const Tensor& a, const Tensor& b) {
  for (Index i = 0; i < out.size(0); ++i)
    for (Index j = 0; j < out.size(1); ++j)
      ASSERT_EQ(out.select(0, i).select(0, j).item<f64>(), product(a, b, i, j)) << i << ' ' << j;
}

constexpr DType kDTypes[] = {DType::u8,   DType::u32, DType::i16, DType::i32, DType::i64,
                             DType::bf16, DType::f16, DType::f32, DType::f64, DType::f8e4m3};

TEST(Matmul, EveryDType) {
  testing::for_each_isa([] {
    for (const DType dtype : kDTypes) {
      const bool is_unsigned = dtype == DType::u8 || dtype == DType::u32;
      Tensor a = numbers({3, 5}, dtype, 1), b = numbers({5, 4}, dtype, 2);
      if (is_unsigned) a = a.mul(a), b = b.mul(b);
      const Tensor c = a.matmul(b);
      EXPECT_EQ(c.dtype(), dtype);
      EXPECT_EQ(c.shape(), Dims({3, 4}));
      expect_product(c, a, b);
      if (dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f8e4m3) {
        const Tensor wide = Tensor::empty({3, 4}, DType::f32);
        matmul_into(wide, a, b);
        expect_product(wide, a, b);
      }
    }
  });
}

TEST(Matmul, F8ToF32DoesNotSaturate) {
  const Tensor a = Tensor::full({1, 2}, 448, DType::f8e4m3);
  EXPECT_EQ(a.matmul(a.t()).item<f32>(), 448.0F);
  const Tensor wide = Tensor::empty({1, 1}, DType::f32);
  matmul_into(wide, a, a.t());
  EXPECT_EQ(wide.item<f32>(), 2 * 448.0F * 448.0F);
}

TEST(Matmul, IntegersWrap) {
  const Tensor a = Tensor::full({1, 3}, 200, DType::u8);
  EXPECT_EQ(a.matmul(a.t()).item<u8>(), static_cast<u8>(3 * 200 * 200));
  const Tensor b = Tensor::full({1, 1}, std::numeric_limits<i64>::max(), DType::i64);
  EXPECT_EQ(b.matmul(b).item<i64>(), 1);
}

TEST(Matmul, BroadcastsAnyBatchDims) {
  for (const auto& [x, y] : std::vector<std::pair<Dims, Dims>>{{{2, 3, 4, 5}, {2, 3, 5, 6}},
                                                               {{2, 3, 4, 5}, {5, 6}},
                                                               {{4, 5}, {2, 3, 5, 6}},
                                                               {{1, 3, 4, 5}, {2, 1, 5, 6}},
                                                               {{2, 1, 1, 5}, {3, 5, 6}},
                                                               {{3, 4, 5}, {2, 3, 5, 1}},
                                                               {{2, 2, 2, 1, 5}, {2, 5, 1}}}) {
    const Tensor a = numbers(x, DType::f32, 3), b = numbers(y, DType::f32, 4);
    const Tensor c = a.matmul(b);
    Dims batch = c.shape();
    batch = batch.erased(batch.rank() - 1).erased(batch.rank() - 2);
    Dims full_a = batch, full_b = batch;
    for (const int i : {2, 1}) {
      full_a.push_back(x.last(i));
      full_b.push_back(y.last(i));
    }
    const Tensor all_a = a.broadcast_as(full_a).contiguous(),
                 all_b = b.broadcast_as(full_b).contiguous();
    const Index count = element_count(batch);
    const Tensor flat_a = all_a.reshape({count, x.last(2), x.last(1)}),
                 flat_b = all_b.reshape({count, y.last(2), y.last(1)}),
                 flat_c = c.reshape({count, x.last(2), y.last(1)});
    for (Index i = 0; i < count; ++i)
      expect_product(flat_c.select(0, i), flat_a.select(0, i), flat_b.select(0, i));
    // The same with broadcast views, whose strides are 0, and into an output of another order.
    const Tensor views = a.broadcast_as(full_a).matmul(b.broadcast_as(full_b));
    EXPECT_EQ(views.to_vector<f32>(), c.to_vector<f32>());
    const Tensor turned = Tensor::full(c.t().shape(), NAN).t();
    matmul_into(turned, a, b);
    EXPECT_EQ(turned.to_vector<f32>(), c.to_vector<f32>());
  }
}

TEST(Matmul, Views) {
  const Tensor a = numbers({7, 9}, DType::f32, 5), b = numbers({9, 6}, DType::f32, 6);
  const Tensor c = a.matmul(b);
  expect_product(c, a, b);
  expect_product(b.t().matmul(a.t()), b.t(), a.t());
  expect_product(a.flip(0).matmul(b.flip(1)), a.flip(0), b.flip(1));
  expect_product(a.slice(1, 0, 9, 3).matmul(b.slice(0, 0, 9, 3)), a.slice(1, 0, 9, 3),
                 b.slice(0, 0, 9, 3));
  expect_product(a.narrow(1, 2, 4).matmul(b.narrow(0, 3, 4)), a.narrow(1, 2, 4), b.narrow(0, 3, 4));
}

TEST(Matmul, DegenerateSizes) {
  const Tensor c = Tensor::empty({3, 0}).matmul(Tensor::empty({0, 4}));
  EXPECT_EQ(c.to_vector<f32>(), std::vector<f32>(12, 0.0F));
  EXPECT_EQ(Tensor::empty({0, 3}).matmul(Tensor::ones({3, 4})).shape(), Dims({0, 4}));
  EXPECT_EQ(Tensor::empty({5, 0, 3}).matmul(Tensor::ones({3, 2})).shape(), Dims({5, 0, 2}));
  EXPECT_EQ(Tensor::empty({0, 2, 3}).matmul(Tensor::ones({3, 2})).shape(), Dims({0, 2, 2}));
  const Tensor old = Tensor::full({2, 2}, 3);
  matmul_into(old, Tensor::empty({2, 0}), Tensor::empty({0, 2}), 1, 2);
  EXPECT_EQ(old.to_vector<f32>(), std::vector<f32>(4, 6.0F));
}

TEST(Matmul, AlphaAndBeta) {
  const Tensor a = numbers({4, 5}, DType::f32, 7), b = numbers({5, 3}, DType::f32, 8);
  const Tensor c = Tensor::full({4, 3}, 10);
  matmul_into(c, a, b, 2, -0.5);
  EXPECT_EQ(c.to_vector<f32>(), a.matmul(b).mul(2).sub(5).to_vector<f32>());
}

TEST(Matmul, BadInput) {
  const Tensor a = Tensor::ones({2, 3}), b = Tensor::ones({4, 5});
  const auto kind = [](auto&& f) {
    try {
      f();
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::internal;
  };
  EXPECT_EQ(kind([&] { a.matmul(b); }), ErrorKind::shape);
  EXPECT_EQ(kind([&] { a.matmul(Tensor::ones({3})); }), ErrorKind::shape);
  EXPECT_EQ(kind([&] { Tensor::ones({2, 2, 3}).matmul(Tensor::ones({3, 3, 2})); }),
            ErrorKind::shape);
  EXPECT_EQ(kind([&] { a.matmul(Tensor::ones({3, 2}, DType::f64)); }), ErrorKind::dtype);
  const Tensor raw = Tensor::zeros({4, 4}, DType::f8e4m3);
  const Tensor c = Tensor::ones({3, 3});
  EXPECT_EQ(kind([&] { matmul_into(c, c, c); }), ErrorKind::overlap);
  EXPECT_EQ(kind([&] { matmul_into(Tensor::ones({3, 4}), c, c); }), ErrorKind::shape);
  EXPECT_EQ(kind([&] { matmul_into(Tensor::ones({3, 3}, DType::f64), c, c); }), ErrorKind::dtype);
  EXPECT_EQ(kind([&] { matmul_into(Tensor::ones({1, 3}).broadcast_as({3, 3}), c, c); }),
            ErrorKind::overlap);
  const Tensor i = Tensor::ones({3, 3}, DType::i32);
  EXPECT_EQ(kind([&] { matmul_into(Tensor::ones({3, 3}, DType::i32), i, i, 0.5); }),
            ErrorKind::argument);
}

TEST(Matmul, MatrixTimesVectorIsAColumnOfTheProduct) {
  const Tensor a = Tensor::randn({70, 500}), b = Tensor::randn({500, 33});
  const Tensor c = a.matmul(b);
  EXPECT_EQ(a.mv(b.select(1, 7)).to_vector<f32>(), c.select(1, 7).to_vector<f32>());
  EXPECT_EQ(a.narrow(0, 9, 1).matmul(b).to_vector<f32>(), c.narrow(0, 9, 1).to_vector<f32>());
  EXPECT_THROW(a.mv(b), Error);
}

TEST(Dot, SumsInAFixedOrder) {
  for (const Index n : {0, 1, 63, 64, 65, 2048, 5000, 100000}) {
    const Tensor a = Tensor::randn({n}), b = Tensor::randn({n});
    const f32 sum = a.dot(b).item<f32>();
    f64 exact = 0, size = 0;
    const auto x = a.to_vector<f32>(), y = b.to_vector<f32>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      exact += f64{x[i]} * f64{y[i]};
      size += std::fabs(f64{x[i]} * f64{y[i]});
    }
    EXPECT_NEAR(f64{sum}, exact, 100 * 6e-8 * size);
    EXPECT_EQ(a.flip(0).flip(0).dot(b.copy()).item<f32>(), sum);
    for (const int threads : {1, 2, 3, 8}) {
      StdThreadPool pool(threads);
      const ExecutorScope scope(pool);
      EXPECT_EQ(a.dot(b).item<f32>(), sum);
    }
  }
  for (const DType dtype : kDTypes) {
    const Tensor a = Tensor::ones({300}, dtype), b = Tensor::ones({300}, dtype);
    const f64 want = dtype == DType::u8 ? 300 - 256 : dtype == DType::f8e4m3 ? 288 : 300;
    EXPECT_EQ(a.dot(b).item<f64>(), want) << name(dtype);
  }
  EXPECT_THROW(Tensor::ones({2}).dot(Tensor::ones({3})), Error);
}

TEST(RawGemm, MultipliesMemoryOfTheCaller) {
  const std::vector<f32> a{1, 2, 3, 4, 5, 6}, b{1, 0, 0, 1, 1, 1};
  std::vector<f32> c(4, 1);
  gemm<f32>(2, 2, 3, 2, a.data(), 3, 1, b.data(), 2, 1, 1, c.data(), 2, 1);
  EXPECT_EQ(c, (std::vector<f32>{9, 11, 21, 23}));
  gemm<f32>(2, 2, 3, 1, a.data() + 5, -3, -1, b.data(), 2, 1, 0, c.data(), 1, 2);
  EXPECT_EQ(c, (std::vector<f32>{10, 4, 9, 3}));
}

TEST(RawGemm, RefusesNonsense) {
  std::vector<f32> x(16);
  f32* p = x.data();
  EXPECT_THROW(gemm<f32>(-1, 2, 2, 1, p, 2, 1, p, 2, 1, 0, p, 2, 1), Error);
  EXPECT_THROW(gemm<f32>(2, 2, 2, 1, nullptr, 2, 1, p, 2, 1, 0, p, 2, 1), Error);
  EXPECT_THROW(gemm<f32>(2, 2, 2, 1, p, 2, 1, p, 2, 1, 0, nullptr, 2, 1), Error);
  EXPECT_THROW(gemm<f32>(2, 2, 2, 1, p, 2, 1, p, 2, 1, 0, p, 0, 1), Error);
  EXPECT_THROW(gemm<f32>(3, 3, 2, 1, p, 2, 1, p, 2, 1, 0, p, 2, 1), Error);
  EXPECT_THROW(gemm<f32>(2, 2, 2, 1, p, Index{1} << 62, 1, p, 2, 1, 0, p, Index{1} << 62, 1),
               Error);
  gemm<f32>(0, 2, 2, 1, nullptr, 2, 1, nullptr, 2, 1, 0, nullptr, 2, 1);
  std::vector<f32> c(4, 5);
  gemm<f32>(2, 2, 0, 1, nullptr, 0, 0, nullptr, 0, 0, 0, c.data(), 2, 1);
  EXPECT_EQ(c, std::vector<f32>(4, 0));
}

}  // namespace
}  // namespace wick
