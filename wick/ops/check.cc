// SPDX-License-Identifier: Apache-2.0
#include "wick/ops/check.h"

namespace wick {

Error error_about(ErrorKind kind, std::string_view op, std::string_view message,
                  std::initializer_list<const Tensor*> tensors) {
  Error e(kind, op, message);
  for (const Tensor* t : tensors)
    e.operand(name(t->dtype()), std::vector<Index>(t->shape().begin(), t->shape().end()));
  return e;
}

void check_out(std::string_view op, const Tensor& out, const Dims& shape, DType dtype) {
  if (out.shape() != shape)
    throw error_about(
        ErrorKind::shape, op,
        str("wanted an output of shape ", to_string(shape), ", got ", to_string(out.shape())),
        {&out});
  if (out.dtype() != dtype)
    throw error_about(ErrorKind::dtype, op,
                      str("wanted an output of ", name(dtype), ", got ", name(out.dtype())),
                      {&out});
  if (out.is_read_only())
    throw error_about(ErrorKind::read_only, op,
                      "wanted an output to write to, got read-only memory", {&out});
  if (!out.is_contiguous() && self_overlaps(out.layout()))
    throw error_about(
        ErrorKind::overlap, op,
        "wanted an output whose elements are all its own, got a view that repeats some", {&out});
}

namespace {

bool same_memory(const Tensor& a, const Tensor& b) {
  const StorageView x = view(a.storage()), y = view(b.storage());
  if (x.block == y.block) return x.block != nullptr;
  // Two foreign tensors may have been made from one array.
  return x.data < y.data + y.bytes && y.data < x.data + x.bytes;
}

/// Whether each element lies at the same place; the strides of size-1 dims do not matter.
bool same_places(const Layout& a, const Layout& b) {
  bool same = a.offset == b.offset && a.shape == b.shape;
  for (int i = 0; same && i < a.rank(); ++i) same = a.shape[i] == 1 || a.strides[i] == b.strides[i];
  return same;
}

[[noreturn]] void throw_overlap(std::string_view op, const Tensor& out, const Tensor& in) {
  throw error_about(
      ErrorKind::overlap, op,
      "wanted an output apart from the inputs, got one that overlaps an input in part "
      "(pass a copy of the input)",
      {&out, &in});
}

}  // namespace

void check_overlap(std::string_view op, const Tensor& out, const Tensor& in) {
  if (!same_memory(out, in)) return;
  const bool one_block = view(out.storage()).block == view(in.storage()).block;
  if (one_block && out.dtype() == in.dtype()) {
    if (same_places(in.layout().broadcast_to(out.shape(), op), out.layout())) return;
    if (!may_overlap(out.layout(), in.layout())) return;
  }
  throw_overlap(op, out, in);
}

void check_disjoint(std::string_view op, const Tensor& out, const Tensor& in) {
  if (!same_memory(out, in)) return;
  const bool one_block = view(out.storage()).block == view(in.storage()).block;
  if (one_block && out.dtype() == in.dtype() && !may_overlap(out.layout(), in.layout())) return;
  if (out.element_count() == 0 || in.element_count() == 0) return;
  throw_overlap(op, out, in);
}

bool is_reusable(const Tensor& x) {
  const StorageView v = view(x.storage());
  return v.unique && !v.read_only && !self_overlaps(x.layout());
}

}  // namespace wick
