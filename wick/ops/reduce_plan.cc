// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <utility>

#include "wick/ops/reduce.h"

namespace wick {
namespace {

std::array<bool, kMaxRank> reduced_dims(std::string_view op, int rank, const Dims& dims) {
  std::array<bool, kMaxRank> reduced{};
  for (const Index dim : dims)
    if (std::exchange(reduced[static_cast<std::size_t>(normalize_axis(dim, rank, op))], true))
      throw Error(ErrorKind::argument, op,
                  str("wanted each axis at most once, got ", to_string(dims),
                      " for a tensor of rank ", rank));
  return reduced;
}

}  // namespace

ReducePlan plan_reduction(std::string_view op, const Layout& x, const Dims& dims, bool keepdim,
                          ReduceOrder order) {
  const auto reduced = reduced_dims(op, x.rank(), dims);
  ReducePlan plan;
  plan.kept.offset = x.offset;
  std::array<std::pair<Index, Index>, kMaxRank> loop{};  // extent and stride, innermost first
  std::size_t rank = 0;
  for (int i = 0; i < x.rank(); ++i) {
    if (!reduced[static_cast<std::size_t>(i)]) {
      plan.shape.push_back(x.shape[i]);
      plan.kept.shape.push_back(x.shape[i]);
      plan.kept.strides.push_back(x.strides[i]);
    } else if (keepdim) {
      plan.shape.push_back(1);
    }
  }
  for (int i = x.rank() - 1; i >= 0; --i) {
    if (!reduced[static_cast<std::size_t>(i)]) continue;
    plan.n *= x.shape[i];
    if (x.shape[i] != 1) loop[rank++] = {x.shape[i], x.strides[i]};
  }
  if (plan.n == 0) rank = 0;
  if (order == ReduceOrder::any)  // in memory order then
    std::sort(loop.begin(), loop.begin() + static_cast<std::ptrdiff_t>(rank),
              [](const auto& a, const auto& b) { return std::abs(a.second) < std::abs(b.second); });
  auto& [count, shape, strides, from, to, cols, col_stride] = plan.loop;
  count = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto [extent, stride] = loop[i];
    const auto top = static_cast<std::size_t>(count);
    if (count > 0 && stride == strides[top - 1] * shape[top - 1]) {
      shape[top - 1] *= extent;
    } else {
      shape[top] = extent;
      strides[top] = stride;
      ++count;
    }
  }
  if (count == 0) {
    count = 1;
    shape[0] = 1;
  }
  return plan;
}

Layout without_kept_dims(std::string_view op, const Layout& out, const Dims& dims,
                         const ReducePlan& plan) {
  if (out.rank() == plan.kept.rank()) return out;
  const auto reduced = reduced_dims(op, out.rank(), dims);
  Layout layout;
  layout.offset = out.offset;
  for (int i = 0; i < out.rank(); ++i)
    if (!reduced[static_cast<std::size_t>(i)]) {
      layout.shape.push_back(out.shape[i]);
      layout.strides.push_back(out.strides[i]);
    }
  return layout;
}

bool runs_across(const Layout& x, const ReducePlan& plan) {
  if (plan.n <= kernels::kReduceChunk || plan.loop.rank == 1) return false;
  Index nearest = INT64_MAX;
  const auto look = [&](Index extent, Index stride) {
    if (extent > 1) nearest = std::min(nearest, std::abs(stride));
  };
  for (int i = 0; i < x.rank(); ++i) look(x.shape[i], x.strides[i]);
  if (nearest == 0 || std::abs(plan.loop.strides[0]) == nearest) return false;
  for (int i = 0; i < plan.kept.rank(); ++i)
    if (plan.kept.shape[i] > 1 && std::abs(plan.kept.strides[i]) == nearest) return false;
  return true;
}

Dims all_dims(int rank) {
  Dims dims;
  for (int i = 0; i < rank; ++i) dims.push_back(i);
  return dims;
}

}  // namespace wick
