// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace wick::testing {

/// The root of the source tree.
inline std::filesystem::path source_root() { return WICK_SOURCE_DIR; }

/// A file of tests/data.
inline std::filesystem::path data_file(std::string_view name) {
  return source_root() / "tests" / "data" / name;
}

/// Where scripts/fetch-model puts the sentence model. Tests that need it skip where it is absent.
inline std::filesystem::path model_folder() {
  const char* models = std::getenv("WICK_MODELS");
  const auto parent = models != nullptr && *models != '\0' ? std::filesystem::path(models)
                                                           : source_root() / "build" / "models";
  return parent / "all-MiniLM-L6-v2";
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A folder that is removed at the end of the scope.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "wick-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace wick::testing

/// Ends a test with a clear line where the sentence model was not fetched.
#define WICK_NEED_MODEL()                                                            \
  if (!std::filesystem::exists(wick::testing::model_folder() / "model.safetensors")) \
  GTEST_SKIP() << "no model in " << wick::testing::model_folder() << ": run scripts/fetch-model"
