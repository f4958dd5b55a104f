// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wick/base/checked.h"

namespace wick {

/// The value of an environment variable; empty when it is unset or "".
std::optional<std::string> env_text(const char* variable);

/// A variable as a whole number in [low, high]; anything else is an `environment` Error that names
/// the variable, its value and the range.
std::optional<Index> env_index(const char* variable, Index low, Index high);

/// A variable as a number of bytes: digits with an optional suffix K, M, G or T (powers of 1024,
/// "KiB" and "kb" spellings accepted). Anything else is an `environment` Error.
std::optional<Index> env_bytes(const char* variable);

}  // namespace wick
