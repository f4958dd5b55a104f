// SPDX-License-Identifier: Apache-2.0
#include "wick/base/env.h"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace wick {
namespace {

Error bad_value(const char* variable, const std::string& text, std::string_view wanted) {
  return {ErrorKind::environment, variable, str("wanted ", wanted, ", got \"", text, "\"")};
}

}  // namespace

std::optional<std::string> env_text(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::string(text);
}

std::optional<Index> env_index(const char* variable, Index low, Index high) {
  const auto text = env_text(variable);
  if (!text) return std::nullopt;
  Index value = 0;
  const char* end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || at != end || value < low || value > high)
    throw bad_value(variable, *text, str("a whole number from ", low, " to ", high));
  return value;
}

std::optional<Index> env_bytes(const char* variable) {
  const auto text = env_text(variable);
  if (!text) return std::nullopt;
  constexpr std::string_view kWanted = "a number of bytes such as 1073741824, 512M or 2G";
  Index value = 0;
  const char* end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || value < 0) throw bad_value(variable, *text, kWanted);
  std::string suffix;
  for (const char* p = at; p != end; ++p)
    suffix += static_cast<char>(std::tolower(static_cast<unsigned char>(*p)));
  int shift = 0;
  if (!suffix.empty()) {
    const std::string_view units = "kmgt";
    const auto unit = units.find(suffix[0]);
    const std::string rest = suffix.substr(1);
    if (unit != std::string_view::npos && (rest.empty() || rest == "b" || rest == "ib")) {
      shift = 10 * (static_cast<int>(unit) + 1);
    } else if (suffix != "b") {
      throw bad_value(variable, *text, kWanted);
    }
  }
  if (value > (std::numeric_limits<Index>::max() >> shift))
    throw bad_value(variable, *text, kWanted);
  return value << shift;
}

}  // namespace wick
