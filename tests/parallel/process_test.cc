// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/parallel/executors.h"

// What happens to the process around the threads: environment, fork, exit, signals. Most of it
// needs a process of its own: a DISABLED_ test is the body, run by this binary on itself.

#if defined(__linux__) && WICK_WITH_THREADS

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#if defined(__SANITIZE_THREAD__)
#define WICK_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WICK_TSAN 1
#endif
#endif
#ifndef WICK_TSAN
#define WICK_TSAN 0
#endif

namespace wick {
namespace {

using namespace std::chrono_literals;
using Variables = std::vector<std::pair<const char*, const char*>>;

/// How a child ended: its exit code, or minus the signal that ended it. A child that hangs is ended
/// by SIGALRM.
int result_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

constexpr int kNotRun = 99;

/// Runs one disabled test of this binary with variables set.
int run_self(const char* test, const Variables& variables = {}) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    for (const auto& [name, value] : variables) setenv(name, value, 1);
    const std::string filter = std::string("--gtest_filter=") + test;
    execl("/proc/self/exe", "wick_tests", filter.c_str(), "--gtest_also_run_disabled_tests",
          "--gtest_brief=1", static_cast<char*>(nullptr));
    _exit(kNotRun);
  }
  return result_of(child);
}

/// Under qemu-user a program cannot run itself, and the child of a process with threads hangs.
bool emulated() {
  static const bool result = run_self("None.None") == kNotRun;
  return result;
}

bool all_pools_work() {
  std::atomic<int> ran{0};
  const auto count = [&](int) { ++ran; };
  default_executor().run(8, count);
  barrier_executor().run(8, count);
  with_context([&] { current_executor().run(8, count); });
  parallel_for(8, 1, [&](Index begin, Index end) { ran += static_cast<int>(end - begin); });
  return ran == 32;
}

/// Runs f in a child of fork() and returns what it returned.
template <class F>
int in_child(F f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(f());
  }
  return result_of(child);
}

TEST(Fork, TheChildGetsFreshPools) {
  if (WICK_TSAN || emulated()) GTEST_SKIP() << "TSan and qemu cannot follow a fork";
  const ThreadCountScope scope(2);
  BarrierPool own(2);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(all_pools_work());
    own.run(2, [](int) {});
    const auto use = [&] {
      std::atomic<int> ran{0};
      own.run(4, [&](int) { ++ran; });
      const int grandchild = in_child([] { return all_pools_work() ? 5 : 6; });
      shutdown();
      return all_pools_work() && ran == 4 && grandchild == 5 ? 42 : 1;
    };
    EXPECT_EQ(in_child(use), 42);
    EXPECT_EQ(with_context([&] { return in_child(use); }), 42);
  }
}

TEST(Fork, NoLockIsInherited) {
  if (WICK_TSAN || emulated()) GTEST_SKIP() << "TSan and qemu cannot follow a fork";
  const ThreadCountScope scope(2);
  std::atomic<bool> stop{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 2; ++i)
    busy.emplace_back([&] {
      while (!stop) all_pools_work();
    });
  for (int i = 0; i < 30; ++i) EXPECT_EQ(in_child([] { return all_pools_work() ? 42 : 1; }), 42);
  stop = true;
  for (std::thread& thread : busy) thread.join();
}

/// What is made at its first use is being made by two threads when a third one forks.
TEST(ForkBody, DISABLED_AtFirstUse) {
  std::vector<std::thread> busy;
  std::atomic<int> ready{0};
  for (int i = 0; i < 2; ++i)
    busy.emplace_back([&] {
      ++ready;
      all_pools_work();
    });
  while (ready < 1) {
  }
  const int code = in_child([] { return all_pools_work() ? 42 : 1; });
  for (std::thread& thread : busy) thread.join();
  std::exit(code == 42 ? 0 : 1);
}

TEST(Fork, NoLockIsInheritedFromAFirstUse) {
  if (WICK_TSAN || emulated()) GTEST_SKIP() << "TSan and qemu cannot follow a fork";
  for (int i = 0; i < 20; ++i) EXPECT_EQ(run_self("ForkBody.DISABLED_AtFirstUse"), 0);
}

TEST(Fork, InsideARegionDoesNotHang) {
  if (WICK_TSAN || emulated()) GTEST_SKIP() << "TSan and qemu cannot follow a fork";
  BarrierPool pool(2);
  std::atomic<int> code{0};
  const pid_t parent = getpid();
  pool.run(2, [&](int rank) {
    if (rank == 1) code = in_child([] { return all_pools_work() ? 42 : 1; });
  });
  ASSERT_EQ(getpid(), parent);
  EXPECT_EQ(code, 42);
}

TEST(ExitBody, DISABLED_Spinning) {
  set_num_threads(2);
  std::atexit([] { all_pools_work(); });  // as a tensor in a static object might
  if (!all_pools_work()) std::exit(1);
  std::exit(0);
}

TEST(ExitBody, DISABLED_Parked) {
  set_num_threads(2);
  if (!all_pools_work()) std::exit(1);
  std::this_thread::sleep_for(20ms);
  std::exit(0);
}

TEST(ExitBody, DISABLED_AfterShutdown) {
  set_num_threads(2);
  if (!all_pools_work()) std::exit(1);
  shutdown();
  const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  const auto left = std::distance(begin(tasks), end(tasks));
  std::exit(left == 1 || WICK_TSAN ? 0 : 2);  // TSan has a thread of its own
}

TEST(ExitBody, DISABLED_InAContextOfAnotherThread) {
  set_num_threads(2);
  std::thread([] {
    with_context([] {
      for (;;) all_pools_work();
    });
  }).detach();
  std::this_thread::sleep_for(5ms);
  std::exit(0);
}

TEST(Exit, NeverHangs) {
  if (emulated()) GTEST_SKIP() << "qemu cannot run this program from itself";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run_self("ExitBody.DISABLED_Spinning"), 0);
    EXPECT_EQ(run_self("ExitBody.DISABLED_Parked"), 0);
    EXPECT_EQ(run_self("ExitBody.DISABLED_AfterShutdown"), 0);
    EXPECT_EQ(run_self("ExitBody.DISABLED_InAContextOfAnotherThread"), 0);
  }
}

TEST(EnvironmentBody, DISABLED_IsRefused) {
  const std::string variable =
      std::getenv("WICK_NUM_THREADS") != nullptr ? "WICK_NUM_THREADS" : "WICK_BARRIER_THREADS";
  for (int i = 0; i < 2; ++i) {
    try {
      parallel_for(1, 1, [](Index, Index) {});
      std::exit(1);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::environment) std::exit(2);
      if (std::string(e.what()).find(variable) == std::string::npos) std::exit(3);
    }
  }
  std::exit(0);
}

TEST(EnvironmentBody, DISABLED_Counts) {
  if (num_threads() != 3 || num_barrier_threads() != 5) std::exit(1);
  if (default_executor().threads() != 3 || barrier_executor().threads() != 5) std::exit(2);
  if (!all_pools_work()) std::exit(3);
  set_num_threads(2);
  if (num_threads() != 2 || num_barrier_threads() != 5) std::exit(4);
  std::exit(all_pools_work() ? 0 : 5);
}

TEST(Environment, BadValuesAreErrorsOnFirstUse) {
  if (emulated()) GTEST_SKIP() << "qemu cannot run this program from itself";
  for (const char* bad : {"0", "-1", "two", "2 ", "1e3", "99999", "99999999999999999999"}) {
    EXPECT_EQ(run_self("EnvironmentBody.DISABLED_IsRefused", {{"WICK_NUM_THREADS", bad}}), 0)
        << bad;
    EXPECT_EQ(run_self("EnvironmentBody.DISABLED_IsRefused", {{"WICK_BARRIER_THREADS", bad}}), 0)
        << bad;
  }
}

TEST(Environment, SetsTheCounts) {
  if (emulated()) GTEST_SKIP() << "qemu cannot run this program from itself";
  EXPECT_EQ(run_self("EnvironmentBody.DISABLED_Counts",
                     {{"WICK_NUM_THREADS", "3"}, {"WICK_BARRIER_THREADS", "5"}}),
            0);
}

TEST(Signals, WorkersTakeNone) {
  const ThreadCountScope scope(2);
  const auto caller = std::this_thread::get_id();
  for (Executor* executor : {&default_executor(), &barrier_executor()}) {
    std::atomic<int> open{0};
    std::atomic<bool> worked{false};
    for (int i = 0; i < 100 && !worked; ++i) {
      executor->run(2, [&](int) {
        std::this_thread::sleep_for(2ms);
        if (std::this_thread::get_id() == caller) return;
        worked = true;
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        for (const int s : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD, SIGPROF, SIGRTMIN})
          if (sigismember(&mask, s) == 0) ++open;
      });
    }
    EXPECT_TRUE(worked);
    EXPECT_EQ(open, 0);
  }
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGINT), 0);
}

TEST(StartBody, DISABLED_SmallWork) {
  parallel_for(100, 1000, [](Index, Index) {});
  with_context([] { parallel_for(100, 1000, [](Index, Index) {}); });
  const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  std::exit(std::distance(begin(tasks), end(tasks)) == 1 || WICK_TSAN ? 0 : 1);
}

TEST(Start, SmallWorkStartsNoThread) {
  if (emulated()) GTEST_SKIP() << "qemu cannot run this program from itself";
  EXPECT_EQ(run_self("StartBody.DISABLED_SmallWork"), 0);
}

}  // namespace
}  // namespace wick

#endif  // __linux__
