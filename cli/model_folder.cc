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

fs::path find_model() {
  std::vector<fs::path> places;
  if (const auto models = env_text("WICK_MODELS")) {
    places.emplace_back(*models);
  } else {
    std::error_code none;
    places.emplace_back("build/models");
    const fs::path program = fs::read_symlink("/proc/self/exe", none);
    if (!none) places.push_back(program.parent_path().parent_path() / "models");
  }
  for (const fs::path& place : places)
    if (fs::exists(place / kModel / "config.json")) return place / kModel;
  throw Error(ErrorKind::io, "embed",
              str("wanted a model in ", (places.front() / kModel).string(),
                  ", found none (run scripts/fetch-model, or give --model DIR)"));
}

}  // namespace wick::cli
