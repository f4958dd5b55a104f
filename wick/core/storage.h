// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include "wick/core/dtype.h"
#include "wick/core/memory.h"

namespace wick {

/// A shared array of T, 64-byte aligned unless foreign. Copies share the elements; the last copy
/// frees them. One pointer wide.
template <class T>
class Buffer {
 public:
  using value_type = T;

  Buffer() = default;
  /// n elements, not initialised. An `out_of_memory` or `overflow` Error that names `op`.
  explicit Buffer(Index n, std::string_view op = "alloc")
      : block_(detail::make_block(checked_mul(n, sizeof(T), op, "size in bytes"), op)) {}

  /// Memory of somebody else, kept alive by `owner`: a mapped file, an array of the caller. Must be
  /// aligned for T. Writing through a read-only buffer is an Error in every op.
  static Buffer foreign(T* data, Index n, std::shared_ptr<const void> owner, bool read_only) {
    Buffer b;
    b.block_ =
        detail::make_foreign_block(data, checked_mul(n, sizeof(T), "from_foreign", "size in bytes"),
                                   std::move(owner), read_only);
    return b;
  }

  Buffer(const Buffer& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer(Buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Buffer() {
    if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      detail::destroy_block(block_);
  }

  Index size() const {
    return block_ == nullptr ? 0 : block_->bytes / static_cast<Index>(sizeof(T));
  }
  T* data() const { return block_ == nullptr ? nullptr : reinterpret_cast<T*>(block_->data); }
  bool read_only() const { return block_ != nullptr && block_->read_only; }
  /// True when no other buffer shares these elements, and they are ours.
  bool unique() const {
    return block_ != nullptr && !block_->foreign &&
           block_->references.load(std::memory_order_acquire) == 1;
  }
  /// Same memory block.
  bool shares(const void* other_block) const { return block_ == other_block && block_ != nullptr; }
  const void* block() const { return block_; }

  /// A copy of all elements.
  Buffer clone() const {
    Buffer b(size(), "clone");
    if (size() > 0) std::memcpy(b.data(), data(), static_cast<std::size_t>(size()) * sizeof(T));
    return b;
  }

 private:
  detail::Block* block_ = nullptr;
};

namespace detail {
template <class>
struct VariantOfBuffers;
template <class... Ts>
struct VariantOfBuffers<Types<Ts...>> {
  using type = std::variant<Buffer<Ts>...>;
};
}  // namespace detail

/// A buffer of any element type; the active alternative is the dtype, there is no other field.
using Storage = detail::VariantOfBuffers<Elements>::type;

inline DType dtype(const Storage& s) { return static_cast<DType>(s.index()); }

/// What any buffer knows of itself, without its type.
struct StorageView {
  std::byte* data;
  Index bytes;
  const void* block;
  bool read_only;
  bool unique;
};
inline StorageView view(const Storage& s) {
  return std::visit(
      []<class T>(const Buffer<T>& b) -> StorageView {
        return {reinterpret_cast<std::byte*>(b.data()), b.size() * static_cast<Index>(sizeof(T)),
                b.block(), b.read_only(), b.unique()};
      },
      s);
}

/// A storage with its own copy of all elements.
inline Storage clone(const Storage& s) {
  return std::visit([](const auto& b) { return Storage(b.clone()); }, s);
}

}  // namespace wick
