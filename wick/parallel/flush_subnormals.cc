// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/flush_subnormals.h"

#include "wick/parallel/float_control.h"

namespace wick {
namespace {

#if defined(__SSE2__)
constexpr std::uint64_t kFlush = 0x8040;  // FTZ, DAZ
#elif defined(__aarch64__)
constexpr std::uint64_t kFlush = 1U << 24U;  // FZ
#else
constexpr std::uint64_t kFlush = 0;
#endif

}  // namespace

FlushSubnormals::FlushSubnormals() : before_(float_control()) {
  set_float_control(before_ | kFlush);
}

FlushSubnormals::~FlushSubnormals() { set_float_control(before_); }

}  // namespace wick
