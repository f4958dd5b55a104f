// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace wick::cli {

/// A bar on the standard error, where that is a terminal; nothing elsewhere. It is wiped when it
/// dies, and by wipe() before other lines are printed.
class Progress {
 public:
  Progress();
  ~Progress() { wipe(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` from 0 to 1, and what is under way.
  void show(double done, std::string_view what);
  void wipe();

 private:
  bool terminal_;
  bool visible_ = false;
};

}  // namespace wick::cli
