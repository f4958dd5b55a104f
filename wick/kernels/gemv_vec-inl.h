// SPDX-License-Identifier: Apache-2.0
// What the matrix-vector kernels share.

#if defined(WICK_KERNELS_GEMV_VEC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_GEMV_VEC_INL_H_
#undef WICK_KERNELS_GEMV_VEC_INL_H_
#else
#define WICK_KERNELS_GEMV_VEC_INL_H_
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/highway.h"
#include "wick/kernels/gemm_pack-inl.h"
#include "wick/kernels/gemv.h"
#include "wick/kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Arrays of vectors stay in registers only with constant indices: index sequences, as in the block
// kernel.

constexpr bool kGemvManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON;
constexpr Index kGemvLine = 64;
/// Lines are asked for so many bytes before they are read: of some rows of B together; of each of
/// 32 columns, or of 16.
constexpr Index kGemvAhead = 8192, kGemvAhead32 = 2048, kGemvAhead16 = 8192;
/// Lines of a column that are copied at once.
constexpr Index kGemvPiece = 4;

template <std::size_t kN>
constexpr std::make_index_sequence<kN> kGemvSeq{};

template <class V>
HWY_INLINE V GemvFma(V a, V b, V c) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
    return hn::MulAdd(a, b, c);
  } else {
    return hn::Add(c, hn::Mul(a, b));
  }
}

/// sum (+)= chunk for n elements.
template <class T>
HWY_INLINE void GemvFlush(const T* HWY_RESTRICT chunk, Index n, bool add, T* HWY_RESTRICT sum) {
  for (Index j = 0; j < n; ++j) sum[j] = add ? sum[j] + chunk[j] : chunk[j];
}

/// Where the sums of chunk c belong, and whether they are added to what is there.
template <class T>
HWY_INLINE auto* GemvSums(const GemvBlock<T>& g, Index c) {
  return g.sum + c * g.sum_chunk;
}
template <class T>
HWY_INLINE bool GemvAdds(const GemvBlock<T>& g, Index c) {
  return g.sum_chunk == 0 && (g.add || c > 0);
}

/// Asks for a line, into L2: rows a power of two apart share few sets of L1, and lines that come
/// early would push each other out. The address may lie anywhere.
HWY_INLINE void GemvAskLine(std::uintptr_t at) {
  __builtin_prefetch(reinterpret_cast<const char*>(at), 0, 2);
}
/// Asks for the lines of `bytes` bytes.
HWY_INLINE void GemvAsk(std::uintptr_t at, Index bytes) {
  for (Index i = 0; i < bytes; i += kGemvLine) GemvAskLine(at + static_cast<std::uintptr_t>(i));
}
template <class T>
HWY_INLINE std::uintptr_t GemvAddress(const T* base, Index offset) {
  return reinterpret_cast<std::uintptr_t>(base) +
         static_cast<std::uintptr_t>(offset * static_cast<Index>(sizeof(T)));
}

#if HWY_TARGET == HWY_EMU128
// A lane at a time, with branches: compilers take minutes where that is unrolled.
template <class T>
HWY_NOINLINE typename Lanes<T>::V GemvLoadLanes(typename Lanes<T>::D d, const T* HWY_RESTRICT p) {
#else
template <class T>
HWY_INLINE typename Lanes<T>::V GemvLoadLanes(typename Lanes<T>::D d, const T* HWY_RESTRICT p) {
#endif
  return Lanes<T>::Load(d, p);
}

/// to[i] = from[i] as what products are added in.
template <class Acc, class T>
HWY_NOINLINE void GemvWiden(const T* HWY_RESTRICT from, Index n, Acc* HWY_RESTRICT to) {
  Index i = 0;
  if constexpr (Float<T>) {
    const typename Lanes<T>::D d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    for (; i + lanes <= n; i += lanes) hn::StoreU(GemvLoadLanes(d, from + i), d, to + i);
  }
  for (; i < n; ++i) to[i] = GemmWiden<Acc>(from[i]);
}

template <class D, class T, class V, std::size_t... kV>
HWY_INLINE void GemvLoad(D d, const T* HWY_RESTRICT p, V* v, std::index_sequence<kV...>) {
  ((v[kV] = hn::LoadU(d, p + static_cast<Index>(kV * hn::MaxLanes(d)))), ...);
}
template <class D, class T, class V, std::size_t... kV>
HWY_INLINE void GemvStore(D d, const V* v, T* HWY_RESTRICT p, std::index_sequence<kV...>) {
  (hn::StoreU(v[kV], d, p + static_cast<Index>(kV * hn::MaxLanes(d))), ...);
}
template <class D, class V, std::size_t... kI>
HWY_INLINE void GemvZero(D d, V* v, std::index_sequence<kI...>) {
  ((v[kI] = hn::Zero(d)), ...);
}
template <class V, std::size_t... kV>
HWY_INLINE void GemvRow(V a, const V* v, V* c, std::index_sequence<kV...>) {
  ((c[kV] = GemvFma(a, v[kV], c[kV])), ...);
}
/// c[r] += a[r] * v for every row of A.
template <std::size_t kV, class D, class T, class V, std::size_t... kR>
HWY_INLINE void GemvRowsStep(D d, const T* HWY_RESTRICT a, Index row, const V* v, V* c,
                             std::index_sequence<kR...>) {
  (GemvRow(hn::Set(d, a[static_cast<Index>(kR) * row]), v, c + kR * kV, kGemvSeq<kV>), ...);
}
template <std::size_t kV, class D, class T, class V, std::size_t... kR>
HWY_INLINE void GemvLoadRows(D d, const T* p, Index row, V* c, std::index_sequence<kR...>) {
  (GemvLoad(d, p + static_cast<Index>(kR) * row, c + kR * kV, kGemvSeq<kV>), ...);
}
template <std::size_t kV, class D, class T, class V, std::size_t... kR>
HWY_INLINE void GemvStoreRows(D d, const V* c, T* p, Index row, std::index_sequence<kR...>) {
  (GemvStore(d, c + kR * kV, p + static_cast<Index>(kR) * row, kGemvSeq<kV>), ...);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
