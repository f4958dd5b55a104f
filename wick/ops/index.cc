// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/index.h"

#include "wick/core/dispatch.h"
#include "wick/ops/check.h"
#include "wick/ops/lines.h"

namespace wick {
namespace {

constexpr std::string_view kOp = "index_select";

int check_input(const Tensor& x, Index dim, const Tensor& ids) {
  const int d = normalize_axis(dim, x.rank(), kOp);
  if (bits(x.dtype()) % 8 != 0) throw_unsupported(x.dtype(), kOp);
  if (ids.rank() != 1)
    throw error_about(ErrorKind::shape, kOp,
                      str("wanted ids of rank 1, got shape ", to_string(ids.shape())), {&x, &ids});
  return d;
}

/// The ids, every one in [0, size), or an `index` Error.
Buffer<Index> checked_ids(const Tensor& ids, Index size) {
  const Index n = ids.shape()[0];
  Buffer<Index> checked(n, kOp);
  dispatch(ids.storage(), kOp, [&]<IndexElement T>(const Buffer<T>& buffer) {
    const T* from = buffer.data() + ids.layout().offset;
    for (Index i = 0; i < n; ++i) {
      const auto id = static_cast<Index>(from[i * ids.layout().strides[0]]);
      if (id < 0 || id >= size)
        throw Error(ErrorKind::index, kOp,
                    str("wanted ids from 0 to ", size - 1, ", got ", id, " at position ", i,
                        " (the dimension has size ", size, ")"));
      checked.data()[i] = id;
    }
  });
  return checked;
}

Dims result_shape(const Tensor& x, int dim, const Tensor& ids) {
  Dims shape = x.shape();
  shape[dim] = ids.shape()[0];
  (void)byte_size(x.dtype(), element_count(shape, kOp), kOp);
  return shape;
}

void run(const Tensor& out, const Tensor& x, int dim, const Buffer<Index>& ids) {
  const Layout y_rest = without_dim(out.layout(), dim), x_rest = without_dim(x.layout(), dim);
  const NdIter<2> it({&y_rest, &x_rest});
  const Index count = ids.size(), rest = it.size();
  if (count == 0 || rest == 0) return;
  const Index y_step = out.layout().strides[dim], x_step = x.layout().strides[dim];
  const int size = bits(x.dtype()) / 8;
  const auto kernel = kernels::index_select(size);
  std::byte* y = view(out.storage()).data;
  const std::byte* in = view(x.storage()).data;
  const auto part = [&](Index begin, Index end, Index first, Index last) {
    it.for_each(begin, end, [&](const auto& at, const Loop2<2>& loop) {
      kernel(y + (at[0] + first * y_step) * size, in + at[1] * size, loop, ids.data() + first,
             last - first, y_step, x_step);
    });
  };
  if (count >= rest || count >= 64) {
    parallel_for(count, std::max<Index>(1, kCheapGrain / rest),
                 [&](Index first, Index last) { part(0, rest, first, last); });
  } else {
    parallel_for(rest, std::max<Index>(1, kCheapGrain / count),
                 [&](Index begin, Index end) { part(begin, end, 0, count); });
  }
}

}  // namespace

Tensor Tensor::index_select(Index dim, const Tensor& ids) const {
  const int d = check_input(*this, dim, ids);
  const Buffer<Index> checked = checked_ids(ids, shape()[d]);
  Tensor out = empty(result_shape(*this, d, ids), dtype());
  run(out, *this, d, checked);
  return out;
}

void index_select_into(const Tensor& out, const Tensor& x, Index dim, const Tensor& ids) {
  const int d = check_input(x, dim, ids);
  check_out(kOp, out, result_shape(x, d, ids), x.dtype());
  check_disjoint(kOp, out, x);
  check_disjoint(kOp, out, ids);
  run(out, x, d, checked_ids(ids, x.shape()[d]));
}

}  // namespace wick
