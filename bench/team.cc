// SPDX-License-Identifier: Apache-2.0
#include "bench/team.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "wick/base/str.h"
#include "wick/parallel/topology.h"

#if defined(__linux__)
#include <dirent.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#endif

namespace wick::bench {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

#if defined(__linux__)
void pin(int thread, const int* first, const int* last) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (; first != last; ++first) CPU_SET(static_cast<std::size_t>(*first), &set);
  ::sched_setaffinity(thread, sizeof set, &set);  // refused: the thread stays where it may be
}

/// Calls f(thread id) for all threads of the process but the calling one and the team's.
template <class F>
void for_each_other_thread(F&& f) {
  DIR* folder = ::opendir("/proc/self/task");
  if (folder == nullptr) return;
  const int own = static_cast<int>(::syscall(SYS_gettid));
  while (const dirent* entry = ::readdir(folder)) {
    const int thread = std::atoi(entry->d_name);
    if (thread <= 0 || thread == own) continue;
    std::ifstream in(str("/proc/self/task/", thread, "/comm"));
    std::string name;
    if (std::getline(in, name) && name != "wick-limit") f(thread);
  }
  ::closedir(folder);
}
#endif

}  // namespace

std::vector<int> usable_cpu_list() {
  const Topology& machine = topology();
  std::vector<int> list;
  const auto add = [&](int cpu) {
    if (std::find(list.begin(), list.end(), cpu) == list.end()) list.push_back(cpu);
  };
  for (const Core& core : machine.compute_cores())
    if (!core.cpus.empty()) add(core.cpus.front());
  for (const Core& core : machine.cores)
    for (const int cpu : core.cpus) add(cpu);
  return list;
}

double waited_seconds() {
  double sum = 0;
#if defined(__linux__)
  const std::string tasks = "/proc/self/task";
  DIR* folder = ::opendir(tasks.c_str());
  if (folder == nullptr) return 0;
  while (const dirent* entry = ::readdir(folder)) {
    std::ifstream in(str(tasks, "/", entry->d_name, "/schedstat"));
    double ran = 0, waited = 0;  // nanoseconds
    if (in >> ran >> waited) sum += waited / 1e9;
  }
  ::closedir(folder);
#endif
  return sum;
}

PinScope::PinScope(const std::vector<int>& cpus, int threads)
    : cpus_(cpus), threads_(std::min(threads, static_cast<int>(cpus.size()))) {
  refresh();
}

void PinScope::refresh() {
#if defined(__linux__)
  if (threads_ < 1) return;
  const int* first = cpus_.data();
  pin(0, first, first + 1);
  if (threads_ > 1)
    for_each_other_thread([&](int thread) { pin(thread, first + 1, first + threads_); });
#endif
}

PinScope::~PinScope() {
#if defined(__linux__)
  if (threads_ < 1) return;
  const int *first = cpus_.data(), *last = first + cpus_.size();
  pin(0, first, last);
  for_each_other_thread([&](int thread) { pin(thread, first, last); });
#endif
}

RunOn::RunOn([[maybe_unused]] const std::vector<int>& cpus) {
#if defined(__linux__)
  cpu_set_t set;
  if (cpus.empty() || ::sched_getaffinity(0, sizeof set, &set) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) before_.push_back(cpu);
  pin(0, cpus.data(), cpus.data() + cpus.size());
#endif
}

RunOn::~RunOn() {
#if defined(__linux__)
  if (!before_.empty()) pin(0, before_.data(), before_.data() + before_.size());
#endif
}

Team::Team(const std::vector<int>& cpus) : cpus_(cpus) {}

Team::~Team() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& t : workers_) t.join();
}

void Team::call(int rank, int threads, const FunctionRef<void(int)>& f) {
  ready_.fetch_add(1);
  while (ready_.load() < threads) std::this_thread::yield();
  Times& times = times_[static_cast<std::size_t>(rank)];
  times.start = seconds();
  f(rank);
  times.end = seconds();
}

void Team::work(int rank) {
#if defined(__linux__)
  ::pthread_setname_np(::pthread_self(), "wick-limit");
  if (static_cast<std::size_t>(rank) < cpus_.size())
    pin(0, cpus_.data() + rank, cpus_.data() + rank + 1);
#endif
  long seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || (number_ != seen && rank < wanted_); });
    if (stop_) return;
    seen = number_;
    const auto* job = job_;
    const int threads = wanted_;
    lock.unlock();
    call(rank, threads, *job);
    lock.lock();
    if (--running_ == 0) done_.notify_one();
  }
}

double Team::run(int threads, FunctionRef<void(int rank)> f) {
  while (static_cast<int>(workers_.size()) < threads - 1)
    workers_.emplace_back(&Team::work, this, static_cast<int>(workers_.size()) + 1);
  {
    const std::scoped_lock lock(mutex_);
    job_ = &f;
    wanted_ = threads;
    running_ = threads - 1;
    ++number_;
    ready_ = 0;
    times_.assign(static_cast<std::size_t>(threads), {});
  }
  if (threads > 1) wake_.notify_all();
  call(0, threads, f);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return running_ == 0; });
  Times whole = times_.front();
  for (const Times& t : times_)
    whole = {std::min(whole.start, t.start), std::max(whole.end, t.end)};
  return whole.end - whole.start;
}

}  // namespace wick::bench
