// SPDX-License-Identifier: Apache-2.0
// Transposing squares in registers, for packing along the other axis.

#if defined(WICK_KERNELS_GEMM_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_GEMM_TRANSPOSE_INL_H_
#undef WICK_KERNELS_GEMM_TRANSPOSE_INL_H_
#else
#define WICK_KERNELS_GEMM_TRANSPOSE_INL_H_
#endif

#include <algorithm>
#include <utility>

#include "hwy/highway.h"
#include "wick/core/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A square has as many rows as a vector has lanes. Rows are taken in groups of as many as a 128-bit
// block has lanes; inside the blocks a group is transposed by interleaving, then the blocks of the
// groups change places.

/// Inside each 128-bit block: four rows (64 bits: two) of four (two) elements change places with
/// their columns.
template <class D, class V>
HWY_INLINE void TransposeInBlocks(D d, const V* rows, V* out) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    out[0] = hn::InterleaveLower(d, rows[0], rows[1]);
    out[1] = hn::InterleaveUpper(d, rows[0], rows[1]);
  } else {
    const hn::Repartition<std::uint64_t, D> wide;
    const auto lower01 = hn::BitCast(wide, hn::InterleaveLower(d, rows[0], rows[1]));
    const auto lower23 = hn::BitCast(wide, hn::InterleaveLower(d, rows[2], rows[3]));
    const auto upper01 = hn::BitCast(wide, hn::InterleaveUpper(d, rows[0], rows[1]));
    const auto upper23 = hn::BitCast(wide, hn::InterleaveUpper(d, rows[2], rows[3]));
    out[0] = hn::BitCast(d, hn::InterleaveLower(wide, lower01, lower23));
    out[1] = hn::BitCast(d, hn::InterleaveUpper(wide, lower01, lower23));
    out[2] = hn::BitCast(d, hn::InterleaveLower(wide, upper01, upper23));
    out[3] = hn::BitCast(d, hn::InterleaveUpper(wide, upper01, upper23));
  }
}

/// Rows 4g .. 4g + 3 (64 bits: 2g, 2g + 1): out[q] holds, in block b, their column 4b + q (2b + q).
template <class D, class S, class V>
HWY_INLINE void TransposeGroup(D d, const S* HWY_RESTRICT src, Index lane, Index first, Index most,
                               V* out) {
  using T = hn::TFromD<D>;
  const auto row = [&](Index r) HWY_ATTR {
    return hn::LoadU(d, reinterpret_cast<const T*>(src + std::min(first + r, most) * lane));
  };
  if constexpr (sizeof(T) == 8) {
    const V rows[] = {row(0), row(1)};
    TransposeInBlocks(d, rows, out);
  } else {
    const V rows[] = {row(0), row(1), row(2), row(3)};
    TransposeInBlocks(d, rows, out);
  }
}

/// out[b * step] = block b of each of in[0], in[step], ...
template <std::size_t kBlocks, std::size_t kStep, class D, class V>
HWY_INLINE void TransposeBlocks(D d, const V* in, V* out) {
  if constexpr (kBlocks == 1) {
    out[0] = in[0];
  } else if constexpr (kBlocks == 2) {
    out[0] = hn::ConcatLowerLower(d, in[kStep], in[0]);
    out[kStep] = hn::ConcatUpperUpper(d, in[kStep], in[0]);
  } else {
    static_assert(kBlocks == 4);
    const V even0 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(in[kStep]), in[0]);
    const V even1 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(in[3 * kStep]), in[2 * kStep]);
    const V odd0 = hn::OddEvenBlocks(in[kStep], hn::SwapAdjacentBlocks(in[0]));
    const V odd1 = hn::OddEvenBlocks(in[3 * kStep], hn::SwapAdjacentBlocks(in[2 * kStep]));
    out[0] = hn::ConcatLowerLower(d, even1, even0);
    out[kStep] = hn::ConcatLowerLower(d, odd1, odd0);
    out[2 * kStep] = hn::ConcatUpperUpper(d, even1, even0);
    out[3 * kStep] = hn::ConcatUpperUpper(d, odd1, odd0);
  }
}

template <class D, class S, class V, std::size_t... kG>
HWY_INLINE void TransposeGroups(D d, const S* src, Index lane, Index most, V* out,
                                std::index_sequence<kG...>) {
  constexpr std::size_t kSide = 16 / sizeof(hn::TFromD<D>);
  (TransposeGroup(d, src, lane, Index{kG * kSide}, most, out + kG * kSide), ...);
}

template <std::size_t kBlocks, class D, class V, std::size_t... kQ>
HWY_INLINE void TransposeAllBlocks(D d, const V* in, V* out, std::index_sequence<kQ...>) {
  (TransposeBlocks<kBlocks, sizeof...(kQ)>(d, in + kQ, out + kQ), ...);
}

template <class D, class T, class V, std::size_t... kR>
HWY_INLINE void TransposeStore(D d, const V* rows, Index width, T* HWY_RESTRICT out,
                               std::index_sequence<kR...>) {
  (hn::StoreU(rows[kR], d, out + static_cast<Index>(kR) * width), ...);
}

/// out[p * width + i] = src[i * lane + p] for p and i below the number of lanes, rows of out in
/// order. From the `rows`-th on, src is not read and out[.. + i] gets anything. Elements of src may
/// be smaller than those that change places: then each of these is several of src, and `lane`
/// counts elements of src.
template <class D, class S, class T>
HWY_INLINE void TransposeSquare(D d, const S* HWY_RESTRICT src, Index lane, Index rows, Index width,
                                T* HWY_RESTRICT out) {
  constexpr std::size_t kLanes = hn::MaxLanes(d), kSide = 16 / sizeof(T);
  constexpr std::size_t kBlocks = kLanes / kSide;
  using V = hn::Vec<D>;
  V groups[kLanes], columns[kLanes];
  TransposeGroups(d, src, lane, rows - 1, groups, std::make_index_sequence<kBlocks>());
  TransposeAllBlocks<kBlocks>(d, groups, columns, std::make_index_sequence<kSide>());
  TransposeStore(d, columns, width, out, std::make_index_sequence<kLanes>());
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
