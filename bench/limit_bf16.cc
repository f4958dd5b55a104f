// SPDX-License-Identifier: Apache-2.0
#include "bench/limit_loops.h"

#include <string_view>

#include "wick/core/isa.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace wick::bench {

#if defined(__x86_64__)
namespace {

// 32 products and as many sums in each instruction; sixteen independent sums: two
// instructions a cycle of latency 6 need twelve and then some.
[[gnu::target("avx512f,avx512bf16")]] double full(std::int64_t rounds) {
  const __m512bh a = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5F), _mm512_set1_ps(0.25F));
  const __m512bh b = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1e-3F), _mm512_set1_ps(-1e-3F));
  // All different, or the compiler would work out one for all.
  __m512 s0 = _mm512_set1_ps(1), s1 = _mm512_set1_ps(2), s2 = _mm512_set1_ps(3);
  __m512 s3 = _mm512_set1_ps(4), s4 = _mm512_set1_ps(5), s5 = _mm512_set1_ps(6);
  __m512 s6 = _mm512_set1_ps(7), s7 = _mm512_set1_ps(8), s8 = _mm512_set1_ps(9);
  __m512 s9 = _mm512_set1_ps(10), s10 = _mm512_set1_ps(11), s11 = _mm512_set1_ps(12);
  __m512 s12 = _mm512_set1_ps(13), s13 = _mm512_set1_ps(14), s14 = _mm512_set1_ps(15);
  __m512 s15 = _mm512_set1_ps(16);
  for (std::int64_t i = 0; i < rounds; ++i) {
    s0 = _mm512_dpbf16_ps(s0, a, b);
    s1 = _mm512_dpbf16_ps(s1, a, b);
    s2 = _mm512_dpbf16_ps(s2, a, b);
    s3 = _mm512_dpbf16_ps(s3, a, b);
    s4 = _mm512_dpbf16_ps(s4, a, b);
    s5 = _mm512_dpbf16_ps(s5, a, b);
    s6 = _mm512_dpbf16_ps(s6, a, b);
    s7 = _mm512_dpbf16_ps(s7, a, b);
    s8 = _mm512_dpbf16_ps(s8, a, b);
    s9 = _mm512_dpbf16_ps(s9, a, b);
    s10 = _mm512_dpbf16_ps(s10, a, b);
    s11 = _mm512_dpbf16_ps(s11, a, b);
    s12 = _mm512_dpbf16_ps(s12, a, b);
    s13 = _mm512_dpbf16_ps(s13, a, b);
    s14 = _mm512_dpbf16_ps(s14, a, b);
    s15 = _mm512_dpbf16_ps(s15, a, b);
  }
  s0 = _mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3));
  s4 = _mm512_add_ps(_mm512_add_ps(s4, s5), _mm512_add_ps(s6, s7));
  s8 = _mm512_add_ps(_mm512_add_ps(s8, s9), _mm512_add_ps(s10, s11));
  s12 = _mm512_add_ps(_mm512_add_ps(s12, s13), _mm512_add_ps(s14, s15));
  alignas(64) float sums[16];  // (the reducing intrinsic warns within g++ 12's own header)
  _mm512_store_ps(sums, _mm512_add_ps(_mm512_add_ps(s0, s4), _mm512_add_ps(s8, s12)));
  return static_cast<double>(sums[0]);
}

// 16 x 16 sums of 32 products for each instruction, on four tiles of sums that do not wait for each
// other.
[[gnu::target("amx-tile,amx-bf16")]] double tiles(std::int64_t rounds) {
  struct alignas(64) Config {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } config;
  alignas(64) float sums[16 * 16] = {};
  alignas(64) std::uint16_t pairs[16 * 32];
  for (std::uint16_t& x : pairs) x = 0x3A80;  // 2^-10 in bf16
  // (g++ 12 takes ldtilecfg for reading 8 bytes, and tile loads for reading nothing.)
  asm volatile("" : : "r"(&config), "r"(pairs) : "memory");
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, pairs, 64);
  _tile_loadd(5, pairs, 64);
  _tile_loadd(6, pairs, 64);
  _tile_loadd(7, pairs, 64);
  for (std::int64_t i = 0; i < rounds; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  double sum = 0;
  const auto add = [&] { sum += static_cast<double>(sums[17]); };
  _tile_stored(0, sums, 64);
  add();
  _tile_stored(1, sums, 64);
  add();
  _tile_stored(2, sums, 64);
  add();
  _tile_stored(3, sums, 64);
  add();
  _tile_release();
  return sum;
}

}  // namespace

void native_bf16_loops(Fma (&loops)[2]) {
  const std::string_view isa = isa_chosen();  // knows what the system has switched on
  const bool tile_unit = isa == "amx_bf16";
  if (tile_unit || isa == "avx512_bf16") loops[0] = {full, 2.0 * 16 * 32};
  if (tile_unit) loops[1] = {tiles, 4 * 2.0 * 16 * 16 * 32};
}
#else
void native_bf16_loops(Fma (&)[2]) {}
#endif

}  // namespace wick::bench
