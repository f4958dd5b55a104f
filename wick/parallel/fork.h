// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace wick {

/// How many forks lie between the first call of this function and now: 0 until a child of fork()
/// asks. Threads and locks made under another value belong to a parent and do not work here.
unsigned fork_generation();

}  // namespace wick
