// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// The loops that show what a core can do at most. One thread, no allocation, in the instruction set
// that kernels use.

namespace wick::bench {

/// Runs independent multiply-adds, `rounds` times around the loop; returns a number that depends on
/// all of them, so that none can be left out.
using FmaLoop = double (*)(std::int64_t rounds);

/// One way to write a loop of multiply-adds.
struct Fma {
  FmaLoop loop;
  double flops;  ///< operations of one round, two for each multiply-add
};

/// Reads n doubles / copies them; the arrays are 64-byte aligned and n is a multiple of 512.
using ReadLoop = double (*)(const double* x, std::size_t n);
using CopyLoop = void (*)(double* y, const double* x, std::size_t n);

/// The ways tried on this machine; the fastest is the limit. Unused places are empty.
struct LimitLoops {
  Fma f32[2];  ///< full vectors; half as wide
  Fma f64[2];
  Fma bf16[2];       ///< native dot products, of vectors and of tiles; empty where there are none
  ReadLoop read[3];  ///< as it comes; with prefetches; in eight places at once
  CopyLoop copy[2];  ///< ordinary stores; stores past the caches
};

/// The loops for the instruction set that is in force now.
LimitLoops limit_loops();

/// bf16 pairs multiplied and added in f32 by instruction, as isa_chosen() allows; else empty loops.
void native_bf16_loops(Fma (&loops)[2]);

}  // namespace wick::bench
