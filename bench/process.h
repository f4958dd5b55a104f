// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wick::bench {

/// Another program, spoken with by its standard input and output. Ends with the object. Where
/// something fails, an `io` Error says what; it names the program.
class Process {
 public:
  struct Options {
    std::vector<std::string> drop = {};  ///< variables that it does not inherit
    std::vector<std::string> set = {};   ///< "NAME=VALUE" that it has besides, or instead
    std::vector<int> cpus = {};          ///< where it may run; empty: where the caller may
    bool errors = false;                 ///< its standard error is ours; else it is dropped
  };

  /// Starts arguments[0], looked up in PATH if it has no slash.
  Process(const std::vector<std::string>& arguments, const Options& options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void write_line(std::string_view line);
  /// The next line without its end, nothing if it closed its output.
  std::optional<std::string> read_line(double seconds);
  void read_bytes(void* to, std::size_t count, double seconds);

 private:
  [[noreturn]] void fail(std::string_view what) const;
  /// More of its output into pending_; false at the end.
  bool read_more(double until);

  std::string name_;
  int process_ = -1;
  int socket_ = -1;  ///< both its input and its output: writing to one that died is no signal
  std::string pending_;
};

/// The first of these paths that exists: each as it stands, then seen from the folders above this
/// program; the file of a build tree that either belongs to. Nothing if none does.
std::optional<std::string> find_nearby(std::string_view path);

}  // namespace wick::bench
