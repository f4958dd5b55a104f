// SPDX-License-Identifier: Apache-2.0
// The example of the README; the tests build and run it.
#include <wick/wick.h>

#include <iostream>

int main() {
  using wick::Tensor;
  try {
    wick::set_seed(1);
    const Tensor x = Tensor::randn({4, 3});  // f32
    const Tensor w = Tensor::randn({3, 2});
    const Tensor y = (x.matmul(w) + 1.0).relu();
    std::cout << y << "\n";

    // Views never copy; any op takes any view and writes into any view.
    const Tensor columns = Tensor::zeros({2, 8});
    wick::exp_into(columns.slice(1, 0, 8, 2), y.t());
    std::cout << columns.sum(1) << "\n";

    // Many small ops in a row: enter the pool once.
    const Tensor p = wick::with_context([&] { return wick::softmax(y.matmul(y.t()), -1); });
    std::cout << p << "\n";

    (void)x.matmul(y);  // shapes do not fit
  } catch (const wick::Error& e) {
    std::cout << e.what() << "\n";
  }
}
