// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "wick/io.h"

namespace wick::testing {

/// The bytes of a safetensors file: length, header, data.
inline std::string safetensors_file(std::string_view header, std::string_view data = {}) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(std::uint64_t{header.size()} >> (8 * i));
  return out.append(header).append(data);
}

/// `n` data bytes: 0, 1, 2, ...
inline std::string counted(std::size_t n) {
  std::string out(n, '\0');
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<char>(i);
  return out;
}

/// Opens bytes from an allocation of exactly their size, so that AddressSanitizer sees any read
/// beyond them.
inline SafeTensors open_bytes(std::string_view file) {
  auto own = std::make_shared<std::unique_ptr<std::byte[]>>(new std::byte[file.size()]);
  if (!file.empty()) std::memcpy(own->get(), file.data(), file.size());
  return SafeTensors::from_memory({own->get(), file.size()}, own);
}

}  // namespace wick::testing
