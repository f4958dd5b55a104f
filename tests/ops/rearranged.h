// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "tests/ops/op_calls.h"
#include "tests/ops/samples.h"
#include "wick/arrange.h"

namespace wick::testing {

/// A row-major tensor whose element i has the bytes of `from` at source(i).
inline Tensor moved(const Tensor& from, const Dims& shape,
                    const std::function<Dims(const Dims&)>& source) {
  const Tensor y = Tensor::empty(shape, from.dtype());
  const auto width = bits(from.dtype()) / 8;
  std::byte* to = view(y.storage()).data;
  const std::byte* data = view(from.storage()).data;
  for_each_index(shape, [&](const Dims& i) {
    std::memcpy(to, data + offset_of(from.layout(), source(i)) * width,
                static_cast<std::size_t>(width));
    to += width;
  });
  return y;
}

/// A view of random bytes. Rank at least `least`.
inline Tensor odd_bytes(DType t, Random& random, int most_rank, Index most_size, int least = 0) {
  Tensor x;
  do {
    const Tensor base = strided_empty(random_shape(random, most_rank, most_size), t, random);
    for (Index i = 0; i < view(base.storage()).bytes; ++i)
      view(base.storage()).data[i] = static_cast<std::byte>(random.bits());
    x = random_view(base, random);
  } while (x.rank() < least);
  return x;
}

/// Any dtype whose elements are whole bytes.
inline DType any_whole_dtype(Random& random) {
  const Index t = random.below(11);
  return t < 10 ? kTen[t] : DType::f8e8m0;
}

/// Random ids in [0, size) of a random dtype that holds them, lying in memory in some odd way.
inline Tensor odd_ids(const Dims& shape, Index size, Random& random) {
  const DType t = size <= 256 && random.chance(30) ? DType::u8
                  : random.chance(50)              ? DType::u32
                                                   : DType::i64;
  const Tensor ids = strided_empty(shape, t, random);
  dispatch(t, "odd_ids", [&]<IndexElement T>(std::type_identity<T>) {
    for_each_element<T>(ids, [&](T& v) { v = static_cast<T>(random.below(size)); });
  });
  return ids;
}

/// The id at a place.
inline Index id_at(const Tensor& ids, const Dims& at) {
  return dispatch<Index>(ids.dtype(), "id_at", [&]<IndexElement T>(std::type_identity<T>) {
    return static_cast<Index>(
        std::get<Buffer<T>>(ids.storage()).data()[offset_of(ids.layout(), at)]);
  });
}

/// No larger than `shape`, but along `free` any size.
inline Dims smaller(const Dims& shape, int free, Random& random) {
  Dims s = shape;
  for (int i = 0; i < s.rank(); ++i)
    s[i] = i == free ? random.below(8) : random.chance(70) ? s[i] : random.between(0, s[i]);
  return s;
}

}  // namespace wick::testing
