// SPDX-License-Identifier: Apache-2.0
#include "wick/core/memory.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <thread>
#include <vector>

#include "tests/views.h"
#include "wick/core/storage.h"

namespace wick {
namespace {

using ::testing::HasSubstr;

constexpr Index kMega = Index{1} << 20;

/// Puts limits and resource back, and starts with an empty cache.
class Memory : public ::testing::Test {
 protected:
  Memory() : before_(memory_stats()) { empty_memory_cache(); }
  ~Memory() override {
    set_memory_resource(nullptr);
    set_memory_limit(before_.limit);
    set_memory_cache_limit(before_.cache_limit);
    empty_memory_cache();
    EXPECT_EQ(memory_stats().cached, 0);
  }
  /// Under AddressSanitizer nothing is kept.
  static bool has_cache() {
    set_memory_cache_limit(64 * kMega);
    return memory_stats().cache_limit > 0;
  }

 private:
  MemoryStats before_;
};

TEST_F(Memory, CountsWhatIsInUse) {
  const MemoryStats start = memory_stats();
  EXPECT_GT(start.limit, 0);
  {
    const Buffer<u8> a(10 * kMega);
    const Index used = memory_stats().in_use - start.in_use;
    EXPECT_GE(used, 10 * kMega);
    EXPECT_LE(used, 10 * kMega + 10 * kMega / 16 + 1024);  // rounding wastes a sixteenth at most
    const Buffer<u8> shared = a;
    EXPECT_EQ(memory_stats().in_use - start.in_use, used);
  }
  EXPECT_EQ(memory_stats().in_use, start.in_use);
  EXPECT_GE(memory_stats().peak, start.in_use + 10 * kMega);
  reset_memory_peak();
  EXPECT_EQ(memory_stats().peak, start.in_use);
}

TEST_F(Memory, AlignedAndWritable) {
  for (const Index n : {0, 1, 63, 64, 65, 448, 449, 1000, 4096, 100000, 5000000}) {
    const Buffer<u8> b(n);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 64, 0U) << n;
    EXPECT_EQ(b.size(), n);
    if (n > 0) b.data()[0] = b.data()[n - 1] = 7;
  }
}

TEST_F(Memory, LimitIsAnErrorThatSaysHowMuch) {
  const Index used = memory_stats().in_use;
  set_memory_limit(used + 8 * kMega);
  const Buffer<u8> a(6 * kMega);
  const Error e = testing::error_of([] { Buffer<f32>(kMega, "matmul"); });
  EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
  EXPECT_EQ(e.op(), "matmul");
  EXPECT_THAT(e.what(), HasSubstr(std::to_string(4 * kMega)));
  EXPECT_THAT(e.what(), HasSubstr(std::to_string(used + 8 * kMega)));
  const Buffer<u8> b(kMega);  // a refusal takes nothing
  EXPECT_LE(memory_stats().in_use, used + 8 * kMega);
  EXPECT_ERROR(set_memory_limit(-1), argument);
  EXPECT_ERROR(set_memory_cache_limit(-1), argument);
}

TEST_F(Memory, AbsurdSizesAreRefused) {
  constexpr Index kMax = std::numeric_limits<Index>::max();
  const MemoryStats start = memory_stats();
  set_memory_limit(kMax);
  EXPECT_ERROR(Buffer<f32>(kMax, "op"), overflow);
  EXPECT_ERROR(Buffer<f32>(-1, "op"), overflow);
  for (const Index n :
       {kMax, kMax - 64, kMax - 1000, (kMax / 4) * 3, kMax / 2 + 1, kMax / 2, Index{1} << 56}) {
    const Error e = testing::error_of([&] { Buffer<u8>(n, "op"); });
    EXPECT_TRUE(e.kind() == ErrorKind::out_of_memory || e.kind() == ErrorKind::overflow)
        << e.what();
    EXPECT_THAT(e.what(), HasSubstr(std::to_string(n)));
  }
  EXPECT_EQ(memory_stats().in_use, start.in_use);
  EXPECT_EQ(memory_stats().peak, start.peak);  // what never was is no peak
}

TEST_F(Memory, FreedBuffersAreUsedAgain) {
  if (!has_cache()) GTEST_SKIP() << "no cache under AddressSanitizer";
  const void* first = nullptr;
  {
    const Buffer<u8> a(3 * kMega);
    first = a.data();
  }
  MemoryStats s = memory_stats();
  EXPECT_GE(s.cached, 3 * kMega);
  const Buffer<f32> b(3 * kMega / 4);  // another type, the same bytes
  EXPECT_EQ(static_cast<const void*>(b.data()), first);
  EXPECT_EQ(memory_stats().cache_hits, s.cache_hits + 1);
  EXPECT_EQ(memory_stats().cached, 0);
  EXPECT_EQ(b.size(), 3 * kMega / 4);
  s = memory_stats();
  const Buffer<u8> c(kMega);
  EXPECT_EQ(memory_stats().cache_misses, s.cache_misses + 1);
}

TEST_F(Memory, CacheIsBoundedAndCanBeEmptied) {
  if (!has_cache()) GTEST_SKIP() << "no cache under AddressSanitizer";
  set_memory_cache_limit(5 * kMega);
  {
    std::vector<Buffer<u8>> many;
    for (int i = 0; i < 10; ++i) many.emplace_back(kMega);
  }
  EXPECT_LE(memory_stats().cached, 5 * kMega);
  EXPECT_GE(memory_stats().cached, 3 * kMega);
  empty_memory_cache();
  EXPECT_EQ(memory_stats().cached, 0);
  {
    const Buffer<u8> a(kMega);
  }
  EXPECT_GT(memory_stats().cached, 0);
  set_memory_cache_limit(0);
  EXPECT_EQ(memory_stats().cached, 0);
  {
    const Buffer<u8> a(kMega);
  }
  EXPECT_EQ(memory_stats().cached, 0);
}

TEST_F(Memory, CacheGivesWayToTheLimit) {
  if (!has_cache()) GTEST_SKIP() << "no cache under AddressSanitizer";
  {
    const Buffer<u8> a(6 * kMega);
  }
  set_memory_limit(memory_stats().in_use + 8 * kMega);
  const Buffer<u8> b(4 * kMega);  // fits only without what is cached
  EXPECT_LE(memory_stats().in_use + memory_stats().cached, memory_stats().limit);
}

TEST_F(Memory, SharedAndUnique) {
  Buffer<f32> a(4);
  EXPECT_TRUE(a.unique());
  {
    const Buffer<f32> b = a;
    EXPECT_FALSE(a.unique());
    EXPECT_TRUE(b.shares(a.block()));
  }
  EXPECT_TRUE(a.unique());
  for (int i = 0; i < 4; ++i) a.data()[i] = static_cast<f32>(i);
  const Buffer<f32> c = a.clone();
  EXPECT_FALSE(c.shares(a.block()));
  EXPECT_EQ(c.data()[3], 3.0F);
  a = c;
  EXPECT_TRUE(a.shares(c.block()));
  a = static_cast<const Buffer<f32>&>(a);  // to itself
  EXPECT_EQ(a.data()[3], 3.0F);
  const Buffer<f32> moved = std::move(a);
  EXPECT_EQ(moved.data()[2], 2.0F);
  EXPECT_EQ(Buffer<f32>().size(), 0);
  EXPECT_EQ(Buffer<f32>().clone().size(), 0);
}

TEST_F(Memory, ForeignMemoryKeepsItsOwner) {
  auto owner = std::make_shared<std::vector<f32>>(std::vector<f32>{1, 2, 3});
  const std::weak_ptr<std::vector<f32>> watch = owner;
  f32* data = owner->data();
  auto a = std::make_unique<Buffer<f32>>(Buffer<f32>::foreign(data, 3, std::move(owner), true));
  EXPECT_TRUE(a->read_only());
  EXPECT_FALSE(a->unique());  // never ours to reuse
  const auto b = std::make_unique<Buffer<f32>>(*a);
  a.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(b->data(), data);
  EXPECT_EQ(b->data()[2], 3.0F);
  const_cast<std::unique_ptr<Buffer<f32>>&>(b).reset();
  EXPECT_TRUE(watch.expired());
  const Buffer<u8> next(1);  // the header is reused: nothing of the former life may be left
  EXPECT_FALSE(next.read_only());
  EXPECT_TRUE(next.unique());
}

/// A resource that counts, and refuses when told to.
class Counting final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes) override {
    if (refuse) throw std::bad_alloc();
    if (null) return nullptr;
    ++blocks;
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void deallocate(void* pointer, std::size_t) noexcept override {
    --blocks;
    std::free(pointer);  // NOLINT: aligned_alloc's counterpart
  }
  std::atomic<int> blocks{0};
  bool refuse = false;
  bool null = false;
};

TEST_F(Memory, OwnResource) {
  static Counting mine;
  const Buffer<u8> before(kMega);
  EXPECT_EQ(set_memory_resource(&mine), nullptr);
  {
    const Buffer<u8> a(kMega), b(100);
    EXPECT_EQ(mine.blocks, 2);
    mine.refuse = true;
    const Error e = testing::error_of([] { Buffer<u8>(12345678, "op"); });
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
    EXPECT_THAT(e.what(), HasSubstr("12345678"));
    mine.refuse = false;
    mine.null = true;
    EXPECT_ERROR(Buffer<u8>(12345678, "op"), out_of_memory);
    mine.null = false;
  }
  EXPECT_EQ(set_memory_resource(nullptr), &mine);
  EXPECT_EQ(mine.blocks, 0);  // what was cached went back
}

TEST_F(Memory, BuffersOutliveTheirResourceBeingCurrent) {
  static Counting mine;
  set_memory_resource(&mine);
  auto a = std::make_unique<Buffer<u8>>(kMega);
  set_memory_resource(nullptr);
  EXPECT_EQ(mine.blocks, 1);
  a.reset();
  EXPECT_EQ(mine.blocks, 0);  // given back at once, not kept for another resource's buffers
}

TEST_F(Memory, EightThreads) {
  static Counting mine;
  set_memory_resource(&mine);
  const Index used = memory_stats().in_use;
  std::vector<std::thread> threads;
  std::vector<Buffer<u8>> passed(8);  // each freed by another thread than the one that made it
  std::atomic<int> ready{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      testing::Random random(static_cast<std::uint64_t>(t));
      for (int i = 0; i < 400; ++i) {
        const Index n = random.between(1, 1 << random.between(1, 14));
        const Buffer<u8> a(n);
        a.data()[0] = static_cast<u8>(t);
        a.data()[n - 1] = static_cast<u8>(t);
        const Buffer<u8> b = a;
        if (i % 50 == t) empty_memory_cache();
        if (i % 70 == t) (void)memory_stats();
        ASSERT_EQ(b.data()[n - 1], static_cast<u8>(t));
      }
      passed[static_cast<std::size_t>(t)] = Buffer<u8>(1000 + t);
      ready.fetch_add(1);
      while (ready.load() < 8) std::this_thread::yield();
      passed[static_cast<std::size_t>((t + 1) % 8)] = Buffer<u8>();
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(memory_stats().in_use, used);
  set_memory_resource(nullptr);
  EXPECT_EQ(mine.blocks, 0);
}

TEST_F(Memory, ResourceChangesWhileThreadsFree) {
  static Counting one, two;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      while (!stop) const Buffer<u8> a(512);
    });
  for (int i = 0; i < 200; ++i) set_memory_resource(i % 2 == 0 ? &one : &two);
  stop = true;
  for (std::thread& t : threads) t.join();
  set_memory_resource(nullptr);
  EXPECT_EQ(one.blocks, 0);
  EXPECT_EQ(two.blocks, 0);
}

}  // namespace
}  // namespace wick
