// SPDX-License-Identifier: Apache-2.0
#include "bench/limit_loops.h"

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/limit_loops.cc"
#include "hwy/foreach_target.h"
// The order matters: these last.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace wick::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kAccumulators = 12;

/// Twelve sums that do not wait for each other: two multiply-adds a cycle of latency 4 or 5 need
/// ten, and AVX2's sixteen registers have no room for more. Named locals, so that they stay in
/// registers.
template <class D>
double FmaRounds(D d, std::int64_t rounds) {
  using T = hn::TFromD<D>;
  const auto a = hn::Set(d, static_cast<T>(0.5));
  const auto b = hn::Set(d, static_cast<T>(1));
  auto s0 = hn::Iota(d, T{0}), s1 = hn::Iota(d, T{1}), s2 = hn::Iota(d, T{2});
  auto s3 = hn::Iota(d, T{3}), s4 = hn::Iota(d, T{4}), s5 = hn::Iota(d, T{5});
  auto s6 = hn::Iota(d, T{6}), s7 = hn::Iota(d, T{7}), s8 = hn::Iota(d, T{8});
  auto s9 = hn::Iota(d, T{9}), s10 = hn::Iota(d, T{10}), s11 = hn::Iota(d, T{11});
  for (std::int64_t i = 0; i < rounds; ++i) {
    s0 = hn::MulAdd(s0, a, b);  // towards 2: no overflow, no subnormals
    s1 = hn::MulAdd(s1, a, b);
    s2 = hn::MulAdd(s2, a, b);
    s3 = hn::MulAdd(s3, a, b);
    s4 = hn::MulAdd(s4, a, b);
    s5 = hn::MulAdd(s5, a, b);
    s6 = hn::MulAdd(s6, a, b);
    s7 = hn::MulAdd(s7, a, b);
    s8 = hn::MulAdd(s8, a, b);
    s9 = hn::MulAdd(s9, a, b);
    s10 = hn::MulAdd(s10, a, b);
    s11 = hn::MulAdd(s11, a, b);
  }
  s0 = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), s6));
  s7 = hn::Add(hn::Add(hn::Add(s7, s8), hn::Add(s9, s10)), s11);
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s7))));
}

template <class T>
double FmaFull(std::int64_t rounds) {
  return FmaRounds(hn::ScalableTag<T>(), rounds);
}
template <class T>
double FmaHalf(std::int64_t rounds) {
  return FmaRounds(hn::CappedTag<T, 32 / sizeof(T)>(), rounds);
}
template <class D>
double Flops(D d) {
  return 2.0 * kAccumulators * static_cast<double>(hn::Lanes(d));
}

/// Four streams of sums; with kAhead, lines that many bytes ahead are asked for.
template <std::size_t kAhead>
double Read(const double* HWY_RESTRICT x, std::size_t n) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
  for (std::size_t i = 0; i + 4 * lanes <= n; i += 4 * lanes) {
    if constexpr (kAhead != 0) {
      for (std::size_t line = 0; line < 4 * lanes; line += 8)
        hwy::Prefetch(x + i + line + kAhead / sizeof(double));
    }
    s0 = hn::Add(s0, hn::Load(d, x + i));
    s1 = hn::Add(s1, hn::Load(d, x + i + lanes));
    s2 = hn::Add(s2, hn::Load(d, x + i + 2 * lanes));
    s3 = hn::Add(s3, hn::Load(d, x + i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

/// Eight streams, each in a part of its own: what prefetches by pages is then busy on all of them.
double ReadApart(const double* HWY_RESTRICT x, std::size_t n) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d), part = n / 8;
  auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
  for (std::size_t i = 0; i + lanes <= part; i += lanes) {
    const double* HWY_RESTRICT p = x + i;
    s0 = hn::Add(s0, hn::Load(d, p));
    s1 = hn::Add(s1, hn::Load(d, p + part));
    s2 = hn::Add(s2, hn::Load(d, p + 2 * part));
    s3 = hn::Add(s3, hn::Load(d, p + 3 * part));
    s0 = hn::Add(s0, hn::Load(d, p + 4 * part));
    s1 = hn::Add(s1, hn::Load(d, p + 5 * part));
    s2 = hn::Add(s2, hn::Load(d, p + 6 * part));
    s3 = hn::Add(s3, hn::Load(d, p + 7 * part));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

template <bool kPastCaches>
void Copy(double* HWY_RESTRICT y, const double* HWY_RESTRICT x, std::size_t n) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto a = hn::Load(d, x + i), b = hn::Load(d, x + i + lanes);
    if constexpr (kPastCaches) {
      hwy::Prefetch(x + i + 256);
      hn::Stream(a, d, y + i);
      hn::Stream(b, d, y + i + lanes);
    } else {
      hn::Store(a, d, y + i);
      hn::Store(b, d, y + i + lanes);
    }
  }
  if constexpr (kPastCaches) hwy::FlushStream();
}

LimitLoops Table() {
  LimitLoops loops{};
  loops.f32[0] = {FmaFull<float>, Flops(hn::ScalableTag<float>())};
  loops.f32[1] = {FmaHalf<float>, Flops(hn::CappedTag<float, 8>())};
#if HWY_HAVE_FLOAT64
  loops.f64[0] = {FmaFull<double>, Flops(hn::ScalableTag<double>())};
  loops.f64[1] = {FmaHalf<double>, Flops(hn::CappedTag<double, 4>())};
#endif
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  native_bf16_loops(loops.bf16);
#endif
  loops.read[0] = Read<0>;
  loops.read[1] = Read<2048>;
  loops.read[2] = ReadApart;
  loops.copy[0] = Copy<false>;
  loops.copy[1] = Copy<true>;
  return loops;
}

}  // namespace wick::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::bench {

HWY_EXPORT(Table);
LimitLoops limit_loops() { return HWY_DYNAMIC_DISPATCH(Table)(); }

}  // namespace wick::bench
#endif
