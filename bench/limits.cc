// SPDX-License-Identifier: Apache-2.0
#include "bench/limits.h"

#include <algorithm>
#include <cstddef>

#include "bench/statistics.h"
#include "wick/base/cpu.h"

namespace wick::bench {
namespace {

constexpr Index kChunk = 1 << 16;  // elements: what a thread takes at a time is a multiple

}  // namespace

std::string_view name(Limit limit) {
  constexpr std::string_view kNames[] = {"f32 FMA peak", "f64 FMA peak", "bf16 dot peak", "read",
                                         "copy"};
  return kNames[static_cast<std::size_t>(limit)];
}

std::string_view unit(Limit limit) { return limit < Limit::read ? "GFLOP/s" : "GB/s"; }

Limit fma_limit(DType dtype, bool native_bf16) {
  if (dtype == DType::f64) return Limit::fma_f64;
  return dtype == DType::bf16 && native_bf16 ? Limit::fma_bf16 : Limit::fma_f32;
}

Index cold_bytes(Index most) {
  const Index caches = last_level_cache(cpu_info());
  return std::min(most, caches > 0 ? 8 * caches : Index{512} << 20);
}

MachineLimits::MachineLimits(const std::vector<int>& cpus, Options options)
    : options_(options), loops_(limit_loops()), team_(cpus) {
  const Index n = std::max(cold_bytes(options.memory) / 8 / kChunk, Index{4}) * kChunk;
  array_ = Buffer<f64>(n, "limits");
  std::fill_n(array_.data(), n, 1.0);
  for (int i = 0; i < kLimitCount; ++i) {
    const auto limit = static_cast<Limit>(i);
    double rates[3] = {};
    const int forms = limit == Limit::read ? 3 : 2;
    for (int round = 0; round < 3; ++round)
      for (int form = 0; form < forms; ++form)
        rates[form] = std::max(rates[form], run_once(limit, 1, form, options_.seconds));
    form_[static_cast<std::size_t>(i)] =
        static_cast<int>(std::max_element(rates, rates + forms) - rates);
  }
}

const Fma* MachineLimits::fma(Limit limit) const {
  switch (limit) {
    case Limit::fma_f32: return loops_.f32;
    case Limit::fma_f64: return loops_.f64;
    case Limit::fma_bf16: return loops_.bf16;
    default: return nullptr;
  }
}

double MachineLimits::run_fma(const Fma& fma, int threads, double seconds, double guess) {
  if (fma.loop == nullptr) return 0;
  const double per_thread = guess > 0 ? guess / threads : 1e10;
  const auto rounds = static_cast<std::int64_t>(std::max(1e3, per_thread * seconds / fma.flops));
  const double took = team_.run(threads, [&](int) {
    volatile double keep = fma.loop(rounds);
    (void)keep;
  });
  return fma.flops * static_cast<double>(rounds) * threads / took;
}

double MachineLimits::run_memory(Limit limit, int threads, int form, double seconds, double guess) {
  const bool copying = limit == Limit::copy;
  const double per_element = copying ? 16.0 : 8.0;
  const Index size = copying ? array_.size() / 2 : array_.size();  // copies go half to half
  const auto wanted = static_cast<Index>((guess > 0 ? guess : 1e10) * seconds / per_element);
  const Index most = std::max(size / kChunk / threads, Index{1});
  const Index share = std::clamp(wanted / threads / kChunk, Index{1}, most) * kChunk;
  const Index total = std::min(share * threads, size);
  if (place_ + total > size) place_ = 0;
  const double* x = array_.data() + place_;
  double* y = array_.data() + size + place_;
  place_ += total;
  const auto n = static_cast<std::size_t>(total / threads / 512 * 512);
  const double took = team_.run(threads, [&](int rank) {
    const std::size_t at = static_cast<std::size_t>(rank) * n;
    if (copying) {
      loops_.copy[form](y + at, x + at, n);
    } else {
      volatile double keep = loops_.read[form](x + at, n);
      (void)keep;
    }
  });
  return per_element * static_cast<double>(n) * threads / took;
}

double MachineLimits::run_once(Limit limit, int threads, int form, double seconds) {
  double& best = best_[{limit, threads}];
  double rate = 0;
  if (limit < Limit::read)
    rate = run_fma(fma(limit)[form], threads, seconds, best);
  else
    rate = run_memory(limit, threads, form, seconds, best);
  best = std::max(best, rate);
  return rate;
}

double MachineLimits::measure(Limit limit, int threads) {
  return run_once(limit, threads, form_[static_cast<std::size_t>(limit)], options_.seconds);
}

double MachineLimits::best(Limit limit, int threads) const {
  const auto at = best_.find({limit, threads});
  return at == best_.end() ? 0 : at->second;
}

bool MachineLimits::two_threads_scale() const {
  const double one = best(Limit::fma_f32, 1), two = best(Limit::fma_f32, 2);
  return two == 0 || two >= kTwoThreads * one;
}

void MachineLimits::settle(Limit limit, int threads, int times) {
  for (int i = 0; i < times; ++i) measure(limit, threads);
}

}  // namespace wick::bench
