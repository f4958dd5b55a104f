// SPDX-License-Identifier: Apache-2.0
// Few rows times a packed matrix: every element is used a few times only, so what counts is that
// memory never waits. Elements are widened on their way into registers, and the next panel is asked
// for while this one is multiplied.
#include "wick/kernels/gemm_panels.h"

#include <array>
#include <utility>

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_panels.cc"
#include "hwy/foreach_target.h"

#include "wick/kernels/gemm_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

// Two vectors a row in registers.
inline constexpr std::size_t kPanelRows = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON ? 8 : 4;

/// A vector of elements next to each other, widened.
template <class D, class T>
HWY_INLINE hn::Vec<D> LoadPanel(D d, const T* HWY_RESTRICT p) {
  using Acc = hn::TFromD<D>;
  if constexpr (std::same_as<T, Acc>) {
    return hn::LoadU(d, p);
  } else if constexpr (kGemmVectorHalf<T>) {
    using Lane = std::conditional_t<std::same_as<T, f16>, hwy::float16_t, hwy::bfloat16_t>;
    const hn::Rebind<Lane, D> half;
    return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const Lane*>(p)));
  } else if constexpr (std::same_as<T, f8e4m3>) {
    // The bits in the place of an f32's make a number 2^120 too small, subnormals too.
    const hn::Rebind<std::uint8_t, D> bytes;
    const hn::Rebind<std::int32_t, D> ints;
    const auto bits = hn::PromoteTo(ints, hn::LoadU(bytes, reinterpret_cast<const u8*>(p)));
    const auto magnitude = hn::And(bits, hn::Set(ints, 0x7F));
    const auto sign = hn::ShiftLeft<24>(hn::And(bits, hn::Set(ints, 0x80)));
    const auto small = hn::BitCast(d, hn::ShiftLeft<20>(magnitude));
    const auto value = hn::Mul(small, hn::Set(d, 0x1p120F));
    const auto nan = hn::BitCast(d, hn::Set(ints, 0x7FC00000));
    const auto is_nan = hn::RebindMask(d, hn::Eq(magnitude, hn::Set(ints, 0x7F)));
    return hn::Or(hn::IfThenElse(is_nan, nan, value), hn::BitCast(d, sign));
  } else {
    HWY_ALIGN Acc wide[hn::MaxLanes(d)];
    GemmWidenRun(p, static_cast<Index>(hn::Lanes(d)), wide);
    return hn::Load(d, wide);
  }
}

template <class D, class V, class Acc, std::size_t... kR>
HWY_INLINE void AddStep(D d, const Acc* HWY_RESTRICT a, V b0, V b1, V* c,
                        std::index_sequence<kR...>) {
  ((c[2 * kR] = hn::MulAdd(hn::Set(d, a[kR]), b0, c[2 * kR]),
    c[2 * kR + 1] = hn::MulAdd(hn::Set(d, a[kR]), b1, c[2 * kR + 1])),
   ...);
}

template <class D, class V, std::size_t... kI>
HWY_INLINE void Clear(D d, V* c, std::index_sequence<kI...>) {
  ((c[kI] = hn::Zero(d)), ...);
}

template <class D, class V, class Acc, std::size_t... kI>
HWY_INLINE void StoreTile(D d, const V* c, bool add, Acc* HWY_RESTRICT tile,
                          std::index_sequence<kI...>) {
  const std::size_t lanes = hn::Lanes(d);
  if (add) {
    (hn::StoreU(hn::Add(hn::LoadU(d, tile + kI * lanes), c[kI]), d, tile + kI * lanes), ...);
  } else {
    (hn::StoreU(c[kI], d, tile + kI * lanes), ...);
  }
}

template <class T, std::size_t kRows>
HWY_NOINLINE void Rows(const GemmPanel<T>& g) {
  using Acc = GemmAcc<T>;
  const hn::ScalableTag<Acc> d;
  constexpr std::make_index_sequence<kRows> rows{};
  constexpr std::make_index_sequence<2 * kRows> all{};
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  hn::Vec<decltype(d)> c[2 * kRows];
  Clear(d, c, all);
  const Acc* a = g.a;
  const T* b = g.b;
  const Index ask = g.ahead_lines;
  // An address only: it may lie past the last panel.
  auto ahead = reinterpret_cast<std::uintptr_t>(g.ahead);
  const auto line = [](std::uintptr_t at) {
    __builtin_prefetch(reinterpret_cast<const void*>(at), 0, 2);
  };
  Index p = g.k;
  for (; p >= 2; p -= 2) {
    if (ask > 0) {
      line(ahead);
      if (ask > 1) line(ahead + 64);
      if (ask > 2) line(ahead + 128), line(ahead + 192);
      ahead += static_cast<std::uintptr_t>(ask) * 64;
    }
    AddStep(d, a, LoadPanel(d, b), LoadPanel(d, b + lanes), c, rows);
    AddStep(d, a + kRows, LoadPanel(d, b + 2 * lanes), LoadPanel(d, b + 3 * lanes), c, rows);
    a += 2 * kRows;
    b += 4 * lanes;
  }
  if (p > 0) AddStep(d, a, LoadPanel(d, b), LoadPanel(d, b + lanes), c, rows);
  StoreTile(d, c, g.add, g.tile, all);
}

template <class T, std::size_t... kR>
constexpr std::array<void (*)(const GemmPanel<T>&), sizeof...(kR)> AllRows(
    std::index_sequence<kR...>) {
  return {{&Rows<T, kR + 1>...}};
}

template <class T>
void Panel(const GemmPanel<T>& g) {
  static constexpr auto kByRows = AllRows<T>(std::make_index_sequence<kPanelRows>());
  kByRows[static_cast<std::size_t>(g.m - 1)](g);
}

template <class T>
GemmPanels<T> Table() {
  return {Index{kPanelRows}, &Panel<T>};
}

}  // namespace

GemmPanels<bf16> PanelsBF16() { return Table<bf16>(); }
GemmPanels<f16> PanelsF16() { return Table<f16>(); }
GemmPanels<f32> PanelsF32() { return Table<f32>(); }
GemmPanels<f64> PanelsF64() { return Table<f64>(); }
GemmPanels<f8e4m3> PanelsF8() { return Table<f8e4m3>(); }

}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

HWY_EXPORT(PanelsBF16);
HWY_EXPORT(PanelsF16);
HWY_EXPORT(PanelsF32);
HWY_EXPORT(PanelsF64);
HWY_EXPORT(PanelsF8);

template <>
GemmPanels<bf16> gemm_panels() {
  return HWY_DYNAMIC_DISPATCH(PanelsBF16)();
}
template <>
GemmPanels<f16> gemm_panels() {
  return HWY_DYNAMIC_DISPATCH(PanelsF16)();
}
template <>
GemmPanels<f32> gemm_panels() {
  return HWY_DYNAMIC_DISPATCH(PanelsF32)();
}
template <>
GemmPanels<f64> gemm_panels() {
  return HWY_DYNAMIC_DISPATCH(PanelsF64)();
}
template <>
GemmPanels<f8e4m3> gemm_panels() {
  return HWY_DYNAMIC_DISPATCH(PanelsF8)();
}

}  // namespace wick::kernels
#endif
