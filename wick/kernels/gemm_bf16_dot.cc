// SPDX-License-Identifier: Apache-2.0
// bf16 by vdpbf16ps: the tiles of the f32 kernel, each step of which adds two products.
#include <cstring>

#include "wick/kernels/gemm_bf16.h"
#include "wick/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wick/kernels/gemm_bf16_dot.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#if HWY_TARGET == HWY_AVX3

// Highway 1.0.3 has no set with AVX512_BF16. This one is its AVX3 under another name, with one more
// feature for the compiler; the other name keeps the templates below apart from those of AVX3.
namespace hwy::N_AVX3_BF16 {
using namespace hwy::N_AVX3;  // NOLINT
}
#undef HWY_NAMESPACE
#define HWY_NAMESPACE N_AVX3_BF16
#undef HWY_TARGET_STR
#define HWY_TARGET_STR HWY_TARGET_STR_AVX3 ",avx512bf16"

#endif

#include "wick/kernels/gemm_bf16_rows-inl.h"
#include "wick/kernels/gemm_pack-inl.h"
#include "wick/kernels/gemm_pairs-inl.h"
#include "wick/kernels/gemm_tile-inl.h"

#if HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace wick::kernels {
namespace HWY_NAMESPACE {
namespace {

/// c + a[1] * b[1], then + a[0] * b[0], each rounded to nearest even, subnormals read and written
/// as zero whatever MXCSR says. Panels hold bf16 pairs in the place of an f32.
struct AddPairs {
  template <class V>
  static HWY_INLINE V Step(V a, V b, V c) {
    return V{_mm512_dpbf16_ps(c.raw, reinterpret_cast<__m512bh>(a.raw),
                              reinterpret_cast<__m512bh>(b.raw))};
  }
};

/// Chunks of 384, in each pair after pair.
struct RowsDot {
  static constexpr Index kChunk = 384;
  static constexpr bool kFlush = false;
  /// Columns change places: see RowsSort.
  static HWY_INLINE void Read(__m512i even, __m512i odd, __m512i* b) {
    b[0] = _mm512_unpacklo_epi16(even, odd);
    b[1] = _mm512_unpackhi_epi16(even, odd);
  }
  /// a: pairs.
  static HWY_INLINE void Add(__m512i a, const __m512i* b, __m512* sums) {
    const auto pair = reinterpret_cast<__m512bh>(a);
    sums[0] = _mm512_dpbf16_ps(sums[0], pair, reinterpret_cast<__m512bh>(b[0]));
    sums[1] = _mm512_dpbf16_ps(sums[1], pair, reinterpret_cast<__m512bh>(b[1]));
  }
  static constexpr std::size_t kSums = 2;
  static HWY_INLINE void Start(const f32* chunk, __m512* sums) {
    sums[0] = _mm512_loadu_ps(chunk);
    sums[1] = _mm512_loadu_ps(chunk + 16);
  }
  static HWY_INLINE void Stop(const __m512* sums, f32* chunk) {
    _mm512_storeu_ps(chunk, sums[0]);
    _mm512_storeu_ps(chunk + 16, sums[1]);
  }
  /// The place of column c.
  static constexpr int Place(int c) { return c / 8 * 4 + c % 4 + (c % 8 < 4 ? 0 : 16); }
};

void Pack(const bf16* src, Index lane, Index step, Index lanes, Index width, Index k, f32* out) {
  GemmPackPairs(src, lane, step, lanes, width, k, out);
}

/// Pairs lie in memory as the panels want them.
void PackRows(const bf16* src, Index row, Index rows, Index k, f32* out) {
  for (Index i = 0; i < rows; ++i, src += row, out += kGemmRow<f32>) {
    std::memcpy(out, src, static_cast<std::size_t>(k) * sizeof(bf16));
    if (k % 2 != 0) std::memset(reinterpret_cast<bf16*>(out) + k, 0, sizeof(bf16));
  }
}

Gemm<bf16> Table() {
  Gemm<bf16> table{};
  table.mr = Index{kGemmRows<f32>};
  table.nr = GemmColumns<f32>();
  table.depth = 2;
  table.block = &GemmBlockRun<f32, AddPairs>;
  GemmFill(table);
  table.pack = &Pack;
  table.pack_a = &Pack;
  table.pack_rows = &PackRows;
  return table;
}

}  // namespace
}  // namespace HWY_NAMESPACE

Gemm<bf16> gemm_bf16_dot() { return HWY_NAMESPACE::Table(); }
Bf16RowsFn bf16_rows_dot() { return &HWY_NAMESPACE::RowsRun<HWY_NAMESPACE::RowsDot>; }

}  // namespace wick::kernels
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE && (HWY_TARGETS & HWY_AVX3) == 0
namespace wick::kernels {
Gemm<bf16> gemm_bf16_dot() { return {}; }
Bf16RowsFn bf16_rows_dot() { return nullptr; }
}  // namespace wick::kernels
#endif
