// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__unix__) || defined(__APPLE__)
#include <csignal>
#endif

// Manners of threads in a process that belongs to somebody else.

namespace wick {

/// While it lives, the calling thread, and threads it starts for good, take no signals: those are
/// for the threads of the application.
class SignalBlock {
 public:
  SignalBlock();
  ~SignalBlock();
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
#if defined(__unix__) || defined(__APPLE__)
  sigset_t before_;
#endif
};

/// What a worker does first: it asks for the scheduling class of work somebody waits for (macOS)
/// and takes a name that debuggers show (Linux).
void enter_worker();

/// CPUs that this process may use, hardware threads counted singly.
int usable_cpus();

}  // namespace wick
