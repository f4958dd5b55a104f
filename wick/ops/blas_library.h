// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wick/blas.h"

namespace wick {

// The functions of a BLAS that wick calls: the C interface, column-major. One table for every
// engine; what an engine does not have is null.

/// Values of the C interface's enums.
inline constexpr int kBlasColumnMajor = 102, kBlasPlain = 111, kBlasTransposed = 112;

template <class T>
using BlasGemmFn = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, T alpha,
                            const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);

struct BlasTable {
  BlasGemmFn<float> sgemm = nullptr;
  BlasGemmFn<double> dgemm = nullptr;
  BlasGemmFn<unsigned short> hgemm = nullptr;  // f16 as bits
  void (*set_threads)(int threads) = nullptr;
  BlasInfo info;
};

/// The engine's table; its library is opened by the first call. info.found tells whether it may be
/// used. Engines other than wick's own only.
const BlasTable& blas_table(Blas engine);

}  // namespace wick
