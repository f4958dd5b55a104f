// SPDX-License-Identifier: Apache-2.0
#include "wick/ops/check.h"

#include <optional>

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

struct Bytes {
  std::uintptr_t begin, end;
};

/// The bytes that a tensor's elements span; it has some.
Bytes span_of(const Tensor& t) {
  const auto base = reinterpret_cast<std::uintptr_t>(view(t.storage()).data);
  const Extent e = *extent(t.layout());
  const Index width = bits(t.dtype());
  // Whole bytes first: a number of bits may overflow.
  const auto byte_of = [&](Index element) { return element / 8 * width + element % 8 * width / 8; };
  return {base + static_cast<std::uintptr_t>(byte_of(e.low)),
          base + static_cast<std::uintptr_t>(byte_of(e.high) + ceil_div(width, 8))};
}

/// Where b's elements lie, as a layout on a's storage. Empty where their grids do not match. The
/// two may be different blocks: foreign tensors made from one array.
std::optional<Layout> on_same_grid(const Tensor& a, const Tensor& b) {
  if (bits(a.dtype()) != bits(b.dtype())) return std::nullopt;
  const StorageView x = view(a.storage()), y = view(b.storage());
  Layout l = b.layout();
  if (x.data == y.data) return l;
  const Index width = bits(a.dtype()) / 8;
  const auto distance = static_cast<Index>(reinterpret_cast<std::uintptr_t>(y.data) -
                                           reinterpret_cast<std::uintptr_t>(x.data));
  if (bits(a.dtype()) % 8 != 0 || distance % width != 0) return std::nullopt;
  l.offset += distance / width;
  return l;
}

/// Whether a and b may share memory; `same` is set if they are the same elements in the same order.
bool may_share(const Tensor& a, const Tensor& b, const Dims* broadcast, bool* same) {
  *same = false;
  const StorageView x = view(a.storage()), y = view(b.storage());
  if (a.layout().is_empty() || b.layout().is_empty()) return false;
  if (x.block != y.block && (x.data >= y.data + y.bytes || y.data >= x.data + x.bytes))
    return false;
  const Bytes s = span_of(a), t = span_of(b);
  if (s.begin >= t.end || t.begin >= s.end) return false;
  const auto l = on_same_grid(a, b);
  if (!l) return true;
  if (broadcast != nullptr && a.dtype() == b.dtype()) {
    const Layout wide = l->broadcast_to(*broadcast);
    *same = wide.offset == a.layout().offset;
    for (int i = 0; i < a.rank(); ++i)
      *same &= wide.shape[i] == 1 || wide.strides[i] == a.layout().strides[i];
  }
  return may_overlap(a.layout(), *l);
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
  bool same = false;
  if (may_share(out, in, &out.shape(), &same) && !same) throw_overlap(op, out, in);
}

void check_disjoint(std::string_view op, const Tensor& out, const Tensor& in) {
  bool same = false;
  if (may_share(out, in, nullptr, &same)) throw_overlap(op, out, in);
}

bool is_reusable(const Tensor& x) {
  const StorageView v = view(x.storage());
  return v.unique && !v.read_only && !self_overlaps(x.layout());
}

}  // namespace wick
