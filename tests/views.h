// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "wick/tensor.h"

namespace wick::testing {

/// Reproducible choices.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// A number in [0, n).
  Index below(Index n) { return static_cast<Index>(engine_() % static_cast<std::uint64_t>(n)); }
  /// A number in [low, high].
  Index between(Index low, Index high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  std::uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

inline Dims random_shape(Random& random, int max_rank, Index max_size, Index min_size = 0) {
  Dims shape;
  for (Index i = random.between(0, max_rank); i > 0; --i)
    shape.push_back(random.between(min_size, max_size));
  return shape;
}

/// Calls f for every index of a shape, in row-major order.
template <class F>
void for_each_index(const Dims& shape, F&& f) {
  for (const Index n : shape)
    if (n == 0) return;
  Dims at = Dims::filled(shape.rank(), 0);
  while (true) {
    f(static_cast<const Dims&>(at));
    int d = shape.rank() - 1;
    while (d >= 0 && ++at[d] == shape[d]) at[d--] = 0;
    if (d < 0) return;
  }
}

/// Where an element lies in the storage.
inline Index offset_of(const Layout& layout, const Dims& index) {
  Index at = layout.offset;
  for (int i = 0; i < layout.rank(); ++i) at += index[i] * layout.strides[i];
  return at;
}

/// Where all elements lie, in row-major order.
inline std::vector<Index> offsets_of(const Layout& layout) {
  std::vector<Index> all;
  for_each_index(layout.shape, [&](const Dims& i) { all.push_back(offset_of(layout, i)); });
  return all;
}

/// One more view of a layout, chosen at random; `repeat` allows views that repeat elements.
inline Layout random_step(const Layout& l, Random& random, bool repeat) {
  const int rank = l.rank();
  const Index d = rank > 0 ? random.below(rank) : 0;
  const Index n = rank > 0 ? l.shape[static_cast<int>(d)] : 0;
  switch (random.below(rank > 0 ? 7 : 1)) {
    case 0: return rank < kMaxRank ? l.unsqueeze(random.between(0, rank)) : l;
    case 1: return l.transpose(d, random.below(rank));
    case 2: {
      const Index start = random.between(0, n);
      return l.narrow(d, start, random.between(n - start > 0 ? 1 : 0, n - start));
    }
    case 3: return l.flip(d);
    case 4: {
      const Index step = random.between(1, 3);
      if (n == 0) return l;
      return random.chance(50) ? l.slice(d, random.below(n), n, step)
                               : l.slice(d, random.below(n), -1, -step);
    }
    case 5: return l.squeeze(d);
    default: {
      if (!repeat || n != 1) return l;
      Dims target = l.shape;
      target[static_cast<int>(d)] = random.between(1, 3);
      return l.broadcast_to(target);
    }
  }
}

inline Layout random_view(Layout layout, Random& random, bool repeat = true) {
  for (Index steps = random.between(0, 5); steps > 0; --steps)
    layout = random_step(layout, random, repeat);
  return layout;
}

/// The same elements seen in another way.
inline Tensor random_view(const Tensor& x, Random& random, bool repeat = true) {
  return {x.storage(), random_view(x.layout(), random, repeat)};
}

/// A tensor of this shape and dtype whose memory is not row-major: a random view of a larger one,
/// filled with a pattern. Elements are distinct places, so it can be written to.
inline Tensor strided_empty(const Dims& shape, DType dtype, Random& random) {
  // Dims in a random order, each with gaps and perhaps reversed.
  std::vector<int> order;
  for (int i = 0; i < shape.rank(); ++i) order.push_back(i);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<Index>(i)))]);
  Layout layout{shape, Dims::filled(shape.rank(), 0), random.below(4)};
  Index step = random.between(1, 2), high = layout.offset;
  for (const int i : order) {
    layout.strides[i] = step;
    if (shape[i] > 0) high += (shape[i] - 1) * step;
    step *= std::max<Index>(shape[i], 1);
    step += random.below(3);
  }
  for (int i = 0; i < shape.rank(); ++i)
    if (random.chance(30) && shape[i] > 0) layout = layout.flip(i);
  const Tensor base = Tensor::empty({high + random.between(1, 4)}, dtype);
  std::memset(view(base.storage()).data, 0x33,
              static_cast<std::size_t>(view(base.storage()).bytes));
  return {base.storage(), layout};
}

/// The bytes of all elements in row-major order. Not for packed dtypes.
inline std::string bytes_of(const Tensor& x) {
  const auto width = static_cast<std::size_t>(bits(x.dtype()) / 8);
  std::string all;
  const auto* data = reinterpret_cast<const char*>(view(x.storage()).data);
  for_each_index(x.shape(), [&](const Dims& i) {
    all.append(data + static_cast<std::size_t>(offset_of(x.layout(), i)) * width, width);
  });
  return all;
}

/// Same dtype, shape and bits, element by element.
inline ::testing::AssertionResult same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape())
    return ::testing::AssertionFailure() << name(a.dtype()) << to_string(a.shape()) << " and "
                                         << name(b.dtype()) << to_string(b.shape());
  const std::string x = bytes_of(a), y = bytes_of(b);
  if (x == y) return ::testing::AssertionSuccess();
  const auto width = static_cast<std::size_t>(bits(a.dtype()) / 8);
  std::size_t at = 0;
  while (x.compare(at, width, y, at, width) == 0) at += width;
  return ::testing::AssertionFailure()
         << name(a.dtype()) << to_string(a.shape()) << " differ first at element " << at / width;
}

/// The Error that f throws; fails the test if it throws none.
template <class F>
Error error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "no Error was thrown";
  return {ErrorKind::internal, "", "none"};
}

}  // namespace wick::testing

/// The statement throws a wick::Error of this kind.
#define EXPECT_ERROR(statement, wanted)                                                         \
  do {                                                                                          \
    const wick::Error error_ = wick::testing::error_of([&] { (void)(statement); });             \
    EXPECT_EQ(wick::name(error_.kind()), wick::name(wick::ErrorKind::wanted)) << error_.what(); \
  } while (false)
