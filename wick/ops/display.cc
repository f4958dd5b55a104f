// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <ostream>

#include "wick/core/dispatch.h"
#include "wick/tensor.h"

namespace wick {
namespace {

constexpr Index kSummaryAbove = 1000;  // elements; more are shortened, as NumPy does
constexpr Index kEdge = 3;             // entries shown at each end of a shortened axis
constexpr std::size_t kLineWidth = 75;

/// How the numbers of one tensor are written: all alike, so that columns line up.
struct Style {
  bool scientific = false;
  std::size_t digits = 0;    // after the point
  std::size_t exponent = 2;  // digits of the exponent
};

/// A number as few characters as four digits after the point allow: "0.25", "3.", "1.5e", "-07".
struct Text {
  std::string number;    // up to the exponent
  std::string exponent;  // sign and digits

  Text(f64 value, bool scientific) {
    char buffer[400];
    const int n = std::snprintf(buffer, sizeof buffer, scientific ? "%.4e" : "%.4f", value);
    number.assign(buffer, static_cast<std::size_t>(n));
    if (const auto e = number.find('e'); e != std::string::npos) {
      exponent = number.substr(e + 1);
      number.resize(e);
    }
    number.erase(number.find_last_not_of('0') + 1);
  }
  std::size_t digits() const { return number.size() - number.find('.') - 1; }
};

std::string text_of(f64 value, Style style) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  Text text(value, style.scientific);
  text.number.append(style.digits - text.digits(), style.scientific ? '0' : ' ');
  if (!style.scientific) return text.number;
  text.exponent.insert(1, style.exponent + 1 - text.exponent.size(), '0');
  return text.number + 'e' + text.exponent;
}

/// At most four digits after the point, fewer where zeros would follow; exponents where the values
/// span too much for that.
Style style_for(const std::vector<f64>& values) {
  f64 largest = 0, smallest = INFINITY;
  for (const f64 v : values) {
    const f64 a = std::fabs(v);
    if (!std::isfinite(a) || a == 0) continue;
    largest = std::max(largest, a);
    smallest = std::min(smallest, a);
  }
  Style style;
  style.scientific = largest > 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1e3);
  for (const f64 v : values) {
    if (!std::isfinite(v)) continue;
    const Text text(v, style.scientific);
    style.digits = std::max(style.digits, text.digits());
    if (style.scientific) style.exponent = std::max(style.exponent, text.exponent.size() - 1);
  }
  return style;
}

class Printer {
 public:
  explicit Printer(const Tensor& x) : x_(x), shortened_(x.element_count() > kSummaryAbove) {
    if (x_.layout().is_empty()) return;  // however many empty rows it has
    collect(x_, 0);
    format();
  }

  std::string print() {
    if (x_.layout().is_empty()) return "[]";
    write(0, 1);
    return std::move(text_);
  }

 private:
  bool skips(int dim) const { return shortened_ && x_.shape()[dim] > 2 * kEdge; }

  template <class F>
  void for_entries(int dim, F&& f) const {
    const Index n = x_.shape()[dim];
    for (Index i = 0; i < n; ++i) {
      if (skips(dim) && i == kEdge) i = n - kEdge;
      f(i);
    }
  }

  /// The values that are shown, in order.
  void collect(const Tensor& part, int dim) {
    if (part.rank() == 0) {
      dispatch(part.dtype(), "display", [&]<Element T>(std::type_identity<T>) {
        const T* data = std::get_if<Buffer<T>>(&part.storage())->data();
        const Index at = part.layout().offset;
        if constexpr (Int<T>) {
          cells_.push_back(std::to_string(data[at]));
        } else {
          floats_.push_back(convert<f64>(data[at]));
        }
      });
      return;
    }
    for_entries(dim, [&](Index i) { collect(part.select(0, i), dim + 1); });
  }

  void format() {
    const Style style = style_for(floats_);
    for (const f64 v : floats_) cells_.push_back(text_of(v, style));
    for (const std::string& c : cells_) width_ = std::max(width_, c.size());
  }

  /// One entry of a row, on the next line if this one is full.
  void place(const std::string& cell, bool& first, std::size_t indent) {
    const std::size_t width = cell == "..." ? cell.size() : width_;
    if (!std::exchange(first, false)) {
      text_ += ',';
      const std::size_t column = text_.size() - (text_.rfind('\n') + 1) + 1;
      if (column + width + indent > kLineWidth) {
        text_.append("\n").append(indent, ' ');
      } else {
        text_ += ' ';
      }
    }
    text_.append(width - cell.size(), ' ').append(cell);
  }

  void write(int dim, std::size_t indent) {
    if (dim == x_.rank()) {
      text_ += cells_[next_++];
      return;
    }
    text_ += '[';
    const bool innermost = dim == x_.rank() - 1;
    const std::string new_line =
        ",\n" + std::string(innermost ? 0U : static_cast<std::size_t>(x_.rank() - dim - 2), '\n') +
        std::string(indent, ' ');
    bool first = true;
    for_entries(dim, [&](Index i) {
      const bool after_gap = skips(dim) && i == x_.shape()[dim] - kEdge;
      if (innermost) {
        if (after_gap) place("...", first, indent);
        place(cells_[next_++], first, indent);
      } else {
        if (!first) text_ += new_line;
        if (after_gap) text_ += "..." + new_line;
        write(dim + 1, indent + 1);
        first = false;
      }
    });
    text_ += ']';
  }

  const Tensor& x_;
  bool shortened_;
  std::vector<f64> floats_;
  std::vector<std::string> cells_;
  std::size_t width_ = 0;
  std::size_t next_ = 0;
  std::string text_;
};

}  // namespace

std::string Tensor::to_string() const {
  const std::string what = str("\nTensor", wick::to_string(shape()), " ", name(dtype()));
  if (!is_raw(dtype())) return Printer(*this).print() + what;
  // The raw formats are shown as the bytes they are.
  const Tensor packed = copy();
  const StorageView bytes = view(packed.storage());
  const std::span<const u8> all(reinterpret_cast<const u8*>(bytes.data),
                                static_cast<std::size_t>(bytes.bytes));
  return Printer(from_span(all, {bytes.bytes})).print() + " bytes" + what;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << tensor.to_string();
}

}  // namespace wick
