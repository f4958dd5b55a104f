// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wick/base/export.h"

namespace wick {

/// What went wrong, for callers that branch on it (and for Python's exception types).
enum class ErrorKind : std::uint8_t {
  shape,              ///< shapes do not fit each other or the op
  dtype,              ///< two dtypes differ that must be equal
  unsupported_dtype,  ///< the op does not exist for this dtype
  index,              ///< an axis or an index is out of range
  argument,           ///< any other argument that makes no sense
  arithmetic,         ///< integer division by zero and its kin
  overflow,           ///< a size does not fit into 64 bits
  out_of_memory,      ///< the memory limit, or the system, said no
  read_only,          ///< a write into memory that was given as read-only
  overlap,            ///< output and input overlap in part
  environment,        ///< a WICK_* variable has a bad value
  io,                 ///< a file could not be opened, read or written
  format,             ///< a file's contents are not what its format says
  internal,           ///< a mistake of ours
};

/// The name of a kind, e.g. "unsupported_dtype".
WICK_API std::string_view name(ErrorKind kind);

/// The one exception type of the library. what() reads `op: wanted, got`, then one line for each
/// context, innermost first. Cheap to copy.
class WICK_API Error : public std::exception {
 public:
  /// A tensor that took part: its dtype's name and its shape.
  struct Operand {
    std::string dtype;
    std::vector<std::int64_t> shape;
  };

  /// `op` may be empty where no op is concerned. With WICK_BACKTRACE=1 in the environment the call
  /// stack is appended to what().
  Error(ErrorKind kind, std::string_view op, std::string_view message);

  ErrorKind kind() const noexcept;
  const std::string& op() const noexcept;
  const std::string& message() const noexcept;  ///< without op and contexts
  const std::vector<Operand>& operands() const noexcept;
  const std::vector<std::string>& contexts() const noexcept;
  const char* what() const noexcept override;

  /// Adds a tensor to operands().
  Error& operand(std::string_view dtype, std::vector<std::int64_t> shape);
  /// Adds an outer circumstance, e.g. "while loading model.safetensors".
  Error& context(std::string_view what);

 private:
  struct State;
  State& own();  // copy on write: copies of an exception share their state
  std::shared_ptr<State> state_;
};

/// Runs f and adds `what()` as a context to an Error that leaves it.
template <class F, class What>
decltype(auto) with_error_context(What&& what, F&& f) {
  try {
    return f();
  } catch (Error& e) {
    e.context(what());
    throw;
  }
}

}  // namespace wick
