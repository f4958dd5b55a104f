// SPDX-License-Identifier: Apache-2.0
#include "models/text_file.h"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "wick/base/error.h"
#include "wick/base/str.h"

namespace wick::models {

std::string read_text_file(const std::filesystem::path& path, Index max_bytes,
                           std::string_view op) {
  std::error_code status;
  const auto type = std::filesystem::status(path, status).type();
  // Only what has an end: no folder, no pipe that blocks, no endless device.
  const bool regular = type == std::filesystem::file_type::regular;
  errno = 0;
  std::ifstream in;
  if (regular) in.open(path, std::ios::binary);
  if (!in.is_open()) {
    std::string reason = "not a regular file";
    if (status) reason = status.message();
    if (regular) reason = std::generic_category().message(errno);
    throw Error(ErrorKind::io, op, str("cannot open ", path.string(), ": ", reason));
  }
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
    text.append(block, 0, static_cast<std::size_t>(in.gcount()));
    if (static_cast<Index>(text.size()) > max_bytes)
      throw Error(ErrorKind::format, op,
                  str(path.string(), ": wanted at most ", max_bytes, " bytes"));
  }
  if (in.bad()) throw Error(ErrorKind::io, op, str("cannot read ", path.string()));
  return text;
}

}  // namespace wick::models
