// SPDX-License-Identifier: Apache-2.0
#include "wick/blas.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <vector>

#include "wick/base/error.h"
#include "wick/tensor.h"

namespace wick {
namespace {

/// Back to wick's own engine at the end of a test.
struct Restore {
  ~Restore() { set_blas(Blas::wick); }
};

f64 largest_difference(const Tensor& a, const Tensor& b) {
  return a.to_dtype(DType::f64).sub(b.to_dtype(DType::f64)).abs().max().item<f64>();
}

TEST(Blas, EveryEngineAgreesWithWicks) {
  const Restore restore;
  for (const BlasInfo& info : blas_engines()) {
    if (!info.found) {
      std::cout << "[ MISSING  ] " << name(info.engine) << ": " << info.note << '\n';
      EXPECT_THROW(set_blas(info.engine), Error);
      continue;
    }
    EXPECT_TRUE(info.built);
    std::cout << "[   FOUND  ] " << name(info.engine) << ' ' << info.version << ' ' << info.path
              << '\n';
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i32}) {
      const auto values = [dtype](const Dims& shape) {
        const Tensor x = Tensor::randn(shape);
        return (dtype == DType::i32 ? x.mul(10) : x).to_dtype(dtype);
      };
      const Tensor a = values({3, 17, 23}), b = values({3, 23, 31}), row = values({1, 23});
      const auto products = [&] {
        const Tensor into = Tensor::ones({3, 31, 17}, dtype).transpose(1, 2);
        matmul_into(into, a, b, 2, 1);
        return std::vector<Tensor>{a.matmul(b),
                                   a.select(0, 0).t().matmul(a.select(0, 1)),
                                   a.select(0, 0).matmul(a.select(0, 1).t()),
                                   a.narrow(2, 2, 9).matmul(b.narrow(1, 4, 9)),
                                   a.flip(1).matmul(b),
                                   a.slice(2, 0, 23, 2).matmul(b.slice(1, 0, 23, 2)),
                                   row.matmul(b.select(0, 0)),
                                   b.select(0, 0).t().matmul(row.t()),
                                   row.broadcast_as({4, 23}).matmul(b.select(0, 0)),
                                   into};
      };
      set_blas(Blas::wick);
      const auto want = products();
      set_blas(info.engine);
      EXPECT_EQ(blas(), info.engine);
      const auto got = products();
      for (std::size_t i = 0; i < want.size(); ++i) {
        const f64 allowed = dtype == DType::f64 ? 1e-12 : dtype == DType::f32 ? 1e-4 : 0.2;
        EXPECT_LE(largest_difference(got[i], want[i]), dtype == DType::i32 ? 0 : allowed)
            << name(dtype) << " case " << i;
      }
    }
  }
}

TEST(Blas, NamesOfEngines) {
  EXPECT_EQ(name(Blas::wick), "wick");
  EXPECT_EQ(name(Blas::openblas), "openblas");
  EXPECT_EQ(name(Blas::mkl), "mkl");
  EXPECT_EQ(name(Blas::accelerate), "accelerate");
  EXPECT_EQ(blas_engines().front().engine, Blas::wick);
}

#if GTEST_HAS_DEATH_TEST && defined(__x86_64__)  // it starts itself anew, which qemu-user cannot
TEST(BlasDeathTest, BadEnvironmentIsAnErrorThatNamesIt) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("WICK_BLAS_ENGINE", "cublas", 1);
        try {
          Tensor::ones({2, 2}).matmul(Tensor::ones({2, 2}));
        } catch (const Error& e) {
          std::cerr << e.what();
          std::exit(e.kind() == ErrorKind::environment ? 7 : 8);
        }
        std::exit(9);
      },
      ::testing::ExitedWithCode(7), "cublas");
}
#endif

}  // namespace
}  // namespace wick
