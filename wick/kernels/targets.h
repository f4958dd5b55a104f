// SPDX-License-Identifier: Apache-2.0
#pragma once

// The instruction sets that kernels are compiled for. Every kernel file includes this first, before
// hwy/foreach_target.h: Highway reads these macros and picks the best set at run time.
//
//   x86-64   AVX3_DL (VNNI and friends), AVX3 (Skylake-X AVX-512), AVX2 with FMA, the baseline
//   arm64    NEON
//   wasm32   the baseline alone: the vectors of Highway 1.0.3 lack f64 there
//
// The baseline is what the compiler may use anywhere, and it cannot be switched off: SSE2 where
// Highway knows that target, else EMU128 (plain loops over 16 bytes, which compilers turn into
// SSE2). EMU128 has every operation, so kernels need no case for one-lane vectors; its MulAdd is
// not fused, as on every set without FMA. SSSE3 and SSE4 are left out: they cost a fifth copy of
// all code for processors that have no AVX2.
//
// WICK_TARGETS_AVX2 (AVX2 and the baseline) and WICK_TARGETS_BASELINE come from the build option
// WICK_KERNEL_TARGETS; they make builds faster where speed of the result does not matter.
#define WICK_TARGETS_NEVER                                                               \
  (HWY_SCALAR | HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | \
   HWY_WASM | HWY_WASM_EMU256)

#if defined(WICK_TARGETS_BASELINE)
#define HWY_DISABLED_TARGETS (WICK_TARGETS_NEVER | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL)
#elif defined(WICK_TARGETS_AVX2)
#define HWY_DISABLED_TARGETS (WICK_TARGETS_NEVER | HWY_AVX3 | HWY_AVX3_DL)
#else
#define HWY_DISABLED_TARGETS WICK_TARGETS_NEVER
#define HWY_WANT_AVX3_DL
#endif

// Highway avoids EMU128 with g++ before 12.3, because of GCC bug 106322: the vectorizer gets the
// high half of an integer product wrong. It would fall back to one-lane vectors. No kernel of ours
// takes such high halves in this target, and the tests run every target.
#define HWY_BROKEN_EMU128 0
