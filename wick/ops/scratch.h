// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "wick/core/memory.h"

namespace wick {

/// Uninitialised, 64-byte aligned working memory of one call. Counted by the memory limit and kept
/// for reuse like every buffer.
class Scratch {
 public:
  Scratch() = default;
  /// An `out_of_memory` Error that names `op` when there is none.
  Scratch(Index bytes, std::string_view op)
      : block_(bytes > 0 ? detail::make_block(bytes, op) : nullptr) {}
  ~Scratch() {
    if (block_ != nullptr) detail::destroy_block(block_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* data() const { return block_ == nullptr ? nullptr : block_->data; }

 private:
  detail::Block* block_ = nullptr;
};

}  // namespace wick
