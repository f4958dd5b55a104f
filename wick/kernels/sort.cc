// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/sort.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "wick/kernels/min_max.h"

namespace wick::kernels {
namespace {

// Below, clearing and adding up the counts takes longer than comparing.
constexpr Index kFew = 80;
constexpr int kBins = 256;

// --- keys ---

template <Element T>
using Bits = SortKey<T>;

template <Element T>
constexpr Bits<T> kSign = static_cast<Bits<T>>(Bits<T>{1} << (8 * sizeof(T) - 1));

template <Element T>
bool is_nan_bits(Bits<T> bits) {
  if constexpr (Float<T>)
    return static_cast<Bits<T>>(bits & ~kSign<T>) > static_cast<Bits<T>>(largest_key<T>());
  return false;
}

/// All ones or none.
template <Element T>
constexpr Bits<T> mask_of(bool yes) {
  return static_cast<Bits<T>>(-static_cast<Bits<T>>(yes));
}

/// The key of an element; `special` is set for a NaN and for -0. Without branches: signs cannot be
/// predicted.
template <Element T>
Bits<T> key_of(T x, Bits<T> flip, bool& special) {
  auto bits = std::bit_cast<Bits<T>>(x);
  if constexpr (Float<T>) {
    const bool nan = is_nan_bits<T>(bits), minus_zero = bits == kSign<T>;
    special |= nan | minus_zero;
    bits = static_cast<Bits<T>>(bits & ~mask_of<T>(minus_zero));
    const Bits<T> negative = mask_of<T>((bits & kSign<T>) != 0);
    const auto order = static_cast<Bits<T>>(bits ^ (negative | kSign<T>));
    return static_cast<Bits<T>>((order | mask_of<T>(nan)) ^ flip);
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<Bits<T>>(bits ^ kSign<T> ^ flip);
  } else {
    return static_cast<Bits<T>>(bits ^ flip);
  }
}

/// The bits of the element that a key stands for, if it is not special.
template <Element T>
Bits<T> bits_of(Bits<T> key, Bits<T> flip) {
  key = static_cast<Bits<T>>(key ^ flip);
  if constexpr (Float<T>) {
    const Bits<T> negative = mask_of<T>((key & kSign<T>) == 0);
    return static_cast<Bits<T>>(key ^ (negative | kSign<T>));
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<Bits<T>>(key ^ kSign<T>);
  } else {
    return key;
  }
}

template <Element T>
Bits<T> flip_for(bool descending) {
  return descending ? std::numeric_limits<Bits<T>>::max() : Bits<T>{0};
}

template <Element T>
IndexedKey<T> indexed(Bits<T> key, Index index) {
  if constexpr (sizeof(T) == 8) {
    return {key, static_cast<u32>(index)};
  } else {
    return std::uint64_t{key} << 32 | static_cast<u32>(index);
  }
}
u32 index_of(std::uint64_t e) { return static_cast<u32>(e); }
u32 index_of(const KeyAndIndex& e) { return e.index; }

/// f(line, i) for all elements of some lines, in the order of the memory of x or y.
template <class F>
void for_each_place(Index n, Index lines, Index step, Index line, F f) {
  const auto size = [](Index v) { return v < 0 ? -v : v; };
  if (lines > 1 && size(line) < size(step)) {
    for (Index i = 0; i < n; ++i)
      for (Index l = 0; l < lines; ++l) f(l, i);
  } else {
    for (Index l = 0; l < lines; ++l)
      for (Index i = 0; i < n; ++i) f(l, i);
  }
}

template <Element T>
void load_lines(IndexedKey<T>* keys, const T* x, const LineLoop& loop, bool descending) {
  if (loop.lines == 1) return load_indexed_keys(keys, x, loop.x_step, loop.n, 0, descending);
  const Bits<T> flip = flip_for<T>(descending);
  bool special = false;
  for_each_place(loop.n, loop.lines, loop.x_step, loop.x_line, [&](Index l, Index i) {
    const Bits<T> key = key_of(x[l * loop.x_line + i * loop.x_step], flip, special);
    keys[l * sort_pitch(loop.n) + i] = indexed<T>(key, i);
  });
}

// --- sorting ---

/// Which bytes of an entry are the key.
struct KeyBytes {
  int low, count;
};
template <Element T>
constexpr KeyBytes kValueBytes{0, sizeof(T)};
template <Element T>
constexpr KeyBytes kIndexedBytes{sizeof(T) == 8 ? 0 : 4, sizeof(T)};

template <class E>
std::size_t digit(const E& e, int shift) {
  if constexpr (std::same_as<E, KeyAndIndex>) {
    return e.key >> shift & 0xFF;
  } else {
    return static_cast<std::uint64_t>(e) >> shift & 0xFF;
  }
}

/// Sorts by the bytes of the key; entries are in the order of their indices, or have none. Returns
/// where the result is: x or spare.
template <KeyBytes kBytes, class E>
E* radix_sort(E* x, E* spare, Index n) {
  if (n <= kFew || n > Index{0xFFFFFFFF}) {
    std::sort(x, x + n);  // equal entries cannot be told apart
    return x;
  }
  u32 counts[static_cast<std::size_t>(kBytes.count)][kBins] = {};
  for (Index i = 0; i < n; ++i)
    for (int p = 0; p < kBytes.count; ++p) ++counts[p][digit(x[i], 8 * (kBytes.low + p))];
  for (int p = 0; p < kBytes.count; ++p) {
    u32* at = counts[p];
    const int shift = 8 * (kBytes.low + p);
    if (at[digit(x[0], shift)] == static_cast<u32>(n)) continue;  // one value: nothing to do
    u32 sum = 0;
    for (int b = 0; b < kBins; ++b) sum += std::exchange(at[b], sum);
    for (Index i = 0; i < n; ++i) spare[at[digit(x[i], shift)]++] = x[i];
    std::swap(x, spare);
  }
  return x;
}

/// Sorted keys of a line back to the bits of its elements, in place or not. Zeros and NaNs, which
/// are `special`, come in the order in which they are in x.
template <Element T>
void restore(Bits<T>* to, const Bits<T>* sorted, const T* x, Index stride, Index n, Bits<T> flip,
             bool special) {
  if (!special) {
    for (Index i = 0; i < n; ++i) to[i] = bits_of<T>(sorted[i], flip);
    return;
  }
  const Bits<T> zero = key_of(T{}, flip, special);
  const auto nan = static_cast<Bits<T>>(~flip);
  const auto next = [&](Index& at, Bits<T> key) {
    while (key_of(x[at * stride], flip, special) != key) ++at;
    return std::bit_cast<Bits<T>>(x[at++ * stride]);
  };
  Index zeros = 0, nans = 0;
  for (Index i = 0; i < n; ++i) {
    const Bits<T> key = sorted[i];
    to[i] = key == zero ? next(zeros, zero) : key == nan ? next(nans, nan) : bits_of<T>(key, flip);
  }
}

/// The k least of n entries, in order. They are left in `best`, which holds n.
template <KeyBytes kBytes, class E>
void select(E* x, E* best, Index n, Index k) {
  const Index room = 2 * k + 32;
  if (room >= n) {
    const E* sorted = radix_sort<kBytes>(x, best, n);
    if (sorted != best) std::copy_n(sorted, k, best);
    return;
  }
  // Candidates are kept until there is no more room: then the worse half goes, and nothing worse
  // than the others comes in any more.
  Index count = 0;
  for (Index i = 0; i < n; ++i) {
    if (count >= k && i >= room && !(x[i] < best[k - 1])) continue;
    best[count++] = x[i];
    if (count < room) continue;
    std::nth_element(best, best + k - 1, best + count);
    count = k;
  }
  std::nth_element(best, best + k - 1, best + count);
  std::sort(best, best + k);
}

}  // namespace

template <Element T>
bool load_keys(SortKey<T>* keys, const T* x, Index stride, Index n, bool descending) {
  const Bits<T> flip = flip_for<T>(descending);
  bool special = false;
  if (stride == 1) {
    for (Index i = 0; i < n; ++i) keys[i] = key_of(x[i], flip, special);
  } else {
    for (Index i = 0; i < n; ++i) keys[i] = key_of(x[i * stride], flip, special);
  }
  return special;
}

template <Element T>
void load_indexed_keys(IndexedKey<T>* keys, const T* x, Index stride, Index n, Index first,
                       bool descending) {
  const Bits<T> flip = flip_for<T>(descending);
  bool special = false;
  for (Index i = 0; i < n; ++i)
    keys[i] = indexed<T>(key_of(x[i * stride], flip, special), first + i);
}

template <Element T>
void store_values(T* y, Index stride, const SortKey<T>* sorted, Index n, bool descending) {
  const Bits<T> flip = flip_for<T>(descending);
  for (Index i = 0; i < n; ++i) y[i * stride] = std::bit_cast<T>(bits_of<T>(sorted[i], flip));
}

template <class E>
void store_indices(u32* y, Index stride, const E* sorted, Index n) {
  for (Index i = 0; i < n; ++i) y[i * stride] = index_of(sorted[i]);
}

template <class E>
void radix_count(const E* keys, Index n, int shift, Index* counts) {
  for (Index i = 0; i < n; ++i) ++counts[digit(keys[i], shift)];
}

template <class E>
void radix_move(E* to, const E* keys, Index n, int shift, Index* places) {
  for (Index i = 0; i < n; ++i) to[places[digit(keys[i], shift)]++] = keys[i];
}

template <Element T>
void sort_lines(T* y, const T* x, const LineLoop& loop, bool descending, SortKey<T>* scratch) {
  const Index n = loop.n, pitch = sort_pitch(n);
  SortKey<T>* spare = scratch + loop.lines * pitch;
  const Bits<T> flip = flip_for<T>(descending);
  bool special = false;
  if (loop.lines == 1) {
    special = load_keys(scratch, x, loop.x_step, n, descending);
  } else {
    for_each_place(n, loop.lines, loop.x_step, loop.x_line, [&](Index l, Index i) {
      scratch[l * pitch + i] = key_of(x[l * loop.x_line + i * loop.x_step], flip, special);
    });
  }
  // Elements replace the keys before any line is written, since y may be x.
  for (Index l = 0; l < loop.lines; ++l) {
    SortKey<T>* line = scratch + l * pitch;
    const SortKey<T>* sorted = radix_sort<kValueBytes<T>>(line, spare, n);
    restore(line, sorted, x + l * loop.x_line, loop.x_step, n, flip, special);
  }
  for_each_place(n, loop.lines, loop.y_step, loop.y_line, [&](Index l, Index i) {
    y[l * loop.y_line + i * loop.y_step] = std::bit_cast<T>(scratch[l * pitch + i]);
  });
}

template <Element T>
void argsort_lines(u32* y, const T* x, const LineLoop& loop, bool descending,
                   IndexedKey<T>* scratch) {
  const Index n = loop.n, pitch = sort_pitch(n);
  IndexedKey<T>* spare = scratch + loop.lines * pitch;
  load_lines(scratch, x, loop, descending);
  for (Index l = 0; l < loop.lines; ++l) {
    IndexedKey<T>* line = scratch + l * pitch;
    const IndexedKey<T>* sorted = radix_sort<kIndexedBytes<T>>(line, spare, n);
    if (loop.lines == 1) return store_indices(y, loop.y_step, sorted, n);
    if (sorted != line) std::copy_n(sorted, n, line);
  }
  for_each_place(n, loop.lines, loop.y_step, loop.y_line, [&](Index l, Index i) {
    y[l * loop.y_line + i * loop.y_step] = index_of(scratch[l * pitch + i]);
  });
}

template <Element T>
void topk_lines(T* values, u32* indices, Index index_step, Index index_line, const T* x, Index k,
                const LineLoop& loop, bool descending, IndexedKey<T>* scratch) {
  const Index n = loop.n, pitch = sort_pitch(n);
  IndexedKey<T>* best = scratch + loop.lines * pitch;
  load_lines(scratch, x, loop, descending);
  for (Index l = 0; l < loop.lines; ++l) {
    select<kIndexedBytes<T>>(scratch + l * pitch, best, n, k);
    for (Index i = 0; i < k; ++i) {
      const u32 index = index_of(best[i]);
      values[l * loop.y_line + i * loop.y_step] = x[l * loop.x_line + index * loop.x_step];
      indices[l * index_line + i * index_step] = index;
    }
  }
}

#define WICK_SORT_ENTRIES(E)                                  \
  template void radix_count<E>(const E*, Index, int, Index*); \
  template void radix_move<E>(E*, const E*, Index, int, Index*);
WICK_SORT_ENTRIES(std::uint8_t)
WICK_SORT_ENTRIES(std::uint16_t)
WICK_SORT_ENTRIES(std::uint32_t)
WICK_SORT_ENTRIES(std::uint64_t)
WICK_SORT_ENTRIES(KeyAndIndex)
#undef WICK_SORT_ENTRIES
template void store_indices<std::uint64_t>(u32*, Index, const std::uint64_t*, Index);
template void store_indices<KeyAndIndex>(u32*, Index, const KeyAndIndex*, Index);

#define WICK_SORT(T)                                                                          \
  template bool load_keys<T>(SortKey<T>*, const T*, Index, Index, bool);                      \
  template void load_indexed_keys<T>(IndexedKey<T>*, const T*, Index, Index, Index, bool);    \
  template void store_values<T>(T*, Index, const SortKey<T>*, Index, bool);                   \
  template void sort_lines<T>(T*, const T*, const LineLoop&, bool, SortKey<T>*);              \
  template void argsort_lines<T>(u32*, const T*, const LineLoop&, bool, IndexedKey<T>*);      \
  template void topk_lines<T>(T*, u32*, Index, Index, const T*, Index, const LineLoop&, bool, \
                              IndexedKey<T>*);
WICK_FOR_ELEMENTS(WICK_SORT)
#undef WICK_SORT

}  // namespace wick::kernels
