// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "wick/base/checked.h"
#include "wick/base/export.h"

namespace wick {

/// Where buffers come from. A host may bring its own; see set_memory_resource.
class WICK_API MemoryResource {
 public:
  virtual ~MemoryResource() = default;
  /// `bytes` > 0 uninitialised bytes, 64-byte aligned. Null or std::bad_alloc when there are none.
  /// Called from any thread.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Takes back what allocate(bytes) gave. May be called from another thread, and late: while
  /// static objects die.
  virtual void deallocate(void* pointer, std::size_t bytes) noexcept = 0;
};

/// All sizes in bytes.
struct MemoryStats {
  Index limit = 0;        ///< requests that would lift in_use + cached above it are refused
  Index in_use = 0;       ///< held by buffers now (headers and rounding included)
  Index peak = 0;         ///< the highest in_use since the start or reset_memory_peak()
  Index cached = 0;       ///< freed, kept for reuse
  Index cache_limit = 0;  ///< cached never exceeds it
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;
};

WICK_API MemoryStats memory_stats();
WICK_API void reset_memory_peak();

/// The most that buffers and cache may hold together, in bytes. Default: WICK_MEMORY_LIMIT, else
/// the smaller of the machine's memory and the cgroup's limit.
WICK_API void set_memory_limit(Index bytes);

/// The most that is kept for reuse. Default: WICK_MEMORY_CACHE, else 1/8 of the memory limit, at
/// most 2 GiB. 0 turns the cache off. (Under AddressSanitizer it is always off: it would hide uses
/// after free.)
WICK_API void set_memory_cache_limit(Index bytes);

/// Gives all cached memory back to the resource.
WICK_API void empty_memory_cache();

/// Replaces the resource behind all buffers made from now on; null restores the system's. Buffers
/// that exist keep theirs, so `resource` must live as long as they do. Returns the former one, null
/// for the system's. Empties the cache.
WICK_API MemoryResource* set_memory_resource(MemoryResource* resource);

namespace detail {

/// The head of every buffer: one cache line, then (unless the memory is foreign) the data.
struct alignas(64) Block {
  std::atomic<std::uint32_t> references{1};
  bool read_only = false;
  bool foreign = false;
  std::uint16_t size_class = 0;
  std::byte* data = nullptr;
  Index bytes = 0;     ///< of data, as asked for
  Index capacity = 0;  ///< of the whole allocation, header included
  MemoryResource* resource = nullptr;
  std::shared_ptr<const void> owner;  ///< keeps foreign memory alive
};
static_assert(sizeof(Block) == 64);

/// A block with `bytes` of uninitialised data. An `out_of_memory` Error that names `op` and the
/// size when the limit or the resource says no. Negative sizes are an `overflow` Error.
WICK_API Block* make_block(Index bytes, std::string_view op);
/// A block around memory of somebody else.
WICK_API Block* make_foreign_block(void* data, Index bytes, std::shared_ptr<const void> owner,
                                   bool read_only);
WICK_API void destroy_block(Block* block) noexcept;

}  // namespace detail
}  // namespace wick
