// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/index.h"

#include <atomic>

#include "wick/arrange.h"
#include "wick/core/dispatch.h"
#include "wick/ops/check.h"
#include "wick/ops/ids.h"
#include "wick/ops/loop.h"

namespace wick {
namespace {

/// Ids that fit the L1 cache with what they lead to.
constexpr Index kCheckedPart = 1024;

/// y = x at the ids along `dim`, over the shape of out. Unless the ids have been checked, false if
/// one is out of range; the result is then of no use.
bool run(const Tensor& out, const Tensor& x, int dim, const Tensor& ids, const Layout& id_places,
         bool checked) {
  Layout from = x.layout();
  const Index step = from.strides[dim], size = from.shape[dim];
  from.shape = out.shape();
  from.strides[dim] = 0;
  const int bytes = bits(x.dtype()) / 8, id_bytes = bits(ids.dtype()) / 8;
  const auto kernel = kernels::gather(bytes, ids.dtype());
  const auto out_of_range = kernels::out_of_range(ids.dtype());
  std::byte* y = view(out.storage()).data;
  const std::byte* id = view(ids.storage()).data;
  const std::byte* in = view(x.storage()).data;
  const NdIter<3> it({&out.layout(), &id_places, &from});
  std::atomic<bool> fine = true;
  parallel_for(it.size(), kCheapGrain, [&](Index begin, Index end) {
    // Checked just before they are used, ids come from memory once.
    const Index part = checked ? end - begin : kCheckedPart;
    for (Index i = begin; i < end; i += part)
      it.for_each(i, std::min(i + part, end), [&](const auto& at, const Loop2<3>& l) {
        if (!checked &&
            out_of_range(id + at[1] * id_bytes, {l.n, l.m, {l.inner[1]}, {l.outer[1]}}, size)) {
          fine.store(false, std::memory_order_relaxed);
        } else {
          kernel(y + at[0] * bytes, id + at[1] * id_bytes, in + at[2] * bytes, l, step);
        }
      });
  });
  return fine;
}

/// Whether each id is met once on a walk along the rows of x, so that it may be checked there.
bool check_on_the_way(const Tensor& x, int dim, const Layout& ids) {
  bool once = dim == x.rank() - 1;
  for (int i = 0; i < ids.rank(); ++i) once &= ids.strides[i] != 0 || ids.shape[i] <= 1;
  return once;
}

int check_input(std::string_view op, const Tensor& x, Index dim, const Tensor& ids) {
  const int d = normalize_axis(dim, x.rank(), op);
  if (bits(x.dtype()) % 8 != 0) throw_unsupported(x.dtype(), op);
  check_ids_dtype(op, ids);
  return d;
}

// --- index_select ---

constexpr std::string_view kSelect = "index_select";

Dims selected_shape(const Tensor& x, int dim, const Tensor& ids) {
  if (ids.rank() != 1)
    throw error_about(ErrorKind::shape, kSelect,
                      str("wanted ids of rank 1, got shape ", to_string(ids.shape())), {&x, &ids});
  Dims shape = x.shape();
  shape[dim] = ids.shape()[0];
  (void)byte_size(x.dtype(), element_count(shape, kSelect), kSelect);
  return shape;
}

// --- gather ---

constexpr std::string_view kGather = "gather";

void check_gather_shapes(const Tensor& x, int dim, const Tensor& ids) {
  bool fits = ids.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i) fits = i == dim || ids.shape()[i] <= x.shape()[i];
  if (!fits)
    throw error_about(ErrorKind::shape, kGather,
                      str("wanted ids no larger than ", to_string(x.shape()), " but along axis ",
                          dim, ", got shape ", to_string(ids.shape())),
                      {&x, &ids});
}

// --- slice_assign, masked_fill ---

constexpr std::string_view kAssign = "slice_assign";

Tensor sliced(const Tensor& x, const std::vector<Slice>& slices) {
  if (slices.size() > static_cast<std::size_t>(x.rank()))
    throw Error(ErrorKind::argument, kAssign,
                str("wanted at most ", x.rank(), " slices, got ", slices.size()));
  Tensor part = x;
  Index dim = 0;
  for (const Slice& s : slices) {
    const Index end = s.step < 0 ? -1 : x.size(dim);
    part = part.slice(dim++, s.start, s.stop == Slice::kAll ? end : s.stop, s.step);
  }
  return part;
}

void check_assign(const Tensor& x, const std::vector<Slice>& slices, const Tensor& src) {
  check_same_dtype(x.dtype(), src.dtype(), kAssign);
  (void)src.layout().broadcast_to(sliced(x, slices).shape(), kAssign);
}

constexpr std::string_view kFill = "masked_fill";

void check_mask(const Tensor& x, const Tensor& mask) {
  if (is_raw(x.dtype())) throw_unsupported(x.dtype(), kFill);
  if (kernels::out_of_range(mask.dtype()) == nullptr)
    throw Error(ErrorKind::dtype, kFill,
                str("wanted a mask of u8, u32 or i64, got ", name(mask.dtype())));
  (void)mask.layout().broadcast_to(x.shape(), kFill);
}

}  // namespace

Tensor Tensor::index_select(Index dim, const Tensor& ids) const {
  const int d = check_input(kSelect, *this, dim, ids);
  const Dims result = selected_shape(*this, d, ids);
  check_ids(kSelect, ids, shape()[d]);
  Tensor out = empty(result, dtype());
  run(out, *this, d, ids, spread_ids(ids, d, result), true);
  return out;
}

void index_select_into(const Tensor& out, const Tensor& x, Index dim, const Tensor& ids) {
  const int d = check_input(kSelect, x, dim, ids);
  check_out(kSelect, out, selected_shape(x, d, ids), x.dtype());
  check_disjoint(kSelect, out, x);
  check_disjoint(kSelect, out, ids);
  check_ids(kSelect, ids, x.shape()[d]);
  run(out, x, d, ids, spread_ids(ids, d, out.shape()), true);
}

Tensor Tensor::gather(Index dim, const Tensor& ids) const {
  const int d = check_input(kGather, *this, dim, ids);
  check_gather_shapes(*this, d, ids);
  const bool on_the_way = check_on_the_way(*this, d, ids.layout());
  if (!on_the_way) check_ids(kGather, ids, shape()[d]);
  Tensor out = empty(ids.shape(), dtype());
  if (!run(out, *this, d, ids, ids.layout(), !on_the_way)) check_ids(kGather, ids, shape()[d]);
  return out;
}

void gather_into(const Tensor& out, const Tensor& x, Index dim, const Tensor& ids) {
  const int d = check_input(kGather, x, dim, ids);
  check_gather_shapes(x, d, ids);
  check_out(kGather, out, ids.shape(), x.dtype());
  check_disjoint(kGather, out, x);
  check_disjoint(kGather, out, ids);
  check_ids(kGather, ids, x.shape()[d]);
  run(out, x, d, ids, ids.layout(), true);
}

Tensor Tensor::slice_assign(const std::vector<Slice>& slices, const Tensor& src) const {
  check_assign(*this, slices, src);
  Tensor out = copy();
  copy_into(sliced(out, slices), src);
  return out;
}

void slice_assign_into(const Tensor& out, const Tensor& x, const std::vector<Slice>& slices,
                       const Tensor& src) {
  check_assign(x, slices, src);
  check_out(kAssign, out, x.shape(), x.dtype());
  check_overlap(kAssign, out, x);
  check_disjoint(kAssign, out, src);
  copy_into(out, x);
  copy_into(sliced(out, slices), src);
}

Tensor Tensor::masked_fill(const Tensor& mask, Scalar value) const {
  check_mask(*this, mask);
  Tensor out = empty(shape(), dtype());
  where_into(out, mask, scalar(value, dtype()), *this);
  return out;
}

void masked_fill_into(const Tensor& out, const Tensor& x, const Tensor& mask, Scalar value) {
  check_mask(x, mask);
  check_out(kFill, out, x.shape(), x.dtype());
  check_overlap(kFill, out, x);
  check_overlap(kFill, out, mask);
  where_into(out, mask, Tensor::scalar(value, x.dtype()), x);
}

}  // namespace wick
