// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace wick::cli {

/// The folder that scripts/fetch-model fills: in $WICK_MODELS, else in the build tree that this
/// program or the working directory belongs to. An `io` Error if there is none.
std::filesystem::path find_model();

}  // namespace wick::cli
