// SPDX-License-Identifier: Apache-2.0
// libxsmm for `wick bench gemm`: one kernel made for the shape, on one thread.
#include <libxsmm.h>

#include "bench/peers/gemm_peer.h"

namespace wick::bench {
namespace {

/// The largest product that one kernel is for.
constexpr std::int64_t kMostWork = 512 * 512 * 64;

/// Row-major C = A·B is column-major Cᵀ = Bᵀ·Aᵀ.
template <class T, class Kernel>
std::function<void()> calls(Kernel kernel, const Product& p, const Operands& o) {
  if (kernel == nullptr) throw Refused("no code for this shape");
  return [kernel, p, &o] {
    for (std::int64_t i = 0; i < p.batch; ++i)
      kernel(o.b.as<T>(i * p.k * p.n), o.a.as<T>(i * p.m * p.k), o.c.as<T>(i * p.m * p.n));
  };
}

std::function<void()> prepare(const Product& p, const Operands& o) {
  if (p.transposed) throw Refused("no transposed B");
  if (p.m * p.n * p.k > kMostWork) throw Refused("small matrices only");
  const auto size = [](std::int64_t n) { return static_cast<libxsmm_blasint>(n); };
  const libxsmm_blasint m = size(p.m), n = size(p.n), k = size(p.k);
  const int flags = LIBXSMM_GEMM_FLAG_NONE;
  if (p.type == Type::f32) {
    const float one = 1, zero = 0;
    return calls<float>(libxsmm_smmdispatch(n, m, k, &n, &k, &n, &one, &zero, &flags, nullptr), p,
                        o);
  }
  if (p.type == Type::f64) {
    const double one = 1, zero = 0;
    return calls<double>(libxsmm_dmmdispatch(n, m, k, &n, &k, &n, &one, &zero, &flags, nullptr), p,
                         o);
  }
  throw Refused("f32 and f64 only");
}

}  // namespace
}  // namespace wick::bench

int main(int argc, char** argv) {
  using namespace wick::bench;
  return serve(argc, argv, [](std::string_view, int threads) -> Library {
    if (threads != 1) throw std::runtime_error("threads: one kernel runs on one");
    libxsmm_init();
    return {std::string("libxsmm " LIBXSMM_VERSION " ") + libxsmm_get_target_arch(), prepare};
  });
}
