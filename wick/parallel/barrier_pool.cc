// SPDX-License-Identifier: Apache-2.0
#include "wick/parallel/barrier_pool.h"

#if WICK_WITH_THREADS

#include <algorithm>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "wick/parallel/fork.h"
#include "wick/parallel/guest.h"
#include "wick/parallel/spin.h"

namespace wick {
namespace {

using std::chrono::microseconds;
constexpr microseconds kSpin{50};      // between regions
constexpr microseconds kHotSpin{200};  // in a HotPoolScope
constexpr microseconds kShortSpin{5};  // where threads outnumber cores

/// What a worker is told or says. Only the worker leaves kIdle for kParked and kReady for kBusy;
/// only the caller (or the leader) leaves kReady for kIdle.
enum State : unsigned {
  kIdle,     // no work; spins
  kParked,   // no work; sleeps until the state changes
  kReady,    // work has come
  kBusy,     // works
  kAwaited,  // works, and the caller sleeps until it is done
  kStop,     // to end
};

struct Region {
  FunctionRef<void(int)> f;
  int ranks;
  int slots;  // threads that take part; the caller is the last

  void run(int slot) const {
    for (int rank = slot; rank < ranks; rank += slots) f(rank);
  }
};

/// One cache line of control.
struct alignas(64) Worker {
  std::atomic<unsigned> state{kIdle};
  int members = 0;  // a leader's: the workers behind it
  const Region* region = nullptr;
};

}  // namespace

/// The threads of one process. A child of fork() leaves its parent's team untouched.
class BarrierPool::Team {
 public:
  Team(int threads, std::vector<int> clusters, Team* before)
      : threads_(threads), clusters_(std::move(clusters)), before_(before) {}
  ~Team() { stop(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  bool own() const { return generation_ == fork_generation(); }
  int threads() const { return threads_.load(std::memory_order_relaxed); }
  bool awake() const { return awake_.load(std::memory_order_relaxed) > 0; }

  void park() {
    if (awake()) rest_.store(true, std::memory_order_relaxed);
  }

  std::unique_ptr<Team> successor() {
    // Not the clusters: the parent may have been changing them.
    return std::make_unique<Team>(threads(), std::vector<int>{}, this);
  }

  void resize(int threads, std::vector<int> clusters) {
    const std::lock_guard lock(caller_);
    if (threads != this->threads() || clusters != clusters_) stop_workers();
    threads_ = threads;
    clusters_ = std::move(clusters);
  }

  void stop() {
    const std::lock_guard lock(caller_);
    stop_workers();
  }

  void run(int ranks, FunctionRef<void(int)> f) {
    const std::lock_guard lock(caller_);
    run_locked(ranks, f);
  }

  bool try_run(int ranks, FunctionRef<void(int)> f) {
    const std::unique_lock lock(caller_, std::try_to_lock);
    if (!lock) return false;
    run_locked(ranks, f);
    return true;
  }

  void heat(bool on) {
    contexts_.fetch_add(on ? 1 : -1, std::memory_order_relaxed);
    const std::unique_lock lock(caller_, std::try_to_lock);
    if (!on || !lock) return;  // a region that runs has woken them
    rest_.store(false, std::memory_order_relaxed);
    for (int i = 0; i < count(); ++i) {
      unsigned state = kParked;
      if (worker(i).state.compare_exchange_strong(state, kIdle)) worker(i).state.notify_one();
    }
  }

 private:
  int count() const { return static_cast<int>(running_.size()); }
  Worker& worker(int i) const { return workers_[static_cast<std::size_t>(i)]; }

  void start_workers();
  void stop_workers();
  void work(int i);
  bool wait_for_work(Worker& w);
  std::chrono::nanoseconds patience() const;

  void run_locked(int ranks, FunctionRef<void(int)> f) {
    if (running_.empty() && threads() > 1) start_workers();
    const Region region{f, ranks, std::min(ranks, count() + 1)};
    if (rest_.load(std::memory_order_relaxed)) rest_.store(false, std::memory_order_relaxed);
    // The caller leads its own cluster and stands above the leaders of the others.
    for (int i = own_members_; i < region.slots - 1; i += 1 + worker(i).members) call(i, region);
    lead(region, region.slots - 1, 0, own_members_);
    for (int i = own_members_; i < region.slots - 1; i += 1 + worker(i).members)
      take_back(i, region);
    for (int i = own_members_; i < region.slots - 1; i += 1 + worker(i).members) wait_for(i);
  }

  /// Runs a slot and the workers in [first, first + n) that take part.
  void lead(const Region& region, int slot, int first, int n) {
    const int end = std::min(first + n, region.slots - 1);
    for (int i = first; i < end; ++i) call(i, region);
    region.run(slot);
    for (int i = first; i < end; ++i) take_back(i, region);
    for (int i = first; i < end; ++i) wait_for(i);
  }

  void call(int i, const Region& region) {
    worker(i).region = &region;
    if (worker(i).state.exchange(kReady, std::memory_order_acq_rel) == kParked)
      worker(i).state.notify_one();
  }

  /// Does the part of a worker (and of those behind it) that has not begun.
  void take_back(int i, const Region& region) {
    unsigned state = kReady;
    if (worker(i).state.compare_exchange_strong(state, kIdle, std::memory_order_acq_rel))
      lead(region, i, i + 1, worker(i).members);
  }

  void wait_for(int i) {
    std::atomic<unsigned>& state = worker(i).state;
    const auto done = [&] { return state.load(std::memory_order_acquire) <= kParked; };
    while (!spin_until(patience(), done)) {
      if (!own()) return;  // forked inside the region: the worker is not here
      unsigned seen = kBusy;
      state.compare_exchange_strong(seen, kAwaited, std::memory_order_acquire);
      state.wait(kAwaited, std::memory_order_acquire);
    }
  }

  // Written by the holder of caller_ while all workers are idle.
  std::mutex caller_;
  std::atomic<int> threads_;
  std::vector<int> clusters_;
  int own_members_ = 0;  // workers 0.. of the caller's cluster; leaders and their members follow
  std::unique_ptr<Worker[]> workers_;
  std::vector<std::thread> running_;
  bool crowded_ = false;  // more threads than CPUs

  std::atomic<int> contexts_{0};
  std::atomic<int> awake_{0};  // workers that are not parked
  std::atomic<bool> rest_{false};
  const unsigned generation_ = fork_generation();
  [[maybe_unused]] const Team* before_;  // keeps the team of the parent process reachable
};

std::chrono::nanoseconds BarrierPool::Team::patience() const {
  if (crowded_) return kShortSpin;
  return contexts_.load(std::memory_order_relaxed) > 0 ? kHotSpin : kSpin;
}

void BarrierPool::Team::start_workers() {
  const int wanted = threads() - 1;
  workers_ = std::make_unique<Worker[]>(static_cast<std::size_t>(wanted));
  crowded_ = threads() > usable_cpus();
  own_members_ = std::min(wanted, clusters_.empty() ? wanted : std::max(clusters_[0], 1) - 1);
  std::size_t next = 1;
  for (int i = own_members_; i < wanted; i += 1 + worker(i).members) {
    const int cores = std::max(clusters_[next++ % clusters_.size()], 1);
    worker(i).members = std::min(cores, wanted - i) - 1;
  }
  running_.reserve(static_cast<std::size_t>(wanted));
  const SignalBlock no_signals;  // the new threads inherit it
  try {
    while (count() < wanted) {
      const int i = count();
      awake_.fetch_add(1, std::memory_order_relaxed);
      running_.emplace_back([this, i] { work(i); });
    }
  } catch (const std::system_error&) {
    awake_.fetch_sub(1, std::memory_order_relaxed);  // the system has no more: go on with these
  }
}

void BarrierPool::Team::stop_workers() {
  for (int i = 0; i < count(); ++i) {
    worker(i).state.exchange(kStop, std::memory_order_acq_rel);
    worker(i).state.notify_one();
  }
  for (std::thread& thread : running_) thread.join();
  running_.clear();
}

void BarrierPool::Team::work(int i) {
  enter_worker();
  Worker& w = worker(i);
  while (wait_for_work(w)) {
    lead(*w.region, i, i + 1, w.members);
    if (w.state.exchange(kIdle, std::memory_order_acq_rel) == kAwaited) w.state.notify_one();
  }
  awake_.fetch_sub(1, std::memory_order_relaxed);
}

bool BarrierPool::Team::wait_for_work(Worker& w) {
  for (;;) {
    unsigned state = kIdle;
    spin_until(patience(), [&] {
      state = w.state.load(std::memory_order_acquire);
      return state != kIdle || rest_.load(std::memory_order_relaxed);
    });
    if (state == kStop) return false;
    if (state == kReady) {
      if (w.state.compare_exchange_strong(state, kBusy, std::memory_order_acq_rel)) return true;
      continue;  // taken back, or to stop
    }
    awake_.fetch_sub(1, std::memory_order_relaxed);
    state = kIdle;
    if (w.state.compare_exchange_strong(state, kParked)) w.state.wait(kParked);
    awake_.fetch_add(1, std::memory_order_relaxed);
  }
}

BarrierPool::BarrierPool(int threads, std::vector<int> clusters)
    : team_(new Team(threads, std::move(clusters), nullptr)) {}

BarrierPool::~BarrierPool() {
  Team* team = team_;
  if (team->own()) delete team;
}

BarrierPool::Team& BarrierPool::team() const {
  Team* team = team_.load(std::memory_order_acquire);
  if (team->own()) return *team;
  std::unique_ptr<Team> fresh = team->successor();
  if (team_.compare_exchange_strong(team, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *team;
}

int BarrierPool::threads() const { return team_.load(std::memory_order_acquire)->threads(); }
void BarrierPool::resize(int n, std::vector<int> c) { team().resize(n, std::move(c)); }
bool BarrierPool::try_run(int n, FunctionRef<void(int)> f) { return team().try_run(n, f); }
void BarrierPool::run_ranks(int n, FunctionRef<void(int)> f) { team().run(n, f); }
bool BarrierPool::awake() const { return team().awake(); }
void BarrierPool::park() { team().park(); }
void BarrierPool::heat(bool on) { team().heat(on); }
void BarrierPool::stop() { team().stop(); }

}  // namespace wick

#endif  // WICK_WITH_THREADS
