// SPDX-License-Identifier: Apache-2.0
#include "wick/ops/packed.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "wick/core/dispatch.h"
#include "wick/ops/check.h"
#include "wick/ops/gemm.h"

namespace wick {
namespace {

constexpr std::string_view kMagic = "wickpack";
constexpr std::uint32_t kVersion = 1;

/// The head of a saved matrix.
struct Head {
  std::array<char, 8> magic{};
  std::uint32_t version = kVersion;
  std::array<char, 12> dtype{};  ///< its name, filled up with zeros
  std::int64_t k = 0, n = 0;
  std::uint64_t checksum = 0;  ///< of the elements
};
static_assert(sizeof(Head) == 48);

/// Not cryptographic: finds bytes that were damaged or are missing.
std::uint64_t checksum(const std::byte* data, Index bytes) {
  std::uint64_t sum = 0x9E3779B97F4A7C15;
  for (Index i = 0; i < bytes; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + i, static_cast<std::size_t>(std::min(bytes - i, Index{8})));
    sum = (sum ^ word) * 0xD6E8FEB86659FD93;
    sum ^= sum >> 32;
  }
  return sum;
}

/// Calls f(matrix, panels) for pairs of equally shaped views that cover all elements.
template <class F>
void for_each_part(const Tensor& matrix, const Tensor& panels, Index chunk, Index width, F&& f) {
  const Index k = matrix.size(0), n = matrix.size(1);
  const Index whole = n / width, rest = n - whole * width, padded = round_up(n, width);
  const Index row = matrix.layout().strides[0], col = matrix.layout().strides[1];
  const Index from = matrix.layout().offset, to = panels.layout().offset;
  const auto part = [&](Index p, Index kc, Index first, Index count, Index columns) {
    if (count == 0 || columns == 0) return;
    Layout a, b;
    a.shape = b.shape = {count, kc, columns};
    a.strides = {width * col, row, col};
    a.offset = from + p * row + first * width * col;
    b.strides = {width * kc, width, 1};
    b.offset = to + p * padded + first * width * kc;
    f(TensorAccess::make(matrix.storage(), a), TensorAccess::make(panels.storage(), b));
  };
  for (Index p = 0; p < k; p += chunk) {
    const Index kc = std::min(chunk, k - p);
    part(p, kc, 0, whole, width);
    part(p, kc, whole, 1, rest);
  }
}

/// How matrices of this dtype are packed for the instruction set in force.
struct Form {
  Index chunk, width;
};
Form form(DType dtype) {
  return dispatch<Form>(dtype, "PackedMatrix", []<Element T>(std::type_identity<T>) {
    return Form{kGemmChunk<T>, kernels::gemm<T>().nr};
  });
}

}  // namespace

PackedMatrix::PackedMatrix(const Tensor& b) {
  if (b.rank() != 2)
    throw error_about(ErrorKind::shape, "PackedMatrix",
                      str("wanted [k, n], got ", to_string(b.shape())), {&b});
  const Form f = form(b.dtype());
  k_ = b.size(0);
  n_ = b.size(1);
  width_ = f.width;
  const Index padded =
      checked_mul(ceil_div(n_, width_), width_, "PackedMatrix", "columns of the panels");
  // Columns past the last are zeros: they are multiplied, and must not be slow or trap.
  const Dims size{checked_mul(padded, k_, "PackedMatrix", "elements")};
  panels_ = n_ == padded ? Tensor::empty(size, b.dtype()) : Tensor::zeros(size, b.dtype());
  for_each_part(b, panels_, f.chunk, width_,
                [](const Tensor& matrix, const Tensor& panels) { copy_into(panels, matrix); });
}

Index PackedMatrix::bytes() const { return panels_.element_count() * bits(dtype()) / 8; }

Tensor PackedMatrix::unpack() const {
  const Tensor b = Tensor::empty(shape(), dtype());
  for_each_part(b, panels_, form(dtype()).chunk, width_,
                [](const Tensor& matrix, const Tensor& panels) { copy_into(matrix, panels); });
  return b;
}

std::vector<std::byte> PackedMatrix::save() const {
  const Tensor b = unpack();
  const StorageView data = view(b.storage());
  Head head;
  std::memcpy(head.magic.data(), kMagic.data(), kMagic.size());
  const std::string_view type = name(dtype());
  std::memcpy(head.dtype.data(), type.data(), type.size());
  head.k = k_;
  head.n = n_;
  head.checksum = checksum(data.data, data.bytes);
  std::vector<std::byte> bytes(sizeof head + static_cast<std::size_t>(data.bytes));
  std::memcpy(bytes.data(), &head, sizeof head);
  if (data.bytes > 0)
    std::memcpy(bytes.data() + sizeof head, data.data, static_cast<std::size_t>(data.bytes));
  return bytes;
}

PackedMatrix PackedMatrix::load(std::span<const std::byte> bytes) {
  const auto fail = [](const std::string& what) {
    return Error(ErrorKind::format, "PackedMatrix", what);
  };
  Head head;
  if (bytes.size() < sizeof head)
    throw fail(str("wanted at least ", sizeof head, " bytes, got ", bytes.size()));
  std::memcpy(&head, bytes.data(), sizeof head);
  if (std::string_view(head.magic.data(), head.magic.size()) != kMagic)
    throw fail("wanted a saved matrix, got bytes that do not begin as one");
  if (head.version != kVersion)
    throw fail(str("wanted version ", kVersion, ", got ", head.version));
  std::optional<DType> dtype;
  for (const DType t : {DType::u8, DType::u32, DType::i16, DType::i32, DType::i64, DType::bf16,
                        DType::f16, DType::f32, DType::f64, DType::f8e4m3}) {
    std::array<char, 12> text{};
    std::memcpy(text.data(), name(t).data(), name(t).size());
    if (text == head.dtype) dtype = t;
  }
  if (!dtype) throw fail("wanted the name of a dtype, got something else");
  const auto there = static_cast<Index>(bytes.size() - sizeof head);
  const Index element = bits(*dtype) / 8;
  // No product of sizes that might not fit into an Index.
  const bool sizes = head.k >= 0 && head.n >= 0 &&
                     (head.k == 0 || head.n == 0 ? there == 0
                                                 : head.n <= there / element / head.k &&
                                                       head.k * head.n * element == there);
  if (!sizes)
    throw fail(str("wanted the elements of ", head.k, " x ", head.n, " of ", name(*dtype), ", got ",
                   there, " bytes"));
  if (checksum(bytes.data() + sizeof head, there) != head.checksum)
    throw fail("wanted elements that fit the checksum, got others: they were damaged");
  const Tensor b = Tensor::empty({head.k, head.n}, *dtype);
  if (there > 0)
    std::memcpy(view(b.storage()).data, bytes.data() + sizeof head,
                static_cast<std::size_t>(there));
  return PackedMatrix(b);
}

}  // namespace wick
