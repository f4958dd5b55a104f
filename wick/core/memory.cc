// SPDX-License-Identifier: Apache-2.0
#include "wick/core/memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#elif defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#include "wick/base/env.h"
#include "wick/base/made_once.h"
#include "wick/core/context.h"
#include "wick/core/isa.h"

#if defined(__SANITIZE_ADDRESS__)
#define WICK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WICK_ASAN 1
#endif
#endif

namespace wick {
namespace {

constexpr Index kHeader = static_cast<Index>(sizeof(detail::Block));
[[maybe_unused]] constexpr Index kHugePage = Index{2} << 20;
constexpr Index kLargest = Index{1}
                           << 60;  // beyond it no rounding is tried: no machine has as much

#ifdef WICK_ASAN
constexpr bool kCacheAllowed = false;
#else
constexpr bool kCacheAllowed = true;
#endif

/// Small requests from the C++ heap; large ones in whole huge pages where the system has them,
/// since first touches of 4 KiB pages cost many times the work that follows.
class SystemMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes) override {
#if defined(__linux__)
    if (bytes >= static_cast<std::size_t>(2 * kHugePage)) return map(bytes);
#endif
    return ::operator new(bytes, std::align_val_t{64}, std::nothrow);
  }
  void deallocate(void* pointer, std::size_t bytes) noexcept override {
#if defined(__linux__)
    if (bytes >= static_cast<std::size_t>(2 * kHugePage)) {
      ::munmap(pointer, bytes);
      return;
    }
#else
    (void)bytes;
#endif
    ::operator delete(pointer, std::align_val_t{64});
  }

 private:
#if defined(__linux__)
  static void* map(std::size_t bytes) {
    // A mapping that starts on a huge page can use them throughout: map more, trim both ends.
    const auto huge = static_cast<std::size_t>(kHugePage);
    void* raw =
        ::mmap(nullptr, bytes + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    auto* low = static_cast<std::byte*>(raw);
    const std::size_t lead = (huge - reinterpret_cast<std::uintptr_t>(low) % huge) % huge;
    if (lead > 0) ::munmap(low, lead);
    std::byte* start = low + lead;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::byte* end = start + (bytes + page - 1) / page * page;
    if (std::byte* stop = low + bytes + huge; end < stop)
      ::munmap(end, static_cast<std::size_t>(stop - end));
    ::madvise(start, bytes, MADV_HUGEPAGE);
    return start;
  }
#endif
};

Index machine_memory() {
  Index bytes = Index{1} << 40;
#if defined(_SC_PHYS_PAGES) && !defined(__EMSCRIPTEN__)
  const Index pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) bytes = std::min(bytes, pages * page);
#endif
  for (const char* file :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream in(file);
    Index limit = 0;
    if (in >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

/// Sixteen size classes to the power of two, so that rounding up wastes at most a sixteenth.
constexpr int kSmallestPower = 9;
constexpr int kClasses = 16 * 40;

struct SizeClass {
  std::uint16_t number;
  Index bytes;
};

SizeClass size_class(Index bytes) {
  const Index wanted = std::max<Index>(bytes, (Index{1} << kSmallestPower) + 1);
  const auto width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(wanted - 1)));
  const int power = width - 1;  // 2^power < wanted <= 2^width
  const Index step = (Index{1} << power) / 16;
  const Index rounded = round_up(wanted, step);
  const int number = 16 * (power - kSmallestPower) + static_cast<int>(rounded / step) - 17;
  return {static_cast<std::uint16_t>(std::min(number, kClasses)), rounded};
}

/// Blocks kept for reuse, a list for each size class. Locks are only tried, a bounded number of
/// times: who finds one taken goes past the cache, so a child of fork() that inherits a held lock
/// does not hang.
class State {
 public:
  State() {
    check_isa();  // every program with tensors comes by here, and loads the cap with it
    limit_ = env_bytes("WICK_MEMORY_LIMIT").value_or(machine_memory());
    set_cache_limit(
        env_bytes("WICK_MEMORY_CACHE").value_or(std::min(limit_.load() / 8, Index{2} << 30)));
  }

  MemoryResource& resource() {
    MemoryResource* r = resource_.load(std::memory_order_acquire);
    return r != nullptr ? *r : system_;
  }

  MemoryResource* set_resource(MemoryResource* resource) {
    MemoryResource* former = resource_.exchange(resource, std::memory_order_acq_rel);
    empty();
    return former;
  }

  detail::Block* take(Index bytes, std::string_view op) {
    if (bytes > kLargest)
      throw Error(ErrorKind::out_of_memory, op,
                  str("wanted ", bytes, " bytes, no machine has as many"));
    const SizeClass size = size_class(bytes + kHeader);
    const Index used = reserve(size.bytes, bytes, op);
    MemoryResource* const scoped = current_context().memory;
    MemoryResource& from = scoped != nullptr ? *scoped : resource();
    if (detail::Block* b = pop(size.number, from)) {
      hits_.fetch_add(1, std::memory_order_relaxed);
      note_peak(used);
      return b;
    }
    misses_.fetch_add(1, std::memory_order_relaxed);
    void* memory = ask(from, size.bytes);
    if (memory == nullptr && cached_.load(std::memory_order_relaxed) > 0) {
      empty();
      memory = ask(from, size.bytes);
    }
    if (memory == nullptr) {
      in_use_.fetch_sub(size.bytes, std::memory_order_relaxed);
      throw Error(ErrorKind::out_of_memory, op,
                  str("wanted ", bytes, " bytes, the system has no more"));
    }
    note_peak(used);
    auto* b = new (memory) detail::Block;
    b->resource = &from;
    b->capacity = size.bytes;
    b->size_class = size.number;
    return b;
  }

  void give(detail::Block* b) noexcept {
    in_use_.fetch_sub(b->capacity, std::memory_order_relaxed);
    if (!push(b)) release(b);
  }

  void empty() noexcept {
    for (List& list : lists_) {
      std::vector<detail::Block*> blocks;
      if (!lock(list, kPatience)) continue;
      std::swap(blocks, list.blocks);
      for (const detail::Block* b : blocks)
        cached_.fetch_sub(b->capacity, std::memory_order_relaxed);
      unlock(list);
      for (detail::Block* b : blocks) release(b);
    }
  }

  MemoryStats stats() const {
    return {limit_, in_use_, peak_, cached_, cache_limit_, hits_, misses_};
  }
  void reset_peak() { peak_ = in_use_.load(); }
  void set_limit(Index bytes) { limit_ = bytes; }
  void set_cache_limit(Index bytes) {
    cache_limit_ = kCacheAllowed ? bytes : 0;
    if (cached_ > cache_limit_) empty();
  }

 private:
  struct List {
    std::atomic_flag lock;
    std::vector<detail::Block*> blocks;
  };

  static constexpr int kPatience = 1000;  // a lock is held for one push or pop

  static bool lock(List& list, int tries = 1) noexcept {
    while (list.lock.test_and_set(std::memory_order_acquire)) {
      if (--tries <= 0) return false;
      std::this_thread::yield();
    }
    return true;
  }
  static void unlock(List& list) noexcept { list.lock.clear(std::memory_order_release); }

  static void* ask(MemoryResource& from, Index bytes) {
    try {
      return from.allocate(static_cast<std::size_t>(bytes));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  static void release(detail::Block* b) noexcept {
    MemoryResource* resource = b->resource;
    const auto bytes = static_cast<std::size_t>(b->capacity);
    b->~Block();
    resource->deallocate(b, bytes);
  }

  /// Counts `bytes` as used and returns how many are now, or refuses.
  Index reserve(Index bytes, Index asked, std::string_view op) {
    const Index used = in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    const Index limit = limit_.load(std::memory_order_relaxed);
    if (used > limit - std::min(limit, cached_.load(std::memory_order_relaxed))) {
      if (used <= limit) {
        empty();
      } else {
        in_use_.fetch_sub(bytes, std::memory_order_relaxed);
        throw Error(ErrorKind::out_of_memory, op,
                    str("wanted ", asked, " bytes, but ", used - bytes, " of the limit of ", limit,
                        " are in use (see set_memory_limit, WICK_MEMORY_LIMIT)"));
      }
    }
    return used;
  }

  void note_peak(Index used) noexcept {
    Index peak = peak_.load(std::memory_order_relaxed);
    while (used > peak && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
    }
  }

  /// A cached block of this class that came from `from`.
  detail::Block* pop(std::size_t number, const MemoryResource& from) noexcept {
    if (cached_.load(std::memory_order_relaxed) == 0) return nullptr;
    List& list = lists_[number];
    if (!lock(list)) return nullptr;
    detail::Block* b = nullptr;
    if (!list.blocks.empty() && list.blocks.back()->resource == &from) {
      b = list.blocks.back();
      list.blocks.pop_back();
      cached_.fetch_sub(b->capacity, std::memory_order_relaxed);
    }
    unlock(list);
    return b;
  }

  bool push(detail::Block* b) noexcept {
    if (b->size_class >= kClasses) return false;
    const Index after = cached_.fetch_add(b->capacity, std::memory_order_relaxed) + b->capacity;
    bool kept = false;
    List& list = lists_[b->size_class];
    if (after <= cache_limit_.load(std::memory_order_relaxed) && lock(list)) {
      // Looked up under the lock: set_resource() empties each list after the change, so no block of
      // a former resource stays behind.
      if (b->resource == &resource()) {
        try {
          list.blocks.push_back(b);
          kept = true;
        } catch (...) {  // no memory for the list: give the block back instead
        }
      }
      unlock(list);
    }
    if (!kept) cached_.fetch_sub(b->capacity, std::memory_order_relaxed);
    return kept;
  }

  SystemMemory system_;
  std::atomic<MemoryResource*> resource_{nullptr};
  std::atomic<Index> limit_{0};
  std::atomic<Index> cache_limit_{0};
  alignas(64) std::atomic<Index> in_use_{0};
  std::atomic<Index> peak_{0};
  std::atomic<Index> cached_{0};
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> misses_{0};
  std::array<List, kClasses + 1> lists_{};
};

/// Never destroyed: static and thread-local tensors may die after everything else.
State& state() {
  static constinit MadeOnce<State> s;
  return s.get();
}

}  // namespace

MemoryStats memory_stats() { return state().stats(); }
void reset_memory_peak() { state().reset_peak(); }
void empty_memory_cache() { state().empty(); }
MemoryResource* set_memory_resource(MemoryResource* resource) {
  return state().set_resource(resource);
}

void set_memory_limit(Index bytes) {
  if (bytes < 0)
    throw Error(ErrorKind::argument, "set_memory_limit", str("wanted bytes >= 0, got ", bytes));
  state().set_limit(bytes);
}

void set_memory_cache_limit(Index bytes) {
  if (bytes < 0)
    throw Error(ErrorKind::argument, "set_memory_cache_limit",
                str("wanted bytes >= 0, got ", bytes));
  state().set_cache_limit(bytes);
}

namespace detail {

Block* make_block(Index bytes, std::string_view op) {
  if (bytes < 0)
    throw Error(ErrorKind::overflow, op, str("wanted a size in bytes >= 0, got ", bytes));
  Block* b = state().take(bytes, op);
  b->references.store(1, std::memory_order_relaxed);
  b->data = reinterpret_cast<std::byte*>(b) + kHeader;
  b->bytes = bytes;
#ifndef NDEBUG
  // NaN in every float format that has one: a read of what nobody wrote shows.
  std::memset(b->data, 0xFF, static_cast<std::size_t>(bytes));
#endif
  return b;
}

Block* make_foreign_block(void* data, Index bytes, std::shared_ptr<const void> owner,
                          bool read_only) {
  Block* b = state().take(0, "from_foreign");
  b->references.store(1, std::memory_order_relaxed);
  b->data = static_cast<std::byte*>(data);
  b->bytes = bytes;
  b->owner = std::move(owner);
  b->read_only = read_only;
  b->foreign = true;
  return b;
}

void destroy_block(Block* block) noexcept {
  if (block->foreign) {
    block->owner.reset();
    block->foreign = false;
    block->read_only = false;
  }
  state().give(block);
}

}  // namespace detail
}  // namespace wick
