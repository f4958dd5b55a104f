// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace wick::cli {

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::show(double done, std::string_view what) {
  if (!terminal_) return;
  constexpr int kWidth = 30;
  const int full = static_cast<int>(std::clamp(done, 0.0, 1.0) * kWidth);
  const std::string bar = std::string(static_cast<std::size_t>(full), '#') +
                          std::string(static_cast<std::size_t>(kWidth - full), '.');
  std::fprintf(stderr, "\r\x1b[K[%s] %3.0f %% %.*s", bar.c_str(), 100 * done,
               static_cast<int>(std::min<std::size_t>(what.size(), 40)), what.data());
  std::fflush(stderr);
  visible_ = true;
}

void Progress::wipe() {
  if (!visible_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  visible_ = false;
}

}  // namespace wick::cli
