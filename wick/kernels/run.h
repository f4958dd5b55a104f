// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "wick/core/nd_iter.h"

namespace wick::kernels {

/// How many elements a repeated operand holds: the most lanes any vector has (64 bytes of u8).
inline constexpr std::size_t kRepeat = 64;

/// The most elements of a piece that had to be gathered; such a piece fits the L1 cache.
inline constexpr std::size_t kPiece = 512;

/// A contiguous part of an elementwise loop: n elements, operand i at p[i], operand 0 the output.
/// step[i] is 1, or 0 for an input that is the same element throughout; kRepeat copies of it lie at
/// p[i], so that code for whole vectors reads any operand at p[i] + k * step[i].
template <std::size_t N>
struct Piece {
  std::array<void*, N> p;
  std::array<std::size_t, N> step;
  std::size_t n;
};

/// Computes a piece. `context` is what was given to run(): an op's parameters.
template <std::size_t N>
using PieceFn = void (*)(const Piece<N>& piece, const void* context);

/// Cuts a two-dimensional loop into pieces and calls f for each. Operand i has elements of bytes[i]
/// (1, 2, 4 or 8) bytes at p[i]. Runs of stride 1 and 0 are passed on as they are; others are
/// gathered into a buffer (the output: scattered from one); many short runs are joined. f is the
/// only code that computes, so results do not depend on strides.
template <std::size_t N>
void run(const Loop2<N>& loop, const std::array<const void*, N>& p, const std::array<int, N>& bytes,
         PieceFn<N> f, const void* context);

}  // namespace wick::kernels
