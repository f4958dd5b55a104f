// SPDX-License-Identifier: Apache-2.0
#include "wick/io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <system_error>

namespace wick {
namespace {

Error failure(std::string_view what, const std::filesystem::path& path, int reason) {
  return {ErrorKind::io, "open",
          str("cannot ", what, " ", path.string(), ": ", std::generic_category().message(reason))};
}

// Closes a descriptor at the end of the scope; a mapping outlives it.
struct Descriptor {
  int fd;
  ~Descriptor() { ::close(fd); }
};

void read_all(int fd, std::span<std::byte> out, const std::filesystem::path& path) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // one read() gives at most 2 GiB
  while (!out.empty()) {
    const ssize_t n = ::read(fd, out.data(), std::min(out.size(), kMost));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw failure("read", path, errno);
    if (n == 0)
      throw Error(ErrorKind::io, "open",
                  str("cannot read ", path.string(), ": it ended ", out.size(), " bytes early"));
    out = out.subspan(static_cast<std::size_t>(n));
  }
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path,
                                                   FileMode mode) {
  // Without O_NONBLOCK a named pipe would block until somebody writes to it.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) throw failure("open", path, errno);
  struct stat status = {};
  if (::fstat(file.fd, &status) != 0) throw failure("open", path, errno);
  if (S_ISDIR(status.st_mode)) throw failure("open", path, EISDIR);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::io, "open", str("cannot open ", path.string(), ": not a regular file"));
  if (static_cast<std::uintmax_t>(status.st_size) >
      static_cast<std::uintmax_t>(std::numeric_limits<std::ptrdiff_t>::max()))
    throw failure("open", path, EFBIG);

  std::shared_ptr<MappedFile> out(new MappedFile);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return out;
  if (mode == FileMode::map) {
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (data == MAP_FAILED) throw failure("map", path, errno);
    out->bytes_ = {static_cast<const std::byte*>(data), size};
    out->mapped_ = true;
    // A hint to start reading ahead; it may fail without harm.
    (void)::madvise(data, size, MADV_WILLNEED);
  } else {
    out->copy_ = Buffer<u8>(static_cast<Index>(size), "open");
    const std::span<std::byte> data{reinterpret_cast<std::byte*>(out->copy_.data()), size};
    read_all(file.fd, data, path);
    out->bytes_ = data;
  }
  return out;
}

MappedFile::~MappedFile() {
  if (mapped_) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace wick
