// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "wick/base/error.h"
#include "wick/base/str.h"

namespace wick::cli {

/// A file that a command will write at its end. It is opened at once, so that a bad path fails
/// before the work and not after. "-" is the standard output; "" is nothing.
class OutputFile {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)) {
    if (path_.empty() || path_ == "-") return;
    file_.open(path_, std::ios::binary);
    check();
  }

  bool is_stdout() const { return path_ == "-"; }
  explicit operator bool() const { return !path_.empty(); }

  void write(std::string_view text) {
    if (is_stdout()) {
      std::fwrite(text.data(), 1, text.size(), stdout);
    } else if (*this) {
      file_.write(text.data(), static_cast<std::streamsize>(text.size()));
      file_.flush();
      check();
    }
  }

 private:
  void check() const {
    if (!file_) throw Error(ErrorKind::io, "", str("cannot write ", path_));
  }

  std::string path_;
  std::ofstream file_;
};

}  // namespace wick::cli
