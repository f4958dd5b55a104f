// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wick/base/export.h"

namespace wick {

/// Who multiplies matrices: wick's own engine (the default), or a BLAS of the system, opened when
/// it is first needed. What a BLAS cannot do (other dtypes than f32, f64 and perhaps f16, strides
/// that are no leading dimension, sizes beyond 32 bits) runs on wick's engine. The promises about
/// bits hold for wick's engine alone.
enum class Blas : std::uint8_t { wick, openblas, mkl, accelerate };

/// The name of an engine: "wick", "openblas", "mkl", "accelerate".
WICK_API std::string_view name(Blas engine);

/// The engine in force: the last set_blas, else WICK_BLAS_ENGINE, else Blas::wick. An `environment`
/// Error if the variable names no engine, or one that is not there.
WICK_API Blas blas();

/// Puts an engine in force for the process. An `argument` Error if it was not built in, or if its
/// library is not found on this machine.
WICK_API void set_blas(Blas engine);

/// What is known of an engine on this machine.
struct BlasInfo {
  Blas engine = Blas::wick;
  bool built = false;    ///< part of this build (the CMake option WICK_BLAS)
  bool found = false;    ///< its library opens and has what is needed
  bool has_f16 = false;  ///< multiplies f16 itself
  std::string path;      ///< of the library
  std::string version;   ///< in its own words
  std::string note;      ///< why it was not found
};

/// All engines, wick first. Opens the libraries. They are searched in the directories of
/// WICK_BLAS_PATH (separated by colons), then where the system's loader looks.
WICK_API std::vector<BlasInfo> blas_engines();

}  // namespace wick
