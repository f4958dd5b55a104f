// SPDX-License-Identifier: Apache-2.0
#include "wick/core/context.h"

#include <utility>

namespace wick {
namespace {

constinit thread_local Context tls_context;

}  // namespace

const Context& current_context() noexcept { return tls_context; }

ContextScope::ContextScope(const Context& context) noexcept
    : outer_(std::exchange(tls_context, context)) {}

ContextScope::~ContextScope() { tls_context = outer_; }

}  // namespace wick
