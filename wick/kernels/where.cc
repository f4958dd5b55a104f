// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/where.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wick/kernels/run.h"

namespace wick::kernels {
namespace {

// A choice between two integers, which compilers turn into vector code; floats are only moved.
template <class U, class C>
void select(const Piece<4>& piece, const void*) {
  auto* y = static_cast<unsigned char*>(piece.p[0]);
  const auto* cond = static_cast<const unsigned char*>(piece.p[1]);
  const auto* a = static_cast<const unsigned char*>(piece.p[2]);
  const auto* b = static_cast<const unsigned char*>(piece.p[3]);
  const auto loop = [&](std::size_t sc, std::size_t sa, std::size_t sb) {
    for (std::size_t i = 0; i < piece.n; ++i) {
      C c;
      U va, vb;
      std::memcpy(&c, cond + i * sc * sizeof(C), sizeof(C));
      std::memcpy(&va, a + i * sa * sizeof(U), sizeof(U));
      std::memcpy(&vb, b + i * sb * sizeof(U), sizeof(U));
      const U mask = static_cast<U>(c != 0 ? ~std::uint64_t{0} : 0);
      const U value = static_cast<U>((va & mask) | (vb & ~mask));
      std::memcpy(y + i * sizeof(U), &value, sizeof(U));
    }
  };
  // Known strides for the common cases: tensors, or a scalar on one side.
  if (piece.step[1] == 1 && piece.step[2] == 1 && piece.step[3] == 1) return loop(1, 1, 1);
  if (piece.step[1] == 1 && piece.step[2] == 1) return loop(1, 1, 0);
  if (piece.step[1] == 1 && piece.step[3] == 1) return loop(1, 0, 1);
  loop(piece.step[1], piece.step[2], piece.step[3]);
}

template <class U, class C>
void where_elements(void* y, const void* cond, const void* a, const void* b, const Loop2<4>& loop) {
  constexpr int kBytes = static_cast<int>(sizeof(U));
  run<4>(loop, {y, cond, a, b}, {kBytes, static_cast<int>(sizeof(C)), kBytes, kBytes},
         &select<U, C>, nullptr);
}

template <class U>
WhereFn with_condition(DType cond) {
  switch (cond) {
    case DType::u8: return &where_elements<U, u8>;
    case DType::u32: return &where_elements<U, u32>;
    case DType::i64: return &where_elements<U, i64>;
    default: return nullptr;
  }
}

}  // namespace

WhereFn where(int element_bytes, DType cond) {
  switch (element_bytes) {
    case 1: return with_condition<std::uint8_t>(cond);
    case 2: return with_condition<std::uint16_t>(cond);
    case 4: return with_condition<std::uint32_t>(cond);
    case 8: return with_condition<std::uint64_t>(cond);
    default: return nullptr;
  }
}

}  // namespace wick::kernels
