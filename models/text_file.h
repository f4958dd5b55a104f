// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "wick/base/checked.h"

namespace wick::models {

/// All bytes of a small file. An `io` Error with the path where it cannot be read, a `format` Error
/// where it has more than `max_bytes`; both name `op`.
std::string read_text_file(const std::filesystem::path& path, Index max_bytes, std::string_view op);

}  // namespace wick::models
