// SPDX-License-Identifier: Apache-2.0
#include "wick/tensor.h"

#include <algorithm>

#include "wick/core/dispatch.h"

namespace wick {
namespace {

void check_layout(const Layout& layout, Index capacity, std::string_view op) {
  if (layout.strides.rank() != layout.rank())
    throw Error(
        ErrorKind::shape, op,
        str("wanted one stride for each of ", layout.rank(), " dims, got ", layout.strides.rank()));
  if (element_count(layout.shape, op) == 0) return;
  // Not extent(): a caller's strides may overflow.
  Index low = layout.offset, high = layout.offset;
  for (int i = 0; i < layout.rank(); ++i) {
    const Index reach = checked_mul(layout.shape[i] - 1, layout.strides[i], op, "view offset");
    Index& end = reach < 0 ? low : high;
    end = checked_add(end, reach, op, "view offset");
  }
  if (low < 0 || high >= capacity)
    throw Error(ErrorKind::shape, op,
                str("wanted a layout within ", capacity, " elements, got one that reaches from ",
                    low, " to ", high));
}

Index capacity_of(DType t, Index bytes) {
  if (bits(t) >= 8) return bytes / (bits(t) / 8);
  // Nobody has half of all the bytes there could be; the product below must not overflow.
  const Index some = std::min(bytes, Index{1} << 60);
  return some / bits(t) * 8 + some % bits(t) * 8 / bits(t);
}

}  // namespace

Tensor::Tensor(Storage storage, Layout layout) : storage_(std::move(storage)), layout_(layout) {
  check_layout(layout_, capacity_of(dtype(), view(storage_).bytes), "tensor");
  // No element is left that the caller's offset and strides could lead to: views need not care.
  if (layout_.is_empty()) layout_ = Layout::contiguous(layout_.shape);
}

Tensor Tensor::empty(const Dims& shape, DType dtype) {
  const Layout layout = Layout::contiguous(shape);
  const Index bytes = byte_size(dtype, layout.size(), "empty");
  return wick::dispatch<Tensor>(dtype, "empty", [&]<class T>(std::type_identity<T>) {
    Buffer<T> buffer(bytes / static_cast<Index>(sizeof(T)), "empty");
    if constexpr (Raw<T>) {
      // Bits behind the last packed element are 0, so that equal tensors have equal bytes.
      if (bytes > 0) buffer.data()[bytes - 1] = T{};
    }
    return Tensor(Storage(std::move(buffer)), layout, Unchecked{});
  });
}

Tensor Tensor::from_foreign(void* data, Index bytes, DType dtype, const Layout& wanted,
                            std::shared_ptr<const void> owner, bool read_only) {
  constexpr std::string_view kOp = "from_foreign";
  if (bytes < 0 || (data == nullptr && bytes > 0))
    throw Error(ErrorKind::argument, kOp, "wanted memory of the given size, got none");
  check_layout(wanted, capacity_of(dtype, bytes), kOp);
  const Layout layout = wanted.is_empty() ? Layout::contiguous(wanted.shape) : wanted;
  return wick::dispatch<Tensor>(dtype, kOp, [&]<class T>(std::type_identity<T>) {
    const Index n = bytes / static_cast<Index>(sizeof(T));
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0) {
      Buffer<T> own(n, kOp);
      if (n > 0)
        std::memcpy(static_cast<void*>(own.data()), data, static_cast<std::size_t>(n) * sizeof(T));
      return Tensor(Storage(std::move(own)), layout, Unchecked{});
    }
    auto buffer = Buffer<T>::foreign(static_cast<T*>(data), n, std::move(owner), read_only);
    return Tensor(Storage(std::move(buffer)), layout, Unchecked{});
  });
}

Tensor Tensor::select(Index dim, Index index) const {
  const int d = normalize_axis(dim, rank(), "select");
  const Index n = shape()[d];
  if (index < -n || index >= n)
    throw Error(ErrorKind::index, "select",
                str("wanted an index from ", -n, " to ", n - 1, " on axis ", d, ", got ", index));
  const Layout one = layout_.narrow(d, index < 0 ? index + n : index, 1);
  return seen({one.shape.erased(d), one.strides.erased(d), one.offset});
}

Tensor Tensor::reshape(const Dims& wanted) const {
  Dims target = wanted;
  int unknown = -1;
  for (int i = 0; i < target.rank(); ++i) {
    if (target[i] == -1 && unknown < 0) {
      unknown = i;
      target[i] = 1;
    } else if (target[i] < 0) {
      throw Error(ErrorKind::shape, "reshape",
                  str("wanted sizes >= 0 and at most one -1, got ", wick::to_string(wanted)));
    }
  }
  if (unknown >= 0) {
    const Index known = wick::element_count(target, "reshape");
    if (known == 0 || element_count() % known != 0)
      throw Error(
          ErrorKind::shape, "reshape",
          str("wanted a shape of ", element_count(), " elements, got ", wick::to_string(wanted)));
    target[unknown] = element_count() / known;
  }
  if (const auto seen_as = layout_.reshape(target)) return seen(*seen_as);
  return copy().reshape(target);
}

Tensor Tensor::flatten(Index first, Index last) const {
  if (rank() == 0) return reshape({1});
  const int from = normalize_axis(first, rank(), "flatten"),
            to = normalize_axis(last, rank(), "flatten");
  if (from > to)
    throw Error(ErrorKind::argument, "flatten",
                str("wanted first <= last, got ", first, " and ", last));
  Dims target, run;
  for (int i = 0; i < rank(); ++i) {
    if (i < from || i > to) {
      target.push_back(shape()[i]);
    } else {
      run.push_back(shape()[i]);
      if (i == to) target.push_back(wick::element_count(run, "flatten"));
    }
  }
  return reshape(target);
}

}  // namespace wick
