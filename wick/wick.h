// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything public. Programs that care about build times include the parts.

#include "wick/arrange.h"                    // IWYU pragma: export
#include "wick/conv.h"                       // IWYU pragma: export
#include "wick/custom_op.h"                  // IWYU pragma: export
#include "wick/einsum.h"                     // IWYU pragma: export
#include "wick/gemm.h"                       // IWYU pragma: export
#include "wick/io.h"                         // IWYU pragma: export
#include "wick/linear.h"                     // IWYU pragma: export
#include "wick/nn.h"                         // IWYU pragma: export
#include "wick/parallel/executor.h"          // IWYU pragma: export
#include "wick/parallel/flush_subnormals.h"  // IWYU pragma: export
#include "wick/random.h"                     // IWYU pragma: export
#include "wick/tensor.h"                     // IWYU pragma: export
