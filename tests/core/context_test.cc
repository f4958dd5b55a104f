// SPDX-License-Identifier: Apache-2.0
#include "wick/core/context.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "wick/wick.h"

namespace wick {
namespace {

class CountingMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes) override {
    ++live;
    ++made;
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void deallocate(void* pointer, std::size_t) noexcept override {
    --live;
    std::free(pointer);
  }
  int live = 0;
  int made = 0;
};

TEST(Context, MemoryOfAScope) {
  CountingMemory memory;
  {
    Tensor kept;
    {
      const ContextScope scope(Context{.memory = &memory});
      kept = Tensor::ones({100});
      (void)kept.exp();
      EXPECT_EQ(memory.live, 1);  // the result of exp is gone: nothing of it is cached
      EXPECT_EQ(memory.made, 2);
    }
    (void)Tensor::ones({100});
    EXPECT_EQ(memory.made, 2);
    EXPECT_EQ(kept.sum().item<f32>(), 100.0F);
  }
  EXPECT_EQ(memory.live, 0);
}

TEST(Context, GeneratorOfAScope) {
  Generator one(5), two(5);
  const Tensor expected = rand_normal({10}, DType::f32, one);
  set_seed(9);
  const std::uint64_t seed = get_seed();
  {
    const ContextScope scope(Context{.generator = &two});
    EXPECT_EQ(Tensor::randn({10}).to_vector<f32>(), expected.to_vector<f32>());
    EXPECT_EQ(get_seed(), 5U);
  }
  EXPECT_EQ(get_seed(), seed);
}

TEST(Context, ExecutorScopeKeepsTheRest) {
  CountingMemory memory;
  SerialExecutor serial;
  const ContextScope scope(Context{.memory = &memory});
  {
    const ExecutorScope inner(serial);
    EXPECT_EQ(&current_executor(), &serial);
    EXPECT_EQ(current_context().memory, &memory);
  }
  EXPECT_EQ(current_context().executor, nullptr);
}

}  // namespace
}  // namespace wick
