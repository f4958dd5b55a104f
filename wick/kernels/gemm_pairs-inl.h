// SPDX-License-Identifier: Apache-2.0
// Packing bf16 in pairs: the two elements of steps 2q and 2q + 1 of k share a place of 32 bits, the
// first in the low half. An odd k is filled up with zeros on both sides.

#if defined(WICK_KERNELS_GEMM_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_GEMM_PAIRS_INL_H_
#undef WICK_KERNELS_GEMM_PAIRS_INL_H_
#else
#define WICK_KERNELS_GEMM_PAIRS_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "hwy/highway.h"
#include "wick/kernels/gemm.h"
#include "wick/kernels/gemm_transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// out[i] = pair of low[i], high[i] for n elements next to each other; no high: zeros.
HWY_INLINE void GemmPairRow(const std::uint16_t* HWY_RESTRICT low,
                            const std::uint16_t* HWY_RESTRICT high, Index n,
                            std::uint32_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Rebind<std::uint16_t, decltype(d)> half;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto join = [&](auto first, auto second) HWY_ATTR {
    return hn::Or(hn::PromoteTo(d, first), hn::ShiftLeft<16>(hn::PromoteTo(d, second)));
  };
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto second = high == nullptr ? hn::Zero(half) : hn::LoadU(half, high + i);
    hn::StoreU(join(hn::LoadU(half, low + i), second), d, out + i);
  }
  for (; i < n; ++i)
    out[i] = low[i] | (high == nullptr ? 0U : static_cast<std::uint32_t>(high[i]) << 16U);
}

/// Lanes of which each has its elements next to each other: squares of pairs change places.
HWY_INLINE void GemmPairColumns(const std::uint16_t* HWY_RESTRICT src, Index lane, Index lanes,
                                Index width, Index k, std::uint32_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::uint32_t> d;
  constexpr auto kSide = static_cast<Index>(hn::MaxLanes(d));
  constexpr Index kAhead = 256;  // elements
  const Index last = (lanes - 1) / kSide * kSide;
  Index q = 0;
  for (; 2 * (q + kSide) <= k; q += kSide)
    // The last square first: what it writes past its rows is the start of the next ones.
    for (Index i = last; i >= 0; i -= kSide) {
      // Rows that begin in other pages: each is a stream of its own, more than the CPU follows.
      for (Index r = i; r < std::min(i + kSide, lanes); ++r)
        __builtin_prefetch(src + 2 * q + r * lane + kAhead, 0, 2);
      TransposeSquare(d, src + 2 * q + i * lane, lane, std::min(kSide, lanes - i), width,
                      out + q * width + i);
    }
  const Index rest = k - 2 * q;
  if (rest == 0) return;
  HWY_ALIGN std::uint16_t rows[kSide * kSide * 2];
  HWY_ALIGN std::uint32_t square[kSide * kSide];
  for (Index i = 0; i < lanes; i += kSide) {
    const Index some = std::min(kSide, lanes - i);
    std::fill_n(rows, 2 * kSide * kSide, std::uint16_t{0});
    for (Index r = 0; r < some; ++r)
      std::memcpy(rows + r * 2 * kSide, src + (i + r) * lane + 2 * q,
                  static_cast<std::size_t>(rest) * sizeof(std::uint16_t));
    TransposeSquare(d, rows, 2 * kSide, some, kSide, square);
    for (Index s = 0; s < ceil_div(rest, Index{2}); ++s)
      for (Index r = 0; r < some; ++r) out[(q + s) * width + i + r] = square[s * kSide + r];
  }
}

/// Gemm<bf16>::pack. Rows of the panel from ceil(k / 2) on are not written.
HWY_INLINE void GemmPackPairs(const bf16* src, Index lane, Index step, Index lanes, Index width,
                              Index k, f32* to) {
  const auto* from = reinterpret_cast<const std::uint16_t*>(src);
  auto* out = reinterpret_cast<std::uint32_t*>(to);
  if (lane != 1 && step == 1) return GemmPairColumns(from, lane, lanes, width, k, out);
  for (Index p = 0; p < k; p += 2, out += width) {
    const std::uint16_t* low = from + p * step;
    const std::uint16_t* high = p + 1 < k ? low + step : nullptr;
    if (lane == 1) {
      GemmPairRow(low, high, lanes, out);
    } else {
      for (Index i = 0; i < lanes; ++i)
        out[i] = low[i * lane] |
                 (high == nullptr ? 0U : static_cast<std::uint32_t>(high[i * lane]) << 16U);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
