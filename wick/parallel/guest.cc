// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/guest.h"

#if WICK_WITH_THREADS

#include <algorithm>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__APPLE__)
#include <pthread/qos.h>
#endif

namespace wick {

#if defined(__unix__) || defined(__APPLE__)
SignalBlock::SignalBlock() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}
SignalBlock::~SignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
#else
SignalBlock::SignalBlock() = default;
SignalBlock::~SignalBlock() = default;
#endif

void enter_worker() {
#if defined(__APPLE__)
  pthread_set_qos_class_self_np(QOS_CLASS_USER_INTERACTIVE, 0);
#elif defined(__linux__)
  pthread_setname_np(pthread_self(), "wick");
#endif
}

int usable_cpus() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
#endif
  return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
}

}  // namespace wick

#endif  // WICK_WITH_THREADS
