// SPDX-License-Identifier: Apache-2.0
// f32 squares: wick and Eigen take turns, 1 and 2 threads. How to build it: docs/performance.md.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <Eigen/Dense>

#include "wick/wick.h"

namespace {

using Clock = std::chrono::steady_clock;

template <class F>
double seconds(F f) {
  const auto start = Clock::now();
  f();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  for (const int threads : {1, 2}) {
    Eigen::setNbThreads(threads);
    wick::set_num_threads(threads);
    for (const int n : {256, 512, 1024, 2048}) {
      using Matrix = Eigen::Matrix<float, -1, -1, Eigen::RowMajor>;
      const Matrix a = Matrix::Random(n, n), b = Matrix::Random(n, n);
      Matrix c(n, n);
      const auto x = wick::Tensor::randn({n, n}), y = wick::Tensor::randn({n, n});
      const auto z = wick::Tensor::empty({n, n});
      const double work = 2.0 * n * n * n * 1e-9;
      std::vector<double> eigen, ours;
      for (int i = 0; i < std::clamp(static_cast<int>(3 / work), 5, 60); ++i) {
        const double e = seconds([&] { c.noalias() = a * b; });
        const double w = seconds([&] { wick::matmul_into(z, x, y); });
        if (i == 0) continue;  // warm-up
        eigen.push_back(e);
        ours.push_back(w);
      }
      std::printf("%d thread(s), n %4d: wick %4.0f, Eigen %4.0f GFLOP/s\n", threads, n,
                  work / median(ours), work / median(eigen));
    }
  }
}
