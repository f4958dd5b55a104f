// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wick/core/dtype.h"
#include "wick/tensor.h"

namespace wick {

/// How the bytes of a file come into memory.
enum class FileMode : std::uint8_t {
  /// Mapped: nothing is read until it is used, and processes share the pages. The file must stay as
  /// it is while a tensor sees it: bytes that change on disk change in the tensors, and touching a
  /// page behind the end of a file that became shorter kills the process (SIGBUS). A file that is
  /// replaced by rename, as save_safetensors does, is safe.
  map,
  /// Read into memory at once: safe whatever happens to the file afterwards.
  read,
};

/// A file in the safetensors format, version 0.4 and its later dtypes. Opening checks all of it
/// against the size of the file before anything is used: the header's length (at most 100 MB), its
/// JSON, duplicate names, shapes, sizes of dtypes, and that the tensors' bytes follow one another
/// without gap, overlap or rest. A cheap handle; copies share the file. Any number of threads may
/// read from one.
class WICK_API SafeTensors {
 public:
  struct Info {
    std::string format_dtype;    ///< as the file spells it, e.g. "BF16"
    std::optional<DType> dtype;  ///< empty where wick has none: "I8", "BOOL", "U64", unknown names
    std::vector<Index> shape;    ///< of any rank; tensors go up to kMaxRank
    Index bytes = 0;
  };

  /// An `io` Error where the file cannot be read, a `format` Error that says what is wrong with it.
  static SafeTensors open(const std::filesystem::path& path, FileMode mode = FileMode::map);
  /// The same for a file's bytes in memory, which `owner` keeps alive. `name` is for messages.
  static SafeTensors from_memory(std::span<const std::byte> file, std::shared_ptr<const void> owner,
                                 std::string_view name = "memory");

  /// All names, in the order of the tensors' bytes.
  const std::vector<std::string>& names() const;
  /// The text entries of the header's "__metadata__", which is never a tensor.
  const std::map<std::string, std::string>& metadata() const;
  bool contains(std::string_view name) const;
  /// An `argument` Error for a name that is not there, here and below.
  const Info& info(std::string_view name) const;
  /// The tensor's bytes as they are in the file; valid while this object or a copy of it lives.
  std::span<const std::byte> bytes(std::string_view name) const;

  /// The tensor, without a copy where its bytes are aligned to its dtype, and read-only. It keeps
  /// the file open. A dtype that wick lacks is an `unsupported_dtype` Error, more than kMaxRank
  /// dims are a `shape` Error.
  Tensor tensor(std::string_view name) const;
  /// Entries [begin, end) of the first dim, or of the second, seen the same way: a share of a
  /// weight for one of several processes. An `index` Error out of range.
  Tensor rows(std::string_view name, Index begin, Index end) const;
  Tensor columns(std::string_view name, Index begin, Index end) const;

 private:
  struct State;
  struct Entry;
  explicit SafeTensors(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const Entry& entry(std::string_view name) const;
  Tensor part(std::string_view name, int dim, Index begin, Index end) const;

  std::shared_ptr<const State> state_;
};

/// Writes tensors of any strides as a safetensors file. The bytes go to a new file beside `path`
/// that takes its name once it is complete, so `path` is never half-written and files that are
/// mapped from it stay valid. Each tensor begins at a multiple of its element size, the first at
/// one of 64 bytes. An `io` Error where writing fails; an `argument` Error for the name
/// "__metadata__" or one that is no UTF-8, and for packed elements that do not fill whole bytes.
WICK_API void save_safetensors(const std::filesystem::path& path,
                               const std::map<std::string, Tensor>& tensors,
                               const std::map<std::string, std::string>& metadata = {});

}  // namespace wick
