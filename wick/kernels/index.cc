// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/index.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "wick/core/convert.h"
#include "wick/kernels/binary.h"
#include "wick/kernels/cast.h"

namespace wick::kernels {
namespace {

/// Shorter runs are moved by a plain loop.
constexpr Index kShort = 16;

template <template <class> class F, class Fn>
Fn for_ids(DType ids) {
  switch (ids) {
    case DType::u8: return &F<u8>::run;
    case DType::u32: return &F<u32>::run;
    case DType::i64: return &F<i64>::run;
    default: return nullptr;
  }
}

// --- ids ---

template <class I>
struct OutOfRange {
  static bool run(const void* ids, const Loop2<1>& l, Index size) {
    const I* at = static_cast<const I*>(ids);
    const auto last = static_cast<std::uint64_t>(size) - 1;
    // The sign of id, or of size - 1 - id: arithmetic that every vector unit has.
    std::uint64_t bad = 0;
    for (Index j = 0; j < l.m; ++j) {
      const I* row = at + j * l.outer[0];
      if (l.inner[0] == 1) {
        for (Index i = 0; i < l.n; ++i) bad |= sign_of(row[i], last);
      } else {
        for (Index i = 0; i < l.n; ++i) bad |= sign_of(row[i * l.inner[0]], last);
      }
    }
    return (bad & kSignBit) != 0;
  }

 private:
  static constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
  static std::uint64_t sign_of(I id, std::uint64_t last) {
    const auto bits = static_cast<std::uint64_t>(id);
    return bits | (last - bits);
  }
};

// --- gather ---

template <class U>
struct Gather {
  template <class I>
  struct With {
    static void run(void* to, const void* ids, const void* from, const Loop2<3>& loop,
                    Index x_step) {
      Loop2<3> l = loop;
      if (l.n == 1) {
        std::swap(l.n, l.m);
        std::swap(l.inner, l.outer);
      }
      for (Index j = 0; j < l.m; ++j)
        row(static_cast<U*>(to) + j * l.outer[0], static_cast<const I*>(ids) + j * l.outer[1],
            static_cast<const U*>(from) + j * l.outer[2], l.n, l.inner, x_step);
    }

   private:
    static void row(U* y, const I* ids, const U* x, Index n, const std::array<Index, 3>& s,
                    Index x_step) {
      if (s[1] == 0) {  // one id for the whole run
        x += static_cast<Index>(*ids) * x_step;
        if (s[0] == 1 && s[2] == 1 && n >= kShort) {
          std::memcpy(y, x, static_cast<std::size_t>(n) * sizeof(U));
        } else {
          for (Index i = 0; i < n; ++i) y[i * s[0]] = x[i * s[2]];
        }
      } else if (s[0] == 1 && s[1] == 1 && s[2] == 0 && x_step == 1) {
        for (Index i = 0; i < n; ++i) y[i] = x[static_cast<Index>(ids[i])];
      } else {
        for (Index i = 0; i < n; ++i)
          y[i * s[0]] = x[i * s[2] + static_cast<Index>(ids[i * s[1]]) * x_step];
      }
    }
  };
};

// --- scatter ---

/// y = src.
struct Set {
  template <class U>
  static void element(U& y, U src) {
    y = src;
  }
  template <class U>
  static void row(U* y, const U* src, Index n, Index y_step, Index src_step) {
    if (y_step == 1 && src_step == 1) {
      std::memcpy(y, src, static_cast<std::size_t>(n) * sizeof(U));
    } else {
      for (Index i = 0; i < n; ++i) y[i * y_step] = src[i * src_step];
    }
  }
};

/// y += src.
struct Add {
  template <class C, class T>
  static void element(C& y, T src) {
    if constexpr (Int<T>) {
      y = static_cast<T>(static_cast<std::uint64_t>(y) + static_cast<std::uint64_t>(src));
    } else {
      // Which of two NaNs an addition gives is up to the compiler: not left to it, so that all
      // paths agree.
      C wide;
      if constexpr (SmallFloat<T>) {
        wide = to_f32(src);
      } else {
        wide = src;
      }
      y = std::isnan(y) ? y : y + wide;
    }
  }
  template <class C, class T>
  static void row(C* y, const T* src, Index n, Index y_step, Index src_step) {
    const auto add = binary<C>(BinaryOp::add);
    if constexpr (std::same_as<C, T>) {
      add(y, y, src, {n, 1, {y_step, y_step, src_step}, {}});
    } else {
      constexpr Index kPart = 512;
      const auto widen = cast(dtype_of<C>, dtype_of<T>);
      C part[kPart];
      for (Index i = 0; i < n; i += kPart) {
        const Index count = std::min(kPart, n - i);
        widen(part, src + i * src_step, {count, 1, {1, src_step}, {}});
        C* at = y + i * y_step;
        add(at, at, part, {count, 1, {y_step, y_step, 1}, {}});
      }
    }
  }
};

template <class Op, class Y, class S>
struct Scatter {
  template <class I>
  struct With {
    static void run(void* y, const void* ids, const void* src, const ScatterLoop& s) {
      const Loop2<3>& l = s.lines;
      for (Index j = 0; j < l.m; ++j)
        lines(static_cast<Y*>(y) + j * l.outer[0], static_cast<const I*>(ids) + j * l.outer[1],
              static_cast<const S*>(src) + j * l.outer[2], s);
    }

   private:
    static bool outside(Index id, const ScatterLoop& s) { return id < s.low || id >= s.high; }
    static Y& place(Y* y, I id, const ScatterLoop& s) {
      return y[(static_cast<Index>(id) - s.low) * s.y_step];
    }

    // s.lines.n lines. Side by side they are walked across, where that is how src lies in memory.
    static void lines(Y* y, const I* ids, const S* src, const ScatterLoop& s) {
      const Index n = s.lines.n;
      const auto& step = s.lines.inner;
      const auto size = [](Index v) { return v < 0 ? -v : v; };
      if (s.rows || (n > 1 && size(step[2]) <= size(s.src_step))) {
        for (Index k = 0; k < s.count; ++k)
          across(y, ids + k * s.ids_step, src + k * s.src_step, s);
      } else {
        for (Index i = 0; i < n; ++i)
          along(y + i * step[0], ids + i * step[1], src + i * step[2], s);
      }
    }

    // One entry of all lines.
    static void across(Y* y, const I* ids, const S* src, const ScatterLoop& s) {
      const Index n = s.lines.n;
      const auto& step = s.lines.inner;
      if (step[1] == 0) {
        const auto id = static_cast<Index>(*ids);
        if (outside(id, s)) return;
        Y* to = y + (id - s.low) * s.y_step;
        if (s.rows) return Op::row(to, src, n, step[0], step[2]);
        for (Index i = 0; i < n; ++i) Op::element(to[i * step[0]], src[i * step[2]]);
        return;
      }
      for (Index i = 0; i < n; ++i) {
        const I id = ids[i * step[1]];
        if (!s.all && outside(static_cast<Index>(id), s)) continue;
        Op::element(place(y + i * step[0], id, s), src[i * step[2]]);
      }
    }

    static void along(Y* y, const I* ids, const S* src, const ScatterLoop& s) {
      if (s.all) {
        for (Index k = 0; k < s.count; ++k)
          Op::element(place(y, ids[k * s.ids_step], s), src[k * s.src_step]);
        return;
      }
      // Those in range are picked first, without a branch that would be mispredicted.
      constexpr Index kPart = 256;
      std::int32_t chosen[kPart];
      for (Index k0 = 0; k0 < s.count; k0 += kPart) {
        const Index part = std::min(kPart, s.count - k0);
        const I* id = ids + k0 * s.ids_step;
        const S* from = src + k0 * s.src_step;
        Index found = 0;
        for (Index k = 0; k < part; ++k) {
          chosen[found] = static_cast<std::int32_t>(k);
          found += outside(static_cast<Index>(id[k * s.ids_step]), s) ? 0 : 1;
        }
        for (Index c = 0; c < found; ++c) {
          const Index k = chosen[c];
          Op::element(place(y, id[k * s.ids_step], s), from[k * s.src_step]);
        }
      }
    }
  };
};

template <class U>
using Put = Scatter<Set, U, U>;

}  // namespace

OutOfRangeFn out_of_range(DType ids) { return for_ids<OutOfRange, OutOfRangeFn>(ids); }

GatherFn gather(int element_bytes, DType ids) {
  switch (element_bytes) {
    case 1: return for_ids<Gather<std::uint8_t>::With, GatherFn>(ids);
    case 2: return for_ids<Gather<std::uint16_t>::With, GatherFn>(ids);
    case 4: return for_ids<Gather<std::uint32_t>::With, GatherFn>(ids);
    case 8: return for_ids<Gather<std::uint64_t>::With, GatherFn>(ids);
    default: return nullptr;
  }
}

ScatterFn scatter(int element_bytes, DType ids) {
  switch (element_bytes) {
    case 1: return for_ids<Put<std::uint8_t>::With, ScatterFn>(ids);
    case 2: return for_ids<Put<std::uint16_t>::With, ScatterFn>(ids);
    case 4: return for_ids<Put<std::uint32_t>::With, ScatterFn>(ids);
    case 8: return for_ids<Put<std::uint64_t>::With, ScatterFn>(ids);
    default: return nullptr;
  }
}

template <Element T>
ScatterFn scatter_add(DType ids) {
  return for_ids<Scatter<Add, Compute<T>, T>::template With, ScatterFn>(ids);
}
#define WICK_SCATTER_ADD(T) template ScatterFn scatter_add<T>(DType);
WICK_FOR_ELEMENTS(WICK_SCATTER_ADD)
#undef WICK_SCATTER_ADD

}  // namespace wick::kernels
