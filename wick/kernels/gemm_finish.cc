// SPDX-License-Identifier: Apache-2.0
// From sums to results: scaling, bias, activation, residual and rounding, tile by tile.
#include "wick/kernels/gemm.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_finish.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class Acc, class T>
inline constexpr bool kSameBits = sizeof(Acc) == sizeof(T);

/// Elements p[0], p[step], ... as Acc: a whole vector, or `n` of them and anything.
template <class D, class T>
HWY_INLINE hn::Vec<D> LoadWide(D d, const T* p, Index step, Index n) {
  using Acc = hn::TFromD<D>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  if (step == 0) return hn::Set(d, GemmWiden<Acc>(*p));
  if constexpr (kSameBits<Acc, T>) {
    if (HWY_LIKELY(step == 1 && n >= lanes)) return hn::LoadU(d, reinterpret_cast<const Acc*>(p));
  }
  if constexpr (kGemmVectorHalf<T>) {
    if (HWY_LIKELY(step == 1 && n >= lanes)) return GemmWidenLoad(d, p);
  }
  HWY_ALIGN Acc some[hn::MaxLanes(d)] = {};
  if (step == 1) {
    GemmWidenRun(p, std::min(n, lanes), some);
  } else {
    for (Index q = 0; q < std::min(n, lanes); ++q) some[q] = GemmWiden<Acc>(p[q * step]);
  }
  return hn::Load(d, some);
}

/// The other way, rounded to T.
template <class D, class V, class T>
HWY_INLINE void StoreNarrow(D d, V v, T* p, Index step, Index n) {
  using Acc = hn::TFromD<D>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  if constexpr (kSameBits<Acc, T>) {
    if (HWY_LIKELY(step == 1 && n >= lanes)) return hn::StoreU(v, d, reinterpret_cast<Acc*>(p));
  }
  if constexpr (kGemmVectorHalf<T>) {
    if (HWY_LIKELY(step == 1 && n >= lanes)) return GemmNarrowStore(d, v, p);
    HWY_ALIGN T narrow[hn::MaxLanes(d)];
    GemmNarrowStore(d, v, narrow);
    for (Index q = 0; q < std::min(n, lanes); ++q) p[q * step] = narrow[q];
    return;
  }
  HWY_ALIGN Acc some[hn::MaxLanes(d)];
  hn::Store(v, d, some);
  if (step == 1) return GemmNarrowRun(some, std::min(n, lanes), p);
  for (Index q = 0; q < std::min(n, lanes); ++q) GemmNarrowRun(some + q, 1, p + q * step);
}

/// What comes before the activation (`head`) and after it; without the latter, results go back into
/// the tile.
template <class Out, class Acc>
HWY_NOINLINE void Pass(const GemmFinish<Acc>& f, Acc* tile, Index tile_row, Index i, Index j,
                       Index m, Index n, bool head, bool tail) {
  const hn::ScalableTag<Acc> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto alpha = hn::Set(d, f.alpha), beta = hn::Set(d, f.beta), factor = hn::Set(d, f.scale);
  const bool multiply = head && f.alpha != Acc{1}, accumulate = head && f.beta != Acc{0};
  const bool add_bias = head && f.bias != nullptr, add = tail && f.residual != nullptr;
  const bool scale = tail && f.scale != Acc{1};
  for (Index r = 0; r < m; ++r, tile += tile_row) {
    Out* out = static_cast<Out*>(f.out) + (i + r) * f.row + j * f.col;
    const Acc* bias = add_bias ? f.bias + (i + r) * f.bias_row + j * f.bias_col : nullptr;
    const Out* residual =
        add ? static_cast<const Out*>(f.residual) + (i + r) * f.residual_row + j * f.residual_col
            : nullptr;
    for (Index q = 0; q < n; q += lanes) {
      const Index rest = n - q;
      auto v = LoadWide(d, tile + q, 1, rest);
      if (multiply) v = hn::Mul(alpha, v);
      if (accumulate) {
        const auto c = LoadWide(d, out + q * f.col, f.col, rest);
        if constexpr (hwy::IsFloat<Acc>()) {
          v = hn::MulAdd(beta, c, v);
        } else {
          v = hn::Add(v, hn::Mul(beta, c));
        }
      }
      if constexpr (hwy::IsFloat<Acc>()) {
        if (add_bias) v = hn::Add(v, LoadWide(d, bias + q * f.bias_col, f.bias_col, rest));
        if (scale) v = hn::Mul(v, factor);
        if (add) v = hn::Add(v, LoadWide(d, residual + q * f.residual_col, f.residual_col, rest));
      }
      if (tail) {
        StoreNarrow(d, v, out + q * f.col, f.col, rest);
      } else {
        StoreNarrow(d, v, tile + q, 1, rest);
      }
    }
  }
}

/// Sums are rounded and nothing else.
template <class Out, class Acc>
HWY_INLINE void Round(const GemmFinish<Acc>& f, const Acc* tile, Index tile_row, Index i, Index j,
                      Index m, Index n) {
  const hn::ScalableTag<Acc> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Out* out = static_cast<Out*>(f.out) + i * f.row + j * f.col;
  for (Index r = 0; r < m; ++r, tile += tile_row, out += f.row)
    for (Index q = 0; q < n; q += lanes)
      StoreNarrow(d, hn::LoadU(d, tile + q), out + q * f.col, f.col, n - q);
}

/// The same for rows of kVecs whole vectors that lie next to each other everywhere.
template <std::size_t kVecs, class Acc>
HWY_INLINE void PassRows(const GemmFinish<Acc>& f, Acc* HWY_RESTRICT tile, Index tile_row, Index i,
                         Index j, Index m, bool head, bool tail) {
  const hn::ScalableTag<Acc> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto alpha = hn::Set(d, f.alpha), beta = hn::Set(d, f.beta), factor = hn::Set(d, f.scale);
  const bool multiply = head && f.alpha != Acc{1}, accumulate = head && f.beta != Acc{0};
  const bool add_bias = head && f.bias != nullptr, add = tail && f.residual != nullptr;
  const bool scale = tail && f.scale != Acc{1};
  Acc* out = static_cast<Acc*>(f.out) + i * f.row + j;
  const Acc* residual =
      add ? static_cast<const Acc*>(f.residual) + i * f.residual_row + j : nullptr;
  const bool bias_of_rows = f.bias_col == 0;
  const Acc* bias = add_bias ? f.bias + (bias_of_rows ? i * f.bias_row : j) : nullptr;
  auto row_bias = hn::Zero(d);
  for (Index r = 0; r < m; ++r, tile += tile_row, out += f.row) {
    Acc* to = tail ? out : tile;
    if (add_bias && bias_of_rows) row_bias = hn::Set(d, bias[r * f.bias_row]);
    for (std::size_t q = 0; q < kVecs * lanes; q += lanes) {
      auto v = hn::LoadU(d, tile + q);
      if (multiply) v = hn::Mul(alpha, v);
      if (accumulate) v = hn::MulAdd(beta, hn::LoadU(d, out + q), v);
      if (add_bias) v = hn::Add(v, bias_of_rows ? row_bias : hn::LoadU(d, bias + q));
      if (scale) v = hn::Mul(v, factor);
      if (add) v = hn::Add(v, hn::LoadU(d, residual + q));
      hn::StoreU(v, d, to + q);
    }
    if (add) residual += f.residual_row;
  }
}

/// Whichever of the two fits: the second for what is left of the first.
template <class Out, class Acc>
HWY_INLINE void AnyPass(const GemmFinish<Acc>& f, Acc* tile, Index tile_row, Index i, Index j,
                        Index m, Index n, bool head, bool tail) {
  if constexpr (std::same_as<Out, Acc> && hwy::IsFloat<Acc>()) {
    const auto lanes = static_cast<Index>(hn::Lanes(hn::ScalableTag<Acc>()));
    const bool rows =
        f.col == 1 &&
        (f.bias == nullptr || f.bias_col == 0 || (f.bias_col == 1 && f.bias_row == 0)) &&
        (f.residual == nullptr || f.residual_col == 1);
    if (rows) {
      for (; n >= 2 * lanes; tile += 2 * lanes, j += 2 * lanes, n -= 2 * lanes)
        PassRows<2>(f, tile, tile_row, i, j, m, head, tail);
      if (n >= lanes) {
        PassRows<1>(f, tile, tile_row, i, j, m, head, tail);
        tile += lanes, j += lanes, n -= lanes;
      }
      if (n == 0) return;
    }
  }
  Pass<Out>(f, tile, tile_row, i, j, m, n, head, tail);
}

/// GemmFinish::apply.
template <class Out, class Acc>
void Finish(const GemmFinish<Acc>& f, Acc* tile, Index tile_row, Index i, Index j, Index m,
            Index n) {
  if constexpr (kGemmVectorHalf<Out>) {
    // (The tile has whole vectors in every row: reading past n is reading of the same tile.)
    const auto lanes = static_cast<Index>(hn::Lanes(hn::ScalableTag<Acc>()));
    if (f.activate == nullptr && f.bias == nullptr && f.residual == nullptr && f.alpha == Acc{1} &&
        f.beta == Acc{0} && f.scale == Acc{1} && tile_row % lanes == 0)
      return Round<Out>(f, tile, tile_row, i, j, m, n);
  }
  if (!hwy::IsFloat<Acc>() || f.activate == nullptr) {
    AnyPass<Out>(f, tile, tile_row, i, j, m, n, true, true);
    return;
  }
  AnyPass<Out>(f, tile, tile_row, i, j, m, n, true, false);
  // A tile is one run, with what lies between its rows: short runs would wait for each result.
  const Index gap = m > 1 ? tile_row - n : 0;
  if (gap < 4 * static_cast<Index>(hn::Lanes(hn::ScalableTag<Acc>()))) {
    f.activate(tile, tile, Loop2<2>{(m - 1) * tile_row + n, 1, {1, 1}, {0, 0}});
  } else {
    f.activate(tile, tile, Loop2<2>{n, m, {1, 1}, {tile_row, tile_row}});
  }
  AnyPass<Out>(f, tile, tile_row, i, j, m, n, false, true);
}

template <class Out>
GemmFinishFn<GemmAcc<Out>> Get() {
  return &Finish<Out, GemmAcc<Out>>;
}

}  // namespace

#define WICK_FINISH(T) \
  GemmFinishFn<GemmAcc<T>> Finish_##T() { return Get<T>(); }
WICK_FOR_ELEMENTS(WICK_FINISH)
#undef WICK_FINISH

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

#define WICK_FINISH(T)                         \
  HWY_EXPORT(Finish_##T);                      \
  template <>                                  \
  GemmFinishFn<GemmAcc<T>> gemm_finish<T>() {  \
    return HWY_DYNAMIC_DISPATCH(Finish_##T)(); \
  }
WICK_FOR_ELEMENTS(WICK_FINISH)
#undef WICK_FINISH

}  // namespace wick::kernels
#endif
