// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "wick/core/storage.h"
#include "wick/io.h"

namespace wick {

/// The bytes of a file, read-only, for as long as the object lives. Immutable: threads may share
/// it.
class MappedFile {
 public:
  /// An `io` Error with the path and the system's reason where the file is missing, cannot be read
  /// or is no regular file; an `out_of_memory` Error where FileMode::read does not fit. What
  /// FileMode::map means for a file that shrinks is said there.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path, FileMode mode);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  MappedFile() = default;

  std::span<const std::byte> bytes_;
  bool mapped_ = false;
  Buffer<u8> copy_;  // FileMode::read
};

}  // namespace wick
