// SPDX-License-Identifier: Apache-2.0
#include "wick/ops/ids.h"

#include <atomic>

#include "wick/core/dispatch.h"
#include "wick/kernels/index.h"
#include "wick/ops/loop.h"

namespace wick {
namespace {

std::string place_text(const Dims& at) { return at.rank() == 1 ? str(at[0]) : to_string(at); }

[[noreturn]] void throw_first_bad(std::string_view op, const Tensor& ids, Index size) {
  const Layout& l = ids.layout();
  dispatch(ids.storage(), op, [&]<IndexElement T>(const Buffer<T>& buffer) {
    Dims at = Dims::filled(l.rank(), 0);
    const T* id = buffer.data() + l.offset;
    for (int d = l.rank(); d >= 0;) {
      const auto value = static_cast<i64>(*id);
      if (value < 0 || value >= size)
        throw Error(
            ErrorKind::index, op,
            str("wanted ids ", size > 0 ? str("from 0 to ", size - 1) : "of no entry", ", got ",
                value, " at position ", place_text(at), " (the dimension has size ", size, ")"));
      for (d = l.rank() - 1; d >= 0; --d) {
        id += l.strides[d];
        if (++at[d] < l.shape[d]) break;
        id -= at[d] * l.strides[d];
        at[d] = 0;
      }
    }
  });
  throw Error(ErrorKind::index, op, "the ids changed while they were read");
}

}  // namespace

void check_ids_dtype(std::string_view op, const Tensor& ids) {
  if (kernels::out_of_range(ids.dtype()) == nullptr)
    throw Error(ErrorKind::unsupported_dtype, op,
                str("wanted ids of u8, u32 or i64, got ", name(ids.dtype())));
}

void check_ids(std::string_view op, const Tensor& ids, Index size) {
  const auto kernel = kernels::out_of_range(ids.dtype());
  const int bytes = bits(ids.dtype()) / 8;
  Layout each = ids.layout();  // a repeated id is looked at once
  for (int i = 0; i < each.rank(); ++i)
    if (each.strides[i] == 0 && each.shape[i] > 1) each.shape[i] = 1;
  const std::byte* data = view(ids.storage()).data;
  std::atomic<bool> bad = false;
  for_each_loop<1>({&each}, kCheapGrain, [&](const auto& at, const Loop2<1>& loop) {
    if (kernel(data + at[0] * bytes, loop, size)) bad.store(true, std::memory_order_relaxed);
  });
  if (bad) throw_first_bad(op, ids, size);
}

Layout spread_ids(const Tensor& ids, int dim, const Dims& shape) {
  Layout l{shape, Dims::filled(shape.rank(), 0), ids.layout().offset};
  l.strides[dim] = ids.layout().strides[0];
  return l;
}

}  // namespace wick
