// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "wick/core/dtype.h"
#include "wick/kernels/line.h"

namespace wick::kernels {

// Sorting by radix, least significant byte first: stable, and the time does not depend on the
// values. Elements become unsigned numbers in the same order (SortKey); where indices are wanted,
// the index travels with the key (IndexedKey). Equal elements, the two zeros and all NaNs among
// them, have equal keys; NaN's is the greatest. A descending order has the complements of the keys.

/// A key of 64 bits and an index.
struct KeyAndIndex {
  std::uint64_t key;
  u32 index;
  friend constexpr auto operator<=>(const KeyAndIndex&, const KeyAndIndex&) = default;
};

template <Element T>
using SortKey = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
/// Keys of up to 32 bits lie in the upper half of a number, the index in the lower one.
template <Element T>
using IndexedKey = std::conditional_t<sizeof(T) == 8, KeyAndIndex, std::uint64_t>;

/// The most lines that are worth doing at once where they lie side by side.
inline constexpr Index kSortLines = 16;

/// From line to line of the scratch: not a power of two, else lines would compete for the same sets
/// of the cache.
constexpr Index sort_pitch(Index n) { return n + 24; }

/// Sorts loop.lines lines. y may be x with equal strides. `scratch` holds (lines + 1) *
/// sort_pitch(n).
template <Element T>
void sort_lines(T* y, const T* x, const LineLoop& loop, bool descending, SortKey<T>* scratch);

/// y = where the elements of the sorted line are in x. `scratch` holds (lines + 1) * sort_pitch(n).
template <Element T>
void argsort_lines(u32* y, const T* x, const LineLoop& loop, bool descending,
                   IndexedKey<T>* scratch);

/// The first k elements of the sorted lines and where they are in x; those places advance by
/// index_step and index_line. 0 < k <= n. `scratch` holds (lines + 1) * sort_pitch(n).
template <Element T>
void topk_lines(T* values, u32* indices, Index index_step, Index index_line, const T* x, Index k,
                const LineLoop& loop, bool descending, IndexedKey<T>* scratch);

// The steps of one long line, which threads share.

/// The keys of n elements. Returns whether a NaN or a -0 is among them, which a key does not tell
/// from others.
template <Element T>
bool load_keys(SortKey<T>* keys, const T* x, Index stride, Index n, bool descending);
/// The keys with indices first, first + 1, ...
template <Element T>
void load_indexed_keys(IndexedKey<T>* keys, const T* x, Index stride, Index n, Index first,
                       bool descending);
/// The elements of sorted keys among which no NaN or -0 is.
template <Element T>
void store_values(T* y, Index stride, const SortKey<T>* sorted, Index n, bool descending);
template <class E>
void store_indices(u32* y, Index stride, const E* sorted, Index n);

/// How many of n keys have each value of the byte that starts at bit `shift`: adds to counts[256].
template <class E>
void radix_count(const E* keys, Index n, int shift, Index* counts);
/// Moves n keys to their places, places[256] by the same byte, which advance.
template <class E>
void radix_move(E* to, const E* keys, Index n, int shift, Index* places);

}  // namespace wick::kernels
