// SPDX-License-Identifier: Apache-2.0
// The order in which floats are added up, in one place: reductions, softmax and norms all follow
// it.
//
// Elements are numbered 0 to n - 1. Blocks of kSumBlock of them are summed by kSumLanes running
// sums (element i goes to sum i mod kSumLanes), which are added up by halves: 0 + L/2, 1 + L/2 + 1,
// ... then L/4 apart, and so on. The sums of the blocks are added in f64, one after the other. The
// number of lanes is that of 64 bytes on every instruction set, so vectors of any width give the
// same bits, and the error of a block does not depend on n. Included once per instruction set.

#if defined(WICK_KERNELS_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_SUM_INL_H_
#undef WICK_KERNELS_SUM_INL_H_
#else
#define WICK_KERNELS_SUM_INL_H_
#endif

#include <algorithm>

#include "wick/kernels/line-inl.h"
#include "wick/kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

inline constexpr std::size_t kSumBlock = 1024;
template <class C>
inline constexpr std::size_t kSumLanes = 64 / sizeof(C);

/// The sum of 64 bytes of lanes by halves.
template <class C>
HWY_INLINE C TreeSum(const C* HWY_RESTRICT lanes) {
  const hn::FixedTag<C, 16 / sizeof(C)> d;
  constexpr std::size_t kN = 16 / sizeof(C);
  const auto even = hn::Add(hn::Load(d, lanes), hn::Load(d, lanes + 2 * kN));
  const auto odd = hn::Add(hn::Load(d, lanes + kN), hn::Load(d, lanes + 3 * kN));
  HWY_ALIGN C r[kN];
  hn::Store(hn::Add(even, odd), d, r);
  if constexpr (kN == 4) return (r[0] + r[2]) + (r[1] + r[3]);
  return r[0] + r[1];
}

struct Identity {
  template <class D, class V>
  HWY_INLINE V operator()(D, V v) const {
    return v;
  }
};
struct Square {
  template <class D, class V>
  HWY_INLINE V operator()(D, V v) const {
    return hn::Mul(v, v);
  }
};

/// The sums of f of kBlocks whole blocks that follow each other. More than one at a time hides the
/// latency of the additions.
template <std::size_t kBlocks, class C, class F>
HWY_INLINE void WholeBlocks(const C* HWY_RESTRICT x, F f, C* HWY_RESTRICT sums) {
  const hn::ScalableTag<C> d;
  constexpr std::size_t kN = hn::MaxLanes(d);
  constexpr std::size_t kParts = kSumLanes<C> / kN;
  hn::Vec<decltype(d)> acc[kBlocks][kParts];
  for (auto& block : acc)
    for (auto& part : block) part = hn::Zero(d);
  for (std::size_t i = 0; i < kSumBlock; i += kSumLanes<C>)
    for (std::size_t b = 0; b < kBlocks; ++b)
      for (std::size_t p = 0; p < kParts; ++p)
        acc[b][p] = hn::Add(acc[b][p], f(d, hn::LoadU(d, x + b * kSumBlock + i + p * kN)));
  HWY_ALIGN C lanes[kSumLanes<C>];
  for (std::size_t b = 0; b < kBlocks; ++b) {
    for (std::size_t p = 0; p < kParts; ++p) hn::Store(acc[b][p], d, lanes + p * kN);
    sums[b] = TreeSum(lanes);
  }
}

/// The sum of f of one block of n <= kSumBlock elements; f of 0 is 0.
template <class C, class F>
HWY_INLINE C BlockSum(const C* HWY_RESTRICT x, std::size_t n, F f) {
  const hn::ScalableTag<C> d;
  constexpr std::size_t kN = hn::MaxLanes(d);
  constexpr std::size_t kParts = kSumLanes<C> / kN;
  if (n == 0) return C{0};
  hn::Vec<decltype(d)> acc[kParts];
  for (auto& part : acc) part = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kSumLanes<C> <= n; i += kSumLanes<C>)
    for (std::size_t p = 0; p < kParts; ++p)
      acc[p] = hn::Add(acc[p], f(d, hn::LoadU(d, x + i + p * kN)));
  HWY_ALIGN C lanes[kSumLanes<C>];
  if (i < n) {
    for (std::size_t j = 0; j < kSumLanes<C>; ++j) lanes[j] = i + j < n ? x[i + j] : C{0};
    for (std::size_t p = 0; p < kParts; ++p)
      acc[p] = hn::Add(acc[p], f(d, hn::Load(d, lanes + p * kN)));
  }
  for (std::size_t p = 0; p < kParts; ++p) hn::Store(acc[p], d, lanes + p * kN);
  return TreeSum(lanes);
}

/// The sum of f of n contiguous elements.
template <class C, class F = Identity>
HWY_INLINE f64 LineSum(const C* HWY_RESTRICT x, std::size_t n, F f = F()) {
  f64 total = 0;
  std::size_t i = 0;
  constexpr std::size_t kMany = 4;
  for (; i + kMany * kSumBlock <= n; i += kMany * kSumBlock) {
    C sums[kMany];
    WholeBlocks<kMany>(x + i, f, sums);
    for (const C s : sums) total += static_cast<f64>(s);
  }
  for (; i < n; i += kSumBlock)
    total += static_cast<f64>(BlockSum(x + i, std::min(kSumBlock, n - i), f));
  return total;
}

/// acc[i] += x[i * stride]. The part of the last vector that is past n gets zeros added, so acc
/// must be that much longer.
template <class T>
HWY_INLINE void AddLine(Compute<T>* HWY_RESTRICT acc, const T* HWY_RESTRICT x, std::size_t n,
                        Index stride = 1) {
  using L = Lanes<T>;
  const typename L::D d;
  const std::size_t lanes = hn::Lanes(d);
  const auto add = [&](std::size_t i, const T* from) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, acc + i), L::Load(d, from)), d, acc + i);
  };
  std::size_t i = 0;
  if (stride == 1)
    for (; i + lanes <= n; i += lanes) add(i, x + i);
  T part[kLinePart];
  for (; i < n; i += kLinePart) {
    const std::size_t count = std::min(kLinePart, n - i);
    const std::size_t whole = (count + lanes - 1) / lanes * lanes;
    Collect(part, x + static_cast<Index>(i) * stride, count, stride);
    std::fill(part + count, part + whole, T{});
    for (std::size_t j = 0; j < whole; j += lanes) add(i + j, part + j);
  }
}

/// The last step of a block whose running sums are rows of `width` columns: adds the first `used`
/// rows up by halves (the others count as zero) and then row 0 to total.
template <class C>
HWY_INLINE void FoldRows(f64* HWY_RESTRICT total, C* HWY_RESTRICT acc, std::size_t width,
                         std::size_t used, std::size_t cols) {
  for (std::size_t half = kSumLanes<C> / 2; half >= 1; half /= 2)
    for (std::size_t j = 0; j < half && j + half < used; ++j)
      AddLine(acc + j * width, static_cast<const C*>(acc + (j + half) * width), cols);
  for (std::size_t c = 0; c < cols; ++c) total[c] += static_cast<f64>(acc[c]);
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
