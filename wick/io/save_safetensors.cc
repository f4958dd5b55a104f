// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "wick/io.h"
#include "wick/io/safetensors_header.h"

namespace wick {
namespace {

constexpr std::size_t kAlignment = 64;  // of the first tensor in the file

Error bad(std::string_view message) { return {ErrorKind::argument, "save_safetensors", message}; }

std::string json_text(std::string_view text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw bad(str("wanted UTF-8, got ", shown(text)));
  }
}

struct Item {
  std::string_view name;
  const Tensor* tensor;
  Index bytes;
};

Index byte_count(std::string_view name, const Tensor& tensor) {
  const Index n = tensor.element_count();
  const DType t = tensor.dtype();
  if (n % 4 * bits(t) % 8 != 0)
    throw bad(str("tensor ", shown(name), " has ", n, " elements of ", wick::name(t),
                  ", which do not fill whole bytes"));
  return byte_size(t, n, "save_safetensors");
}

std::string header_of(const std::vector<Item>& items,
                      const std::map<std::string, std::string>& metadata) {
  std::string out = "{";
  const auto next = [&](std::string_view key) {
    if (out.size() > 1) out += ',';
    out += json_text(key) + ":{";
  };
  if (!metadata.empty()) {
    next("__metadata__");
    std::string_view comma;
    for (const auto& [key, value] : metadata) {
      out += str(comma, json_text(key), ":", json_text(value));
      comma = ",";
    }
    out += '}';
  }
  Index at = 0;
  for (const Item& item : items) {
    next(item.name);
    out += str("\"dtype\":\"", safetensors_name(item.tensor->dtype()), "\",\"shape\":[");
    std::string_view comma;
    for (const Index n : item.tensor->shape()) {
      out += str(comma, n);
      comma = ",";
    }
    const Index end = checked_add(at, item.bytes, "save_safetensors", "size of the file");
    out += str("],\"data_offsets\":[", at, ",", end, "]}");
    at = end;
  }
  out += '}';
  out.append((kAlignment - (8 + out.size()) % kAlignment) % kAlignment, ' ');
  return out;
}

// A new file beside `path`; it takes that name in commit() and is gone without it.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path) : path_(path) {
    static std::atomic<unsigned> count{0};  // tells apart what threads of one process write
    temporary_ = path;
    temporary_ += str(".", ::getpid(), "-", count.fetch_add(1), ".tmp");
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) throw failure("create", temporary_);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  void write(const void* data, std::size_t size) {
    const auto* p = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t n = ::write(fd_, p, std::min(size, std::size_t{1} << 30));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw failure("write", temporary_);
      p += n;
      size -= static_cast<std::size_t>(n);
    }
  }

  void commit() {
    // On disk before it replaces anything: a crash must not leave a name with half a file.
    if (::fsync(fd_) != 0) throw failure("write", temporary_);
    if (::close(std::exchange(fd_, -1)) != 0) throw failure("write", temporary_);
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw failure("replace", path_);
    temporary_.clear();
  }

 private:
  static Error failure(std::string_view what, const std::filesystem::path& path) {
    return {ErrorKind::io, "save_safetensors",
            str("cannot ", what, " ", path.string(), ": ", std::generic_category().message(errno))};
  }

  std::filesystem::path path_, temporary_;
  int fd_ = -1;
};

}  // namespace

void save_safetensors(const std::filesystem::path& path,
                      const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<Item> items;
  for (const auto& [name, tensor] : tensors) {
    if (name == "__metadata__") throw bad("\"__metadata__\" is no name for a tensor");
    items.push_back({name, &tensor, byte_count(name, tensor)});
  }
  // Wide elements first: then every tensor begins at a multiple of its element size. (Not with
  // std::stable_sort: clang finds a deprecated function in that of g++ 12.)
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::pair(-bits(a.tensor->dtype()), a.name) <
           std::pair(-bits(b.tensor->dtype()), b.name);
  });
  const std::string header = header_of(items, metadata);
  std::array<unsigned char, 8> length{};
  for (std::size_t i = 0; i < 8; ++i)
    length[i] = static_cast<unsigned char>(std::uint64_t{header.size()} >> (8 * i));

  NewFile file(path);
  file.write(length.data(), length.size());
  file.write(header.data(), header.size());
  for (const Item& item : items) {
    const Tensor dense = item.tensor->contiguous();
    const Index skipped = byte_size(dense.dtype(), dense.layout().offset, "save_safetensors");
    file.write(view(dense.storage()).data + skipped, static_cast<std::size_t>(item.bytes));
  }
  file.commit();
}

}  // namespace wick
