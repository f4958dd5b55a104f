// SPDX-License-Identifier: Apache-2.0
#include "bench/harness.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench/statistics.h"
#include "wick/base/error.h"

namespace wick::bench {
namespace {

/// A candidate under way.
struct Course {
  const Candidate* candidate;
  Row row;
  std::vector<Batch> batches;
  int calls = 1;       ///< for one timing
  bool rouse = false;  ///< one call first, untimed: pools were put to sleep
  double spent = 0;
};

/// The seconds that so many calls took.
double time_calls(const Candidate& candidate, int calls, const Now& now) {
  if (candidate.timed) return candidate.timed(calls);
  const double start = now();
  for (int i = 0; i < calls; ++i) candidate.call();
  return now() - start;
}

/// One warm-up call, then as many as it takes to know how long one is.
void warm_up(Course& course, const Pace& pace, const Now& now) {
  course.candidate->around([&] {
    time_calls(*course.candidate, 1, now);
    double took = 0;
    int calls = 1;
    for (;; calls *= 2) {
      took = time_calls(*course.candidate, calls, now);
      if (took >= pace.batch_seconds / 4 || calls >= 1 << 20) break;
    }
    const double once = std::max(took / calls, 1e-9);
    course.rouse = once < pace.batch_seconds;
    course.calls = pace.calls_per_timing > 0
                       ? pace.calls_per_timing
                       : static_cast<int>(std::ceil(pace.batch_seconds / pace.timings / once));
    course.calls = std::max(course.calls, 1);
  });
}

void run_batch(Course& course, const Pace& pace, const Now& now) {
  Batch& batch = course.batches.emplace_back();
  batch.seconds.reserve(static_cast<std::size_t>(pace.timings));
  course.candidate->around([&] {
    if (course.rouse) time_calls(*course.candidate, 1, now);
    for (int t = 0; t < pace.timings; ++t)
      batch.seconds.push_back(time_calls(*course.candidate, course.calls, now) / course.calls);
  });
}

double waited(const Course& course) {
  return course.candidate->waited ? course.candidate->waited() : 0;
}

/// The bracket of the last batch, given the limit runs around it and how long its threads waited:
/// nothing if that was a part of the batch that matters.
double bracket(const Course& course, double before, double after, double wait) {
  double seconds = 0;
  for (const double s : course.batches.back().seconds) seconds += s * course.calls;
  return wait > (1 - kBracketShare) * seconds ? 0 : std::min(before, after);
}

bool finished(const Course& c, const Pace& pace, double best) {
  const auto batches = static_cast<int>(c.batches.size());
  return c.row.error || count_kept(c.batches, best) >= kFewestBatches ||
         batches >= pace.most_batches ||
         (batches >= kFewestBatches && c.spent >= pace.most_seconds) ||
         c.spent >= 5 * pace.most_seconds;
}

void conclude(Course& course, const LimitSource& limits) {
  Row& row = course.row;
  if (row.error) return;
  const double best = limits.best(row.what.limit, row.what.threads);
  const Verdict verdict = judge(course.batches, best);
  row.kept = verdict.kept;
  row.dropped = verdict.dropped;
  row.noisy = verdict.noisy || (row.what.threads > 1 && !limits.two_threads_scale());
  row.median_ms = verdict.seconds * 1e3;
  if (row.what.work <= 0) return;
  const double rate = row.what.work / std::max(verdict.seconds, 1e-12);
  row.rate = rate / 1e9;
  if (!row.what.peers_only) row.share_of_limit = best > 0 ? rate / best : 0;
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<Row> measure(const Case& what, std::span<const Candidate> candidates,
                         LimitSource& limits, const Pace& pace,
                         const std::function<void()>& between, const Now& now) {
  std::vector<Course> courses;
  for (const Candidate& candidate : candidates) {
    Course& course = courses.emplace_back();
    course.candidate = &candidate;
    course.row.what = what;
    course.row.engine = candidate.engine;
    course.row.context = candidate.context;
    course.row.result = candidate.note;
    try {
      warm_up(course, pace, now);
    } catch (const Error& e) {
      course.row.error = e.what();
    }
  }
  const auto limit_now = [&] {
    between();
    return limits.measure(what.limit, what.threads);
  };
  const auto done = [&] {
    const double best = limits.best(what.limit, what.threads);
    return std::all_of(courses.begin(), courses.end(),
                       [&](const Course& c) { return finished(c, pace, best); });
  };
  double before = done() ? 0 : limit_now();
  while (!done()) {
    for (Course& course : courses) {
      if (finished(course, pace, limits.best(what.limit, what.threads))) continue;
      const double start = now(), waited_before = waited(course);
      try {
        run_batch(course, pace, now);
      } catch (const Error& e) {
        course.row.error = e.what();
      }
      const double after = limit_now();
      // Asked this late, because the system adds up a wait only when it is over.
      course.batches.back().bracket =
          bracket(course, before, after, waited(course) - waited_before);
      before = after;
      course.spent += now() - start;
    }
  }
  std::vector<Row> rows;
  for (Course& course : courses) {
    conclude(course, limits);
    rows.push_back(std::move(course.row));
  }
  return rows;
}

}  // namespace wick::bench
