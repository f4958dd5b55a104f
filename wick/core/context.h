// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/base/export.h"

namespace wick {

class Executor;
class Generator;
class MemoryResource;

/// What ops of a thread use besides their arguments. Null means the process's default: wick's own
/// pools, the resource of set_memory_resource, the generator of set_seed. (How subnormals are
/// treated is part of the processor's floating-point control, which regions hand to their workers:
/// see FlushSubnormals.)
struct Context {
  Executor* executor = nullptr;
  MemoryResource* memory = nullptr;  ///< buffers made with it never enter the reuse cache
  Generator* generator = nullptr;
};

/// The context of this thread.
WICK_API const Context& current_context() noexcept;

/// Replaces the context of this thread while it lives. What it points to must live as long, a
/// memory resource as long as the buffers it made.
class WICK_API ContextScope {
 public:
  explicit ContextScope(const Context& context) noexcept;
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  Context outer_;
};

}  // namespace wick
