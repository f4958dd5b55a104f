// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wick/core/dtype.h"

namespace wick {

/// One tensor as the header describes it.
struct SafeTensorsItem {
  std::string name;
  std::string format_dtype;
  std::vector<Index> shape;
  Index begin = 0, end = 0;  ///< of its bytes, counted from the end of the header
};

/// The header of a safetensors file. After parse_safetensors_header every item's bytes lie in
/// [0, data.size()), follow one another in order, and match its dtype and shape.
struct SafeTensorsHeader {
  std::vector<SafeTensorsItem> items;  ///< in the order of their bytes
  std::map<std::string, std::string> metadata;
  std::span<const std::byte> data;  ///< what follows the header
};

/// Reads and checks the header of a whole file; a `format` Error that names `file_name`.
SafeTensorsHeader parse_safetensors_header(std::span<const std::byte> file,
                                           std::string_view file_name);

/// wick's dtype for the format's name, e.g. DType::bf16 for "BF16"; empty where there is none.
std::optional<DType> safetensors_dtype(std::string_view format_dtype);
/// The format's name for a dtype. Every dtype has one.
std::string_view safetensors_name(DType dtype);

/// A name from a file for a message: shortened, in quotes, nothing unprintable.
std::string shown(std::string_view name);

}  // namespace wick
