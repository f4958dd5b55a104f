// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm_calls.h"

#include <algorithm>

#include "bench/gemm_operands.h"
#include "bench/statistics.h"
#include "wick/core/dispatch.h"
#include "wick/gemm.h"

namespace wick::bench {
namespace {

Tensor values(std::uint32_t seed, Index elements, DType dtype) {
  const Tensor x = Tensor::empty({elements});
  f32* const data = x.data<f32>();
  for (Index i = 0; i < elements; ++i) data[i] = static_cast<f32>(operand_value(seed, i));
  return x.to_dtype(dtype);
}

template <Float T>
void call_gemm(const Gemm& row, const Tensor& a, const Tensor& b, const Tensor& c) {
  const Index rsb = row.transposed ? 1 : row.n, csb = row.transposed ? row.k : 1;
  gemm<T>(row.m, row.n, row.k, Compute<T>{1}, a.data<T>(), row.k, 1, b.data<T>(), rsb, csb,
          Compute<T>{0}, c.data<T>(), row.n, 1);
}

}  // namespace

Tensor GemmCalls::operand(std::uint32_t seed, Index elements, std::size_t i) {
  std::vector<Tensor>& copies = operands_[{seed, row_.dtype, elements}];
  if (copies.empty()) copies.push_back(values(seed, elements, row_.dtype));
  while (copies.size() <= i) copies.push_back(copies.front().copy());
  return copies[i];
}

PackedMatrix GemmCalls::pack(const Tensor& b, std::size_t i) {
  // Both layouts of B hold the same numbers, but not the same matrix.
  const bool same = !packed_.empty() && packed_.front().dtype() == b.dtype() &&
                    packed_.front().shape() == b.shape() && packed_transposed_ == row_.transposed;
  if (!same) packed_.clear();
  packed_transposed_ = row_.transposed;
  while (packed_.size() <= i) packed_.emplace_back(b);
  return packed_[i];
}

GemmCalls::Set GemmCalls::make_set(std::size_t i) {
  const auto [batch, m, n, k] = std::tie(row_.batch, row_.m, row_.n, row_.k);
  const auto shape = [&](Index rows, Index columns) {
    return batch == 1 ? Dims{rows, columns} : Dims{batch, rows, columns};
  };
  Set set;
  set.a = operand(1, batch * m * k, i).reshape(shape(m, k));
  const Tensor b = operand(2, batch * k * n, row_.packed ? 0 : i);
  set.b = row_.transposed ? b.reshape(shape(n, k)).t() : b.reshape(shape(k, n));
  if (row_.packed) set.w = pack(set.b, i);
  set.c = Tensor::zeros(shape(m, n), row_.dtype);
  return set;
}

void GemmCalls::set(const Gemm& row) {
  row_ = row;
  sets_.clear();
  place_ = 0;
  // What other rows used, and this one does not, makes room.
  std::erase_if(operands_, [&](const auto& entry) {
    const auto [seed, dtype, elements] = entry.first;
    return dtype != row.dtype || elements != row.batch * row.k * (seed == 1 ? row.m : row.n);
  });
  std::size_t count = 1;
  if (row.cold) count += static_cast<std::size_t>(static_cast<double>(cold_bytes_) / row.bytes());
  for (std::size_t i = 0; i < count; ++i) sets_.push_back(make_set(i));
}

GemmCalls::Set& GemmCalls::next() {
  Set& set = sets_[place_];
  place_ = place_ + 1 == sets_.size() ? 0 : place_ + 1;
  return set;
}

std::function<void()> GemmCalls::raw() {
  return dispatch<std::function<void()>>(
      row_.dtype, "bench", [this]<Float T>(std::type_identity<T>) -> std::function<void()> {
        return [this] {
          const Set& set = next();
          call_gemm<T>(row_, set.a, set.b, set.c);
        };
      });
}

std::function<void()> GemmCalls::packed() {
  const Set& set = sets_.front();
  return [c = set.c, a = set.a, w = pack(set.b, 0)] { matmul_into(c, a, w); };
}

std::function<void()> GemmCalls::into() {
  if (row_.packed)
    return [this] {
      const Set& set = next();
      matmul_into(set.c, set.a, set.w);
    };
  return [this] {
    const Set& set = next();
    matmul_into(set.c, set.a, set.b);
  };
}

std::function<void()> GemmCalls::allocating() {
  return [this] {
    Set& set = next();
    set.c = set.a.matmul(set.b);
  };
}

std::vector<double> GemmCalls::samples() const {
  const Tensor c = sets_.front().c.reshape({-1});
  std::vector<double> values;
  for (int s = 0; s < kSamples; ++s)
    values.push_back(c.select(0, sample_place(s, c.element_count())).item<f64>());
  return values;
}

double first_call_ratio(Index n, int shapes) {
  constexpr int kLater = 5;
  const Index most = n + 3 * shapes;
  // The same memory for all shapes, so that only the shape is new.
  const Tensor a = values(1, most * most, DType::f32), b = values(2, most * most, DType::f32);
  const Tensor c = Tensor::zeros({most * most});
  std::vector<double> ratios;
  for (int i = 0; i < shapes; ++i) {
    const Gemm row{.m = n + 3 * i, .n = n + 2 * i + 1, .k = n + i};
    const auto time_call = [&] {
      const double start = steady_seconds();
      call_gemm<f32>(row, a, b, c);
      return steady_seconds() - start;
    };
    const double first = time_call();
    std::vector<double> later;
    for (int j = 0; j < kLater; ++j) later.push_back(time_call());
    ratios.push_back(first / std::max(median(std::move(later)), 1e-9));
  }
  return median(std::move(ratios));
}

}  // namespace wick::bench
