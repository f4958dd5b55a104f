// SPDX-License-Identifier: Apache-2.0
#include "bench/cases.h"

#include <memory>

namespace wick::bench {

Case matmul_case(int experiment, DType dtype, Index m, Index n, Index k, int threads, Limit limit) {
  const auto dm = static_cast<double>(m), dn = static_cast<double>(n), dk = static_cast<double>(k);
  Case c{.experiment = experiment, .op = "matmul", .dtype = dtype, .shape = {m, n, k}};
  c.threads = threads;
  c.limit = limit;
  c.work = c.flops = 2 * dm * dn * dk;
  c.bytes = (dm * dk + dk * dn + dm * dn) * bits(dtype) / 8;
  return c;
}

std::function<void()> matmul_call(DType dtype, Index m, Index n, Index k) {
  // Integers have no normal distribution: made as floats, then cast.
  const Tensor a = Tensor::randn({m, k}).to_dtype(dtype);
  const Tensor b = Tensor::randn({k, n}).to_dtype(dtype);
  return [a, b] { (void)a.matmul(b); };
}

Case elementwise_case(int experiment, std::string_view op, int inputs, Index n, int threads) {
  Case c{.experiment = experiment, .op = std::string(op), .dtype = DType::f32, .shape = {n}};
  c.threads = threads;
  c.limit = Limit::copy;
  c.work = c.bytes = 4.0 * (inputs + 1) * static_cast<double>(n);
  c.flops = static_cast<double>(n);
  return c;
}

ColdSets::ColdSets(int inputs, Index n, Index bytes) {
  std::vector<Tensor> first;
  for (int i = 0; i < inputs; ++i) first.push_back(Tensor::randn({n}));
  const Index one = 4 * n * (inputs + 1);
  const Index sets = bytes / one + 1;
  for (Index s = 0; s < sets; ++s) {
    Set set{Tensor::zeros({n}), {}};
    for (const Tensor& x : first) set.inputs.push_back(s == 0 ? x : x.copy());
    sets_.push_back(std::move(set));
  }
}

std::function<void()> elementwise_call(std::string_view op, int inputs, Index n, Index cold_bytes) {
  auto sets = std::make_shared<ColdSets>(inputs, n, cold_bytes);
  using Inputs = std::vector<Tensor>;
  if (op == "exp")
    return [sets] { sets->next([](Tensor& y, const Inputs& x) { y = x[0].exp(); }); };
  if (op == "add")
    return [sets] { sets->next([](Tensor& y, const Inputs& x) { y = x[0].add(x[1]); }); };
  if (op == "mul")
    return [sets] { sets->next([](Tensor& y, const Inputs& x) { y = x[0].mul(x[1]); }); };
  throw Error(ErrorKind::internal, "bench", str("no call for ", op));
}

}  // namespace wick::bench
