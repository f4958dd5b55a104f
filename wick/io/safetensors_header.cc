// SPDX-License-Identifier: Apache-2.0
#include "wick/io/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "wick/base/error.h"

namespace wick {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the format's own limit
constexpr std::string_view kMetadata = "__metadata__";

struct FormatType {
  std::string_view name;
  int bits;
  std::optional<DType> dtype;
};
constexpr std::array kFormatTypes{
    FormatType{"U8", 8, DType::u8},          FormatType{"U32", 32, DType::u32},
    FormatType{"I16", 16, DType::i16},       FormatType{"I32", 32, DType::i32},
    FormatType{"I64", 64, DType::i64},       FormatType{"BF16", 16, DType::bf16},
    FormatType{"F16", 16, DType::f16},       FormatType{"F32", 32, DType::f32},
    FormatType{"F64", 64, DType::f64},       FormatType{"F8_E4M3", 8, DType::f8e4m3},
    FormatType{"F6_E2M3", 6, DType::f6e2m3}, FormatType{"F6_E3M2", 6, DType::f6e3m2},
    FormatType{"F4", 4, DType::f4},          FormatType{"F8_E8M0", 8, DType::f8e8m0},
    FormatType{"BOOL", 8, std::nullopt},     FormatType{"I8", 8, std::nullopt},
    FormatType{"U16", 16, std::nullopt},     FormatType{"U64", 64, std::nullopt},
    FormatType{"F8_E5M2", 8, std::nullopt},  FormatType{"F8_E4M3FNUZ", 8, std::nullopt},
    FormatType{"C64", 64, std::nullopt},     FormatType{"F8_E5M2FNUZ", 8, std::nullopt},
};

const FormatType* find_type(std::string_view name) {
  const auto* at = std::find_if(kFormatTypes.begin(), kFormatTypes.end(),
                                [&](const FormatType& t) { return t.name == name; });
  return at == kFormatTypes.end() ? nullptr : at;
}

Error bad(std::string_view message) { return {ErrorKind::format, "safetensors", message}; }

// Takes the JSON of a header as events, so that duplicate keys are seen and nothing but the result
// is ever built. The shape is fixed, {"name": {"dtype": s, "shape": [n...], "data_offsets": [n,
// n]},
// "__metadata__": {key: s}}, and anything else is refused at once.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(SafeTensorsHeader& header) : header_(header) {}

  bool null() override { throw misplaced("null"); }
  bool boolean(bool) override { throw misplaced("a boolean"); }
  bool number_float(double, const std::string& text) override {
    throw misplaced(str("the number ", shown(text)));
  }
  bool number_integer(std::int64_t value) override { throw misplaced(str("the number ", value)); }
  bool binary(nlohmann::json::binary_t&) override { throw misplaced("binary data"); }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ != Place::shape && place_ != Place::offsets)
      throw misplaced(str("the number ", value));
    if (value > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
      throw misplaced(str("the number ", value));
    numbers().push_back(static_cast<Index>(value));
    if (place_ == Place::offsets && offsets_.size() > 2) throw misplaced("a third offset");
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata) {
      if (!header_.metadata.emplace(key_, std::move(value)).second) throw twice(key_);
    } else if (place_ == Place::tensor && key_ == "dtype") {
      item_.format_dtype = std::move(value);
    } else {
      throw misplaced(str("the text ", shown(value)));
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::start) {
      place_ = Place::top;
    } else if (place_ == Place::top && key_ == kMetadata) {
      place_ = Place::metadata;
    } else if (place_ == Place::top) {
      place_ = Place::tensor;
      item_ = {};
      item_.name = key_;
      offsets_.clear();
      seen_ = {};
    } else {
      throw misplaced("an object");
    }
    return true;
  }

  bool key(std::string& value) override {
    key_ = std::move(value);
    if (place_ == Place::top && !names_.insert(key_).second) throw twice(key_);
    if (place_ == Place::tensor) {
      const auto field = std::find(kFields.begin(), kFields.end(), key_);
      if (field == kFields.end()) throw bad(str(where(), ": unknown key ", shown(key_)));
      bool& seen = seen_[static_cast<std::size_t>(field - kFields.begin())];
      if (std::exchange(seen, true)) throw twice(key_);
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      for (std::size_t i = 0; i < kFields.size(); ++i)
        if (!seen_[i]) throw bad(str(where(), ": no ", kFields[i]));
      if (offsets_.size() != 2) throw bad(str(where(), ": wanted two data_offsets"));
      item_.begin = offsets_[0];
      item_.end = offsets_[1];
      header_.items.push_back(std::move(item_));
    }
    place_ = place_ == Place::top ? Place::end : Place::top;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || key_ == "dtype") throw misplaced("an array");
    place_ = key_ == "shape" ? Place::shape : Place::offsets;
    return true;
  }
  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    throw bad(str("header is no JSON: stopped at its byte ", position));
  }

 private:
  enum class Place { start, top, metadata, tensor, shape, offsets, end };
  static constexpr std::array<std::string_view, 3> kFields{"dtype", "shape", "data_offsets"};

  std::vector<Index>& numbers() { return place_ == Place::shape ? item_.shape : offsets_; }
  std::string where() const {
    if (place_ == Place::start || place_ == Place::top || place_ == Place::end) return "header";
    if (place_ == Place::metadata) return std::string(kMetadata);
    return str("tensor ", shown(item_.name));
  }
  Error misplaced(std::string_view what) const {
    if (place_ == Place::start) return bad(str("header: wanted an object, got ", what));
    return bad(str(where(), ": did not want ", what, " for ", shown(key_)));
  }
  Error twice(std::string_view key) const { return bad(str(where(), ": ", shown(key), " twice")); }

  SafeTensorsHeader& header_;
  Place place_ = Place::start;
  std::string key_;
  std::unordered_set<std::string> names_;
  SafeTensorsItem item_;
  std::vector<Index> offsets_;
  std::array<bool, 3> seen_{};
};

// The bytes that dtype and shape ask for must be those of the offsets.
void check_size(const SafeTensorsItem& item) {
  const auto complain = [&](std::string_view what) {
    return bad(str("tensor ", shown(item.name), " of dtype ", shown(item.format_dtype), ": wanted ",
                   what, ", got offsets ", item.begin, " to ", item.end));
  };
  Index count = 1;
  bool none = false;
  for (const Index n : item.shape) {
    none = none || n == 0;
    // Zeros are left out: strides are products of the other sizes and must fit as well.
    if (n != 0 && __builtin_mul_overflow(count, n, &count))
      throw bad(
          str("tensor ", shown(item.name), ": its shape has more elements than 64 bits count"));
  }
  const FormatType* type = find_type(item.format_dtype);
  if (type == nullptr)
    return;  // a dtype of the future: its offsets are checked, its size cannot be
  Index bits = 0;
  if (__builtin_mul_overflow(none ? 0 : count, Index{type->bits}, &bits))
    throw complain("fewer elements");
  if (bits % 8 != 0) throw complain("elements that fill whole bytes");
  if (bits / 8 != item.end - item.begin) throw complain(str(bits / 8, " bytes"));
}

// One tensor's bytes begin where the ones before end, and the last end with the file.
void check_order(const SafeTensorsHeader& header) {
  Index at = 0;
  for (const SafeTensorsItem& item : header.items) {
    if (item.begin != at)
      throw bad(str("tensor ", shown(item.name), " begins at byte ", item.begin, ", ",
                    item.begin < at ? "inside the one before, which ends at "
                                    : "with a gap after the one before, which ends at ",
                    at));
    at = item.end;
  }
  const auto size = static_cast<Index>(header.data.size());
  if (at != size)
    throw bad(str(size - at, " bytes after the last tensor, which ends at byte ", at));
}

void parse(std::span<const std::byte> file, SafeTensorsHeader& header) {
  if (file.size() < 8)
    throw bad(str("wanted a header length of 8 bytes, got a file of ", file.size()));
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(file[i]);
  if (length > kMaxHeader)
    throw bad(str("wanted a header of at most ", kMaxHeader, " bytes, got length ", length));
  if (length > file.size() - 8)
    throw bad(str("header of ", length, " bytes does not fit into a file of ", file.size()));
  const auto n = static_cast<std::size_t>(length);
  const auto* text = reinterpret_cast<const char*>(file.data()) + 8;
  if (n == 0 || text[0] != '{') throw bad("header: wanted an object");
  header.data = file.subspan(8 + n);
  HeaderReader reader(header);
  nlohmann::json::sax_parse(text, text + n, &reader);

  const auto size = static_cast<Index>(header.data.size());
  for (const SafeTensorsItem& item : header.items) {
    if (item.begin > item.end || item.end > size)
      throw bad(str("tensor ", shown(item.name), ": offsets ", item.begin, " to ", item.end,
                    " are not in 0 to ", size));
    check_size(item);
  }
  std::sort(header.items.begin(), header.items.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  check_order(header);
}

}  // namespace

SafeTensorsHeader parse_safetensors_header(std::span<const std::byte> file,
                                           std::string_view file_name) {
  return with_error_context([&] { return str("in ", file_name); },
                            [&] {
                              SafeTensorsHeader header;
                              parse(file, header);
                              return header;
                            });
}

std::optional<DType> safetensors_dtype(std::string_view format_dtype) {
  const FormatType* type = find_type(format_dtype);
  return type == nullptr ? std::nullopt : type->dtype;
}

std::string_view safetensors_name(DType dtype) {
  return std::find_if(kFormatTypes.begin(), kFormatTypes.end(),
                      [&](const FormatType& t) { return t.dtype == dtype; })
      ->name;
}

std::string shown(std::string_view name) {
  constexpr std::size_t kMost = 120;
  std::string out = "\"";
  for (const char c : name.substr(0, kMost)) {
    const bool plain = static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
    out += plain ? c : '?';
  }
  if (name.size() > kMost) out += "...";
  return out + '"';
}

}  // namespace wick
