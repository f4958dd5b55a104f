// SPDX-License-Identifier: Apache-2.0
// A plugin that uses wick, as an extension module of a language does: threads of both pools run,
// and are stopped before it is unloaded.
#include "wick/wick.h"

extern "C" __attribute__((visibility("default"))) int plugin_run() {
  wick::set_num_threads(4);
  const wick::Tensor x = wick::Tensor::ones({256, 256});
  const auto run = [&] { return ((x + x).matmul(x)).sum().item<double>(); };
  double sum = run();
  {
    const wick::HotPoolScope hot;
    sum += run();
  }
  wick::shutdown();
  return sum == 4.0 * 256 * 256 * 256 ? 0 : 1;
}
