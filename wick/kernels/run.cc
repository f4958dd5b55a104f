// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/run.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace wick::kernels {
namespace {

using Byte = unsigned char;

// Below this length runs are joined: a call per run would cost more than gathering.
constexpr Index kShortRun = 32;

// `rows` runs of n elements between a dense buffer and strided memory. Elements are moved as bytes.
template <int kBytes, bool kToBuffer>
void move(Byte* buffer, Byte* memory, Index rows, Index n, Index inner, Index outer) {
  for (Index r = 0; r < rows; ++r) {
    Byte* m = memory + r * outer * kBytes;
    for (Index i = 0; i < n; ++i) {
      if constexpr (kToBuffer) {
        std::memcpy(buffer, m, kBytes);
      } else {
        std::memcpy(m, buffer, kBytes);
      }
      buffer += kBytes;
      m += inner * kBytes;
    }
  }
}

template <bool kToBuffer>
void move(int bytes, Byte* buffer, Byte* memory, Index rows, Index n, Index inner, Index outer) {
  if (inner == 1 && rows == 1) {
    const auto size = static_cast<std::size_t>(n * bytes);
    std::memcpy(kToBuffer ? buffer : memory, kToBuffer ? memory : buffer, size);
    return;
  }
  switch (bytes) {
    case 1: return move<1, kToBuffer>(buffer, memory, rows, n, inner, outer);
    case 2: return move<2, kToBuffer>(buffer, memory, rows, n, inner, outer);
    case 4: return move<4, kToBuffer>(buffer, memory, rows, n, inner, outer);
    default: return move<8, kToBuffer>(buffer, memory, rows, n, inner, outer);
  }
}

template <std::size_t N>
class Runner {
 public:
  Runner(const Loop2<N>& loop, const std::array<const void*, N>& p, const std::array<int, N>& bytes,
         PieceFn<N> f, const void* context)
      : loop_(loop), bytes_(bytes), f_(f), context_(context) {
    for (std::size_t k = 0; k < N; ++k)
      p_[k] = const_cast<Byte*>(static_cast<const Byte*>(p[k]));  // inputs are only read
    piece_.step.fill(1);
  }

  // One run after the other.
  void long_runs() {
    bool whole = true;
    for (std::size_t k = 0; k < N; ++k) {
      const Index s = loop_.inner[k];
      piece_.step[k] = k > 0 && s == 0 ? 0 : 1;
      whole &= s == 1 || piece_.step[k] == 0;
    }
    for (Index r = 0; r < loop_.m; ++r) {
      for (std::size_t k = 0; k < N; ++k)
        if (piece_.step[k] == 0 && (r == 0 || loop_.outer[k] != 0)) repeat(k, at(k, r, 0));
      const Index size = whole ? loop_.n : static_cast<Index>(kPiece);
      for (Index i = 0; i < loop_.n; i += size) {
        const Index n = std::min(size, loop_.n - i);
        for (std::size_t k = 0; k < N; ++k) {
          if (piece_.step[k] == 0) continue;
          Byte* memory = at(k, r, i);
          piece_.p[k] = loop_.inner[k] == 1 ? memory : buffer_[k];
          if (k > 0 && piece_.p[k] != memory)
            move<true>(bytes_[k], buffer_[k], memory, 1, n, loop_.inner[k], 0);
        }
        call(n);
        if (piece_.p[0] == buffer_[0])
          move<false>(bytes_[0], buffer_[0], at(0, r, i), 1, n, loop_.inner[0], 0);
      }
    }
  }

  // Several runs at once.
  void short_runs() {
    const Index rows = static_cast<Index>(kPiece) / loop_.n;
    std::array<bool, N> dense{};
    bool all_dense = true;
    for (std::size_t k = 0; k < N; ++k) {
      dense[k] = loop_.inner[k] == 1 && loop_.outer[k] == loop_.n;
      const bool constant = k > 0 && loop_.inner[k] == 0 && loop_.outer[k] == 0;
      piece_.step[k] = constant ? 0 : 1;
      if (constant) repeat(k, p_[k]);
      all_dense &= dense[k] || constant;
    }
    const Index step = all_dense ? loop_.m : std::min(rows, loop_.m);
    for (Index r = 0; r < loop_.m; r += step) {
      const Index count = std::min(step, loop_.m - r);
      for (std::size_t k = 0; k < N; ++k) {
        if (piece_.step[k] == 0) continue;
        piece_.p[k] = dense[k] ? at(k, r, 0) : buffer_[k];
        // The same runs over and over need be gathered once.
        if (k == 0 || dense[k] || (r > 0 && loop_.outer[k] == 0)) continue;
        move<true>(bytes_[k], buffer_[k], at(k, r, 0), count, loop_.n, loop_.inner[k],
                   loop_.outer[k]);
      }
      call(count * loop_.n);
      if (!dense[0])
        move<false>(bytes_[0], buffer_[0], at(0, r, 0), count, loop_.n, loop_.inner[0],
                    loop_.outer[0]);
    }
  }

 private:
  Byte* at(std::size_t k, Index row, Index i) const {
    return p_[k] + (row * loop_.outer[k] + i * loop_.inner[k]) * bytes_[k];
  }

  void repeat(std::size_t k, const Byte* element) {
    const auto size = static_cast<std::size_t>(bytes_[k]);
    std::memcpy(buffer_[k], element, size);
    for (std::size_t have = size; have < size * kRepeat; have *= 2)
      std::memcpy(buffer_[k] + have, buffer_[k], have);
    piece_.p[k] = buffer_[k];
  }

  void call(Index n) {
    piece_.n = static_cast<std::size_t>(n);
    f_(piece_, context_);
  }

  Loop2<N> loop_;
  std::array<int, N> bytes_;
  PieceFn<N> f_;
  const void* context_;
  std::array<Byte*, N> p_{};
  Piece<N> piece_{};
  alignas(64) Byte buffer_[N][kPiece * 8];  // only filled where needed
};

}  // namespace

template <std::size_t N>
void run(const Loop2<N>& loop, const std::array<const void*, N>& p, const std::array<int, N>& bytes,
         PieceFn<N> f, const void* context) {
  if (loop.n <= 0 || loop.m <= 0) return;
  Loop2<N> l = loop;
  if (l.n == 1) {  // a column is a run of its own
    std::swap(l.n, l.m);
    std::swap(l.inner, l.outer);
  }
  Runner<N> runner(l, p, bytes, f, context);
  if (l.n < kShortRun && l.m > 1) {
    runner.short_runs();
  } else {
    runner.long_runs();
  }
}

template void run(const Loop2<2>&, const std::array<const void*, 2>&, const std::array<int, 2>&,
                  PieceFn<2>, const void*);
template void run(const Loop2<3>&, const std::array<const void*, 3>&, const std::array<int, 3>&,
                  PieceFn<3>, const void*);
template void run(const Loop2<4>&, const std::array<const void*, 4>&, const std::array<int, 4>&,
                  PieceFn<4>, const void*);

}  // namespace wick::kernels
