// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/compare.h"

#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/compare.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set

#include "hwy/highway.h"
#include "wick/kernels/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

// Highway 1.0.3 has no <= of integers on every set.
template <class V>
HWY_INLINE auto LessOrEqual(V a, V b) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
    return hn::Le(a, b);
  } else {
    return hn::Not(hn::Lt(b, a));
  }
}

/// One functor per line of the op table, of the same name: vectors in, a mask out.
namespace functor {

struct eq {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Eq(a, b);
  }
};
struct ne {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Not(hn::Eq(a, b));  // Highway's Ne of AVX-512 is false for NaN
  }
};
struct lt {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Lt(a, b);
  }
};
struct le {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return LessOrEqual(a, b);
  }
};
struct gt {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Lt(b, a);
  }
};
struct ge {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return LessOrEqual(b, a);
  }
};

template <class V>
HWY_INLINE auto IsZero(V x) {
  return hn::Eq(x, hn::Zero(hn::DFromV<V>()));
}
struct logical_and {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Not(hn::Or(IsZero(a), IsZero(b)));
  }
};
struct logical_or {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Not(hn::And(IsZero(a), IsZero(b)));
  }
};
struct logical_xor {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Xor(IsZero(a), IsZero(b));
  }
};

}  // namespace functor

/// Stores 1 or 0 for each lane of a mask.
template <class D, class M>
HWY_INLINE void StoreMask(D, M mask, u8* y) {
  using T = hn::TFromD<D>;
  const UnsignedOf<D> du;
  const auto ones = hn::IfThenElseZero(hn::RebindMask(du, mask), hn::Set(du, 1));
  if constexpr (sizeof(T) == 1) {
    hn::StoreU(ones, du, y);
  } else if constexpr (sizeof(T) == 8) {
    hn::StoreU(hn::TruncateTo(hn::Rebind<std::uint8_t, D>(), ones), hn::Rebind<std::uint8_t, D>(),
               y);
  } else {
    const SignedOf<D> di;
    hn::StoreU(hn::DemoteTo(hn::Rebind<std::uint8_t, D>(), hn::BitCast(di, ones)),
               hn::Rebind<std::uint8_t, D>(), y);
  }
}

template <class T, class F>
void ComparePiece(const Piece<3>& piece, const void* context) {
  using L = Lanes<T>;
  const typename L::D d;
  const std::size_t lanes = hn::Lanes(d);
  u8* y = static_cast<u8*>(piece.p[0]);
  const T* a = static_cast<const T*>(piece.p[1]);
  const T* b = static_cast<const T*>(piece.p[2]);
  const std::size_t sa = piece.step[1], sb = piece.step[2];
  std::size_t i = 0;
  for (; i + lanes <= piece.n; i += lanes)
    StoreMask(d, F()(L::Load(d, a + i * sa), L::Load(d, b + i * sb)), y + i);
  if (i < piece.n)
    Tail<3, u8, T>(piece, i, lanes,
                   [context](const Piece<3>& p) { ComparePiece<T, F>(p, context); });
}

template <class T, class F>
void Loop(u8* y, const T* a, const T* b, const Loop2<3>& loop) {
  constexpr int kBytes = static_cast<int>(sizeof(T));
  run<3>(loop, {y, a, b}, {1, kBytes, kBytes}, &ComparePiece<T, F>, nullptr);
}

template <Element T>
CompareFn<T> Select(CompareOp op) {
  switch (op) {
#define WICK_COMPARE(name, ...) \
  case CompareOp::name: return &Loop<T, functor::name>;
#include "wick/core/ops.inc"
  }
  return nullptr;
}

// HWY_EXPORT wants plain functions.
#define WICK_SELECT(T) \
  CompareFn<T> Select_##T(CompareOp op) { return Select<T>(op); }
WICK_FOR_ELEMENTS(WICK_SELECT)
#undef WICK_SELECT

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wick::kernels {

#define WICK_EXPORT(T)                           \
  HWY_EXPORT(Select_##T);                        \
  template <>                                    \
  CompareFn<T> compare<T>(CompareOp op) {        \
    return HWY_DYNAMIC_DISPATCH(Select_##T)(op); \
  }
WICK_FOR_ELEMENTS(WICK_EXPORT)
#undef WICK_EXPORT

}  // namespace wick::kernels
#endif
