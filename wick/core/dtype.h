// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "wick/base/checked.h"
#include "wick/base/half.h"

namespace wick {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using f32 = float;
using f64 = double;

// Formats that only hold bytes: copies, views, load, save and casts work, computing does not. One
// object is one byte of packed elements (f8e8m0: exactly one element).
struct f6e2m3 {
  u8 byte;
};  ///< OCP MX FP6 E2M3, four elements in three bytes
struct f6e3m2 {
  u8 byte;
};  ///< OCP MX FP6 E3M2, four elements in three bytes
struct f4 {
  u8 byte;
};  ///< OCP MX FP4 E2M1, two elements a byte, the first in the low half
struct f8e8m0 {
  u8 byte;
};  ///< OCP MX scale: 2^(byte - 127), 255 is NaN

template <class... Ts>
struct Types {
  static constexpr int kCount = sizeof...(Ts);
};

/// Every storable type. DType, the names and Storage all follow this order.
using Elements =
    Types<u8, u32, i16, i32, i64, bf16, f16, f32, f64, f8e4m3, f6e2m3, f6e3m2, f4, f8e8m0>;

// g++ says that the scoped names below hide the types above; they do not.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
/// The element type of a tensor at run time. The first ten compute, the last four hold raw bytes.
enum class DType : std::uint8_t {
  u8,
  u32,
  i16,
  i32,
  i64,
  bf16,
  f16,
  f32,
  f64,
  f8e4m3,
  f6e2m3,
  f6e3m2,
  f4,
  f8e8m0
};
#pragma GCC diagnostic pop

inline constexpr int kDTypeCount = Elements::kCount;

template <class T, class... Ts>
concept OneOf = (std::same_as<T, Ts> || ...);
template <class T>
concept SmallFloat = OneOf<T, bf16, f16, f8e4m3>;  ///< stored small, computed in f32
template <class T>
concept Float = SmallFloat<T> || OneOf<T, f32, f64>;
template <class T>
concept Int = OneOf<T, u8, u32, i16, i32, i64>;
template <class T>
concept Element = Float<T> || Int<T>;  ///< the ten dtypes that compute
template <class T>
concept Raw = OneOf<T, f6e2m3, f6e3m2, f4, f8e8m0>;
template <class T>
concept IndexElement = OneOf<T, u8, u32, i64>;  ///< what may index: ids of index_select and kin

namespace detail {
struct DTypeInfo {
  std::string_view name;
  int bits;
};
inline constexpr std::array<DTypeInfo, kDTypeCount> kDTypeInfo{{{"u8", 8},
                                                                {"u32", 32},
                                                                {"i16", 16},
                                                                {"i32", 32},
                                                                {"i64", 64},
                                                                {"bf16", 16},
                                                                {"f16", 16},
                                                                {"f32", 32},
                                                                {"f64", 64},
                                                                {"f8e4m3", 8},
                                                                {"f6e2m3", 6},
                                                                {"f6e3m2", 6},
                                                                {"f4", 4},
                                                                {"f8e8m0", 8}}};
template <class T, class List>
struct PlaceOf;
template <class T, class... Ts>
struct PlaceOf<T, Types<Ts...>> {
  static constexpr int kPlace = [] {
    int i = 0;
    (void)((std::same_as<T, Ts> || (++i, false)) || ...);
    return i;
  }();
};
}  // namespace detail

/// The DType of a C++ type, e.g. dtype_of<float> == DType::f32.
template <class T>
  requires(detail::PlaceOf<T, Elements>::kPlace < kDTypeCount)
inline constexpr DType dtype_of = static_cast<DType>(detail::PlaceOf<T, Elements>::kPlace);

/// The name of a dtype, e.g. "f32".
constexpr std::string_view name(DType t) {
  return detail::kDTypeInfo[static_cast<std::size_t>(t)].name;
}
/// The width of one element in bits; 4 and 6 for the packed formats.
constexpr int bits(DType t) { return detail::kDTypeInfo[static_cast<std::size_t>(t)].bits; }
/// True for the four formats that only hold bytes.
constexpr bool is_raw(DType t) { return t >= DType::f6e2m3; }
constexpr bool is_float(DType t) { return t >= DType::bf16 && t <= DType::f8e4m3; }
constexpr bool is_int(DType t) { return t <= DType::i64; }

/// Bytes of n elements, ceil(n * bits / 8); an `overflow` Error where that does not fit.
inline Index byte_size(DType t, Index n, std::string_view op = "byte_size") {
  if (bits(t) % 8 == 0) return checked_mul(n, bits(t) / 8, op, "size in bytes");
  const Index groups = checked_mul(n / 4, bits(t) / 2, op, "size in bytes");  // 4 elements
  return checked_add(groups, ceil_div(n % 4 * bits(t), 8), op, "size in bytes");
}

/// The type a float format is computed in: f32 for the small ones, else itself. Integers: itself.
template <class T>
using Compute = std::conditional_t<SmallFloat<T>, f32, T>;

// The same lists for explicit instantiation at the end of a kernel file.
#define WICK_FOR_FLOATS(X) X(bf16) X(f16) X(f32) X(f64) X(f8e4m3)
#define WICK_FOR_INTS(X) X(u8) X(u32) X(i16) X(i32) X(i64)
#define WICK_FOR_ELEMENTS(X) WICK_FOR_INTS(X) WICK_FOR_FLOATS(X)

}  // namespace wick
