// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace wick {

/// How many forks lie between the first call of this function and now: 0 until a child of fork()
/// asks. Threads and locks made under another value belong to a parent and do not work here.
unsigned fork_generation();

/// While one exists, fork() in another thread waits. For first uses of other libraries: a child
/// must not inherit their locks taken by threads that it does not have. Not for long, and not
/// nested.
class NoForkScope {
 public:
  NoForkScope();
  ~NoForkScope();
  NoForkScope(const NoForkScope&) = delete;
  NoForkScope& operator=(const NoForkScope&) = delete;
};

}  // namespace wick
