// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ops/op_calls.h"
#include "wick/parallel/executor.h"
#include "wick/random.h"

// The bits of a result do not depend on the number of threads.

namespace wick {
namespace {

using testing::all_ops;
using testing::call;
using testing::odd_tensor;
using testing::Random;
using testing::same_bits;
using testing::Values;

/// Claims to have threads and runs the ranks one after the other, last first: how work is cut
/// shows, whatever the machine.
class Pretend final : public Executor {
 public:
  explicit Pretend(int threads) : threads_(threads) {}
  int threads() const override { return threads_; }

 private:
  void run_ranks(int ranks, FunctionRef<void(int)> f) override {
    for (int r = ranks - 1; r >= 0; --r) f(r);
  }
  int threads_;
};

/// f's result on one thread and on others.
template <class F>
void check(std::string_view op, F&& f) {
  Tensor want;
  {
    SerialExecutor one;
    const ExecutorScope scope(one);
    want = f();
  }
  for (const int threads : {2, 3, 8}) {
    Pretend pretend(threads);
    const ExecutorScope scope(pretend);
    const Tensor got = f();
    ASSERT_EQ(view(got.storage()).bytes, view(want.storage()).bytes);
    ASSERT_EQ(std::memcmp(view(got.storage()).data, view(want.storage()).data,
                          static_cast<std::size_t>(view(want.storage()).bytes)),
              0)
        << op << " on " << threads;
  }
}

TEST(Threads, EveryOpAboveItsGrain) {
  Random random(1);
  const Dims shape{3, 367, 211};  // 232 000 elements: seven pieces of the large grain
  for (const DType t : {DType::f32, DType::bf16, DType::i32}) {
    const Tensor base = testing::fill_random(Tensor::empty({367, 3, 211}, t), random, Values::any);
    const Tensor x = base.transpose(0, 1),
                 row = testing::fill_random(Tensor::empty({211}, t), random, Values::divisors);
    for (const UnaryOp op : all_ops<UnaryOp>())
      if (testing::takes(info(op).domain, t)) check(info(op).name, [&] { return call(op, x); });
    for (const BinaryOp op : all_ops<BinaryOp>())
      if (!(is_int(t) && op == BinaryOp::pow))
        check(info(op).name, [&] { return call(op, x, row); });
    check("eq", [&] { return x.eq(row); });
    check("clamp", [&] { return x.clamp(-1, 1.5); });
    check("affine", [&] { return x.affine(0.3, 0.7); });
    check("copy", [&] { return x.copy(); });
    check("cast", [&] { return x.to_dtype(DType::f64); });
    check("where", [&] { return x.eq(row).where_cond(x, row); });
    check("full", [&] { return Tensor::full(shape, 3, t); });
    check("arange", [&] { return Tensor::arange(0, 200000, 0.7, t); });
    check("pack", [&] { return x.to_dtype(DType::f4); });
  }
}

TEST(Threads, RealPoolsGiveTheSame) {
  const Tensor x = Tensor::randn({500, 401});
  SerialExecutor one;
  Tensor want;
  {
    const ExecutorScope scope(one);
    want = x.t().exp();
  }
  const int before = num_threads();
  for (const int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    ASSERT_TRUE(same_bits(x.t().exp(), want)) << threads;
    ASSERT_TRUE(same_bits(with_context([&] { return x.t().exp(); }), want)) << threads;
  }
  set_num_threads(before);
}

TEST(Threads, AnErrorInOnePieceIsReportedOnceAndWritesNothing) {
  const Tensor a = Tensor::full({300000}, 6, DType::i32), b = Tensor::full({300000}, 2, DType::i32);
  fill_into(b.narrow(0, 250000, 1), 0);
  const Tensor out = Tensor::full({300000}, 1, DType::i32);
  EXPECT_ERROR(div_into(out, a, b), arithmetic);
  EXPECT_TRUE(same_bits(out, Tensor::full({300000}, 1, DType::i32)));
  EXPECT_EQ(a.div(2).select(0, 299999).item<i32>(), 3);  // the pool works on
}

TEST(RandomNumbers, TheSameForAnyThreadCount) {
  for (const DType t : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::f8e4m3})
    for (const Dims& shape : {Dims{}, Dims{257}, Dims{100, 1001}}) {
      check("rand", [&] {
        Generator g(7);
        return rand_uniform(shape, t, g);
      });
      check("randn", [&] {
        Generator g(7);
        return rand_normal(shape, t, g);
      });
    }
}

TEST(RandomNumbers, MomentsAndRange) {
  Generator g(3);
  for (const DType t : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    const auto u = testing::doubles_of(rand_uniform({200000}, t, g));
    const auto n = testing::doubles_of(rand_normal({200000}, t, g));
    f64 sum = 0, squares = 0, low = 1, high = 0, nsum = 0, nsquares = 0, fourth = 0;
    for (const f64 v : u) {
      sum += v;
      squares += v * v;
      low = std::min(low, v);
      high = std::max(high, v);
    }
    int negative = 0;
    for (const f64 v : n) {
      ASSERT_TRUE(std::isfinite(v));
      nsum += v;
      nsquares += v * v;
      fourth += v * v * v * v;
      negative += v < 0 ? 1 : 0;
    }
    const f64 count = 200000;
    // Five standard errors.
    EXPECT_NEAR(sum / count, t == DType::bf16 ? 0.5 - 1.0 / 512 : 0.5, 0.0035) << name(t);
    EXPECT_NEAR(squares / count, 1.0 / 3, 0.0055) << name(t);
    EXPECT_GE(low, 0);
    EXPECT_LT(high, 1);
    EXPECT_NEAR(nsum / count, 0, 0.0115) << name(t);
    EXPECT_NEAR(nsquares / count, 1, 0.016) << name(t);
    EXPECT_NEAR(fourth / count, 3, 0.12) << name(t);
    EXPECT_NEAR(negative / count, 0.5, 0.006) << name(t);
  }
}

TEST(RandomNumbers, SeedsAndSequences) {
  const std::uint64_t before = get_seed();
  set_seed(42);
  EXPECT_EQ(get_seed(), 42U);
  const Tensor a = Tensor::randn({1000}), b = Tensor::randn({1000});
  EXPECT_FALSE(same_bits(a, b));
  set_seed(42);
  EXPECT_TRUE(same_bits(Tensor::randn({1000}), a));
  EXPECT_TRUE(same_bits(Tensor::randn({1000}), b));
  set_seed(43);
  EXPECT_FALSE(same_bits(Tensor::randn({1000}), a));
  Generator g(42), h(42);
  EXPECT_TRUE(same_bits(rand_uniform({5, 7}, DType::f32, g), rand_uniform({5, 7}, DType::f32, h)));
  EXPECT_EQ(Tensor::randn({0, 3}).element_count(), 0);
  EXPECT_ERROR(Tensor::randn({3}, DType::i32), unsupported_dtype);
  EXPECT_ERROR(Tensor::rand({3}, DType::f4), unsupported_dtype);
  set_seed(before);
}

}  // namespace
}  // namespace wick
