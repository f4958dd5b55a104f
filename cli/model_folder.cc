// SPDX-License-Identifier: Apache-2.0
#include "cli/model_folder.h"

#include <string_view>
#include <vector>

#include "wick/base/env.h"
#include "wick/base/error.h"
#include "wick/base/str.h"

namespace wick::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModel = "all-MiniLM-L6-v2";

}  // namespace

