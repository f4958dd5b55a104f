// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/gemv.h"

#include <algorithm>
#include <utility>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemv.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

/// sum (+)= chunk for n elements.
template <class T>
HWY_INLINE void Flush(const T* HWY_RESTRICT chunk, Index n, bool add, T* HWY_RESTRICT sum) {
  for (Index j = 0; j < n; ++j) sum[j] = add ? sum[j] + chunk[j] : chunk[j];
}

/// chunk[j] = fma(a[0], b[0][j], chunk[j]), then a[1] and so on: kSteps rows of B at once, so that
/// a partial sum is loaded and stored once for all of them.
template <std::size_t kSteps, class D, class T, class V, std::size_t... kP>
HWY_INLINE V AddRows(D d, const V* a, const T* HWY_RESTRICT b, Index step, V sum,
                     std::index_sequence<kP...>) {
  ((sum = hn::MulAdd(a[kP], hn::LoadU(d, b + static_cast<Index>(kP) * step), sum)), ...);
  return sum;
}

template <std::size_t kSteps, class D, class T, class V, std::size_t... kP>
HWY_INLINE void Broadcast(D d, const T* a, Index col, V* out, std::index_sequence<kP...>) {
  ((out[kP] = hn::Set(d, a[static_cast<Index>(kP) * col])), ...);
}

template <std::size_t kSteps, class T>
HWY_INLINE void AddRowsRun(const T* a, Index col, const T* HWY_RESTRICT b, Index step, Index n,
                           bool first, T* HWY_RESTRICT chunk) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  constexpr std::make_index_sequence<kSteps> steps{};
  hn::Vec<decltype(d)> x[kSteps];
  Broadcast<kSteps>(d, a, col, x, steps);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index j = 0;
  for (; j + lanes <= n; j += lanes) {
    const auto sum = first ? hn::Zero(d) : hn::LoadU(d, chunk + j);
    hn::StoreU(AddRows<kSteps>(d, x, b + j, step, sum, steps), d, chunk + j);
  }
  hn::Vec<decltype(one)> y[kSteps];
  Broadcast<kSteps>(one, a, col, y, steps);
  for (; j < n; ++j) {
    const auto sum = first ? hn::Zero(one) : hn::LoadU(one, chunk + j);
    hn::StoreU(AddRows<kSteps>(one, y, b + j, step, sum, steps), one, chunk + j);
  }
}

/// Long runs of rows of B, eight rows at a time; the partial sums of a run stay in L1.
template <class T>
void Rows(const GemvBlock<T>& g) {
  constexpr std::size_t kSteps = 8;
  constexpr Index kRun = Index{8192} / Index{sizeof(T)};
  HWY_ALIGN T chunk[std::size_t{kGemvRows * kRun}];
  for (Index j = 0; j < g.n; j += kRun) {
    const Index n = std::min(kRun, g.n - j);
    const T* b = g.b + j;
    for (Index p = 0; p < g.k;) {
      const bool wide = p + Index{kSteps} <= g.k;
      for (Index r = 0; r < g.m; ++r) {
        const T* a = g.a + r * g.a_row + p * g.a_col;
        if (wide) {
          AddRowsRun<kSteps>(a, g.a_col, b, g.b_step, n, p == 0, chunk + r * kRun);
        } else {
          AddRowsRun<1>(a, g.a_col, b, g.b_step, n, p == 0, chunk + r * kRun);
        }
      }
      const Index steps = wide ? Index{kSteps} : 1;
      p += steps;
      b += steps * g.b_step;
    }
    for (Index r = 0; r < g.m; ++r) Flush(chunk + r * kRun, n, g.add, g.sum + r * g.sum_row + j);
  }
}

template <std::size_t kM, class D, class T, class V, std::size_t... kR>
HWY_INLINE void AddColumn(D d, const T* a, Index row, V column, V* sums,
                          std::index_sequence<kR...>) {
  ((sums[kR] = hn::MulAdd(hn::Set(d, a[static_cast<Index>(kR) * row]), column, sums[kR])), ...);
}

template <std::size_t kM, class D, class T, class V, std::size_t... kP>
HWY_INLINE void AddColumns(D d, const T* a, Index row, Index col, const V* columns, V* sums,
                           std::index_sequence<kP...>) {
  (AddColumn<kM>(d, a + static_cast<Index>(kP) * col, row, columns[kP], sums,
                 std::make_index_sequence<kM>()),
   ...);
}

template <class D, class V, std::size_t... kR>
HWY_INLINE void ZeroSums(D d, V* sums, std::index_sequence<kR...>) {
  ((sums[kR] = hn::Zero(d)), ...);
}

template <class D, class T, class V, std::size_t... kR>
HWY_INLINE void StoreSums(D d, const V* sums, T* out, std::index_sequence<kR...>) {
  (hn::Store(sums[kR], d, out + kR * hn::MaxLanes(d)), ...);
}

/// As many columns of B as a vector has lanes, transposed in registers square by square.
template <std::size_t kM, class T>
void ColumnsOf(const GemvBlock<T>& g) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d), kSide = 16 / sizeof(T);
  constexpr std::size_t kBlocks = kLanes / kSide;
  constexpr std::make_index_sequence<kLanes> each{};
  constexpr std::make_index_sequence<kM> rows{};
  using V = hn::Vec<decltype(d)>;
  for (Index j = 0; j < g.n; j += Index{kLanes}) {
    const Index n = std::min(Index{kLanes}, g.n - j);
    const T* b = g.b + j * g.b_step;
    V sums[kM];
    ZeroSums(d, sums, rows);
    Index p = 0;
    for (; p + Index{kLanes} <= g.k; p += Index{kLanes}) {
      V groups[kLanes], columns[kLanes];
      TransposeGroups(d, b + p, g.b_step, n - 1, groups, std::make_index_sequence<kBlocks>());
      TransposeAllBlocks<kBlocks>(d, groups, columns, std::make_index_sequence<kSide>());
      AddColumns<kM>(d, g.a + p * g.a_col, g.a_row, g.a_col, columns, sums, each);
    }
    HWY_ALIGN T column[kLanes] = {};
    for (; p < g.k; ++p) {
      for (Index i = 0; i < n; ++i) column[i] = b[i * g.b_step + p];
      AddColumn<kM>(d, g.a + p * g.a_col, g.a_row, hn::Load(d, column), sums, rows);
    }
    HWY_ALIGN T chunk[kM * kLanes];
    StoreSums(d, sums, chunk, rows);
    for (std::size_t r = 0; r < kM; ++r)
      Flush(chunk + r * kLanes, n, g.add, g.sum + static_cast<Index>(r) * g.sum_row + j);
  }
}

template <class T>
void Columns(const GemvBlock<T>& g) {
  switch (g.m) {
    case 1: return ColumnsOf<1>(g);
    case 2: return ColumnsOf<2>(g);
    case 3: return ColumnsOf<3>(g);
    default: return ColumnsOf<4>(g);
  }
}

}  // namespace

Gemv<f32> GemvF32() { return {&Rows<f32>, &Columns<f32>}; }
Gemv<f64> GemvF64() { return {&Rows<f64>, &Columns<f64>}; }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(GemvF32);
HWY_EXPORT(GemvF64);

template <>
Gemv<f32> gemv() {
  return HWY_DYNAMIC_DISPATCH(GemvF32)();
}
template <>
Gemv<f64> gemv() {
  return HWY_DYNAMIC_DISPATCH(GemvF64)();
}

}  // namespace wick::kernels
#endif
