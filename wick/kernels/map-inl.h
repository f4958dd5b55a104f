// SPDX-License-Identifier: Apache-2.0
// An op on vectors becomes a loop over pieces. Included once per instruction set.

#if defined(WICK_KERNELS_MAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WICK_KERNELS_MAP_INL_H_
#undef WICK_KERNELS_MAP_INL_H_
#else
#define WICK_KERNELS_MAP_INL_H_
#endif

#include <algorithm>

#include "wick/kernels/run.h"
#include "wick/kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {

/// The last, partial vector of a piece is copied to the stack and computed as a whole one by the
/// same code: same bits, and nothing outside the operands is touched. Unused lanes repeat an
/// element. `whole` computes a piece of `lanes` elements.
template <std::size_t N, class Out, class In, class F>
HWY_INLINE void Tail(const Piece<N>& piece, std::size_t done, std::size_t lanes, F&& whole) {
  HWY_ALIGN unsigned char buffer[N][HWY_MAX_BYTES];
  const std::size_t rest = piece.n - done;
  Piece<N> last;
  last.n = lanes;
  last.p[0] = buffer[0];
  last.step[0] = 1;
  for (std::size_t k = 1; k < N; ++k) {
    last.step[k] = 1;
    last.p[k] = buffer[k];
    const In* from = static_cast<const In*>(piece.p[k]) + done * piece.step[k];
    for (std::size_t i = 0; i < lanes; ++i)
      std::memcpy(buffer[k] + i * sizeof(In), from + (i < rest ? i : 0) * piece.step[k],
                  sizeof(In));
  }
  whole(last);
  std::memcpy(static_cast<Out*>(piece.p[0]) + done, buffer[0], rest * sizeof(Out));
}

/// y = f(d, x) or f(d, a, b) on vectors of T; context points to an F.
template <class T, class F, std::size_t N>
void Map(const Piece<N>& piece, const void* context) {
  using L = Lanes<T>;
  const typename L::D d;
  const std::size_t lanes = hn::Lanes(d);
  const F f = *static_cast<const F*>(context);
  T* y = static_cast<T*>(piece.p[0]);
  const T* a = static_cast<const T*>(piece.p[1]);
  const std::size_t sa = piece.step[1];
  std::size_t i = 0;
  if constexpr (N == 2) {
    for (; i + lanes <= piece.n; i += lanes) L::Store(d, f(d, L::Load(d, a + i * sa)), y + i);
  } else {
    const T* b = static_cast<const T*>(piece.p[2]);
    const std::size_t sb = piece.step[2];
    for (; i + lanes <= piece.n; i += lanes)
      L::Store(d, f(d, L::Load(d, a + i * sa), L::Load(d, b + i * sb)), y + i);
  }
  if (i < piece.n)
    Tail<N, T, T>(piece, i, lanes, [context](const Piece<N>& p) { Map<T, F, N>(p, context); });
}

/// Elements of T to f32.
template <SmallFloat T>
HWY_INLINE void Widen(const T* x, float* y, std::size_t n) {
  using L = Lanes<T>;
  const typename L::D d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) hn::StoreU(L::Load(d, x + i), d, y + i);
}

/// The same for a small float T by way of f32: widen, Map<f32>, round. Shares the code of f32,
/// which matters for ops of many instructions.
template <SmallFloat T, std::size_t N>
HWY_NOINLINE void ThroughF32(const Piece<N>& piece, PieceFn<N> f, const void* context) {
  using L = Lanes<T>;
  const typename L::D d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t kSize = 256;
  HWY_ALIGN float buffer[N][kSize];
  T* y = static_cast<T*>(piece.p[0]);
  Piece<N> inner;
  for (std::size_t k = 0; k < N; ++k) {
    inner.p[k] = buffer[k];
    inner.step[k] = piece.step[k];
    if (piece.step[k] == 0) Widen(static_cast<const T*>(piece.p[k]), buffer[k], kRepeat);
  }
  std::size_t i = 0;
  while (i + lanes <= piece.n) {
    inner.n = std::min(kSize, (piece.n - i) / lanes * lanes);
    for (std::size_t k = 1; k < N; ++k)
      if (piece.step[k] != 0) Widen(static_cast<const T*>(piece.p[k]) + i, buffer[k], inner.n);
    f(inner, context);
    for (std::size_t j = 0; j < inner.n; j += lanes)
      L::Store(d, hn::LoadU(d, buffer[0] + j), y + i + j);
    i += inner.n;
  }
  if (i < piece.n)
    Tail<N, T, T>(piece, i, lanes, [&](const Piece<N>& p) { ThroughF32<T, N>(p, f, context); });
}

/// The whole loop of an op F over T. F::kLight: so few instructions that small floats are worth
/// code of their own.
template <class T, class F, std::size_t N>
PieceFn<N> PieceOf() {
  if constexpr (SmallFloat<T>) {
    if constexpr (!F::kLight) {
      return [](const Piece<N>& piece, const void* context) {
        ThroughF32<T, N>(piece, &Map<float, F, N>, context);
      };
    }
  }
  return &Map<T, F, N>;
}

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif
