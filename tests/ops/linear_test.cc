// SPDX-License-Identifier: Apache-2.0
#include "wick/linear.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "tests/all_isas.h"
#include "tests/parallel/std_thread_pool.h"
#include "wick/base/error.h"
#include "wick/parallel/executor.h"

namespace wick {
namespace {

constexpr DType kDTypes[] = {DType::u8,   DType::u32, DType::i16, DType::i32, DType::i64,
                             DType::bf16, DType::f16, DType::f32, DType::f64, DType::f8e4m3};

Tensor some(const Dims& shape, DType dtype, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<f32> values(static_cast<std::size_t>(element_count(shape)));
  for (auto& v : values)
    v = is_int(dtype) ? static_cast<f32>(std::uniform_int_distribution<int>(0, 9)(rng))
                      : std::uniform_real_distribution<f32>(-1, 1)(rng);
  return Tensor::from_vector(values, shape).to_dtype(dtype);
}

/// The same shape and the same bytes.
void expect_same(const Tensor& x, const Tensor& y, const std::string& what) {
  ASSERT_EQ(x.dtype(), y.dtype()) << what;
  ASSERT_EQ(x.shape(), y.shape()) << what;
  const Tensor a = x.contiguous(), b = y.contiguous();
  const StorageView p = view(a.storage()), q = view(b.storage());
  const auto size = static_cast<std::size_t>(a.element_count() * bits(a.dtype()) / 8);
  const auto at = [](const Tensor& t) { return t.layout().offset * bits(t.dtype()) / 8; };
  if (size > 0) {
    ASSERT_EQ(std::memcmp(p.data + at(a), q.data + at(b), size), 0) << what;
  }
}

TEST(PackedMatrix, KeepsItsElements) {
  testing::for_each_isa([] {
    for (const DType dtype : kDTypes)
      for (const auto& [k, n] : std::vector<std::pair<Index, Index>>{
               {1, 1}, {5, 3}, {384, 32}, {385, 33}, {700, 65}, {7, 129}, {0, 4}, {4, 0}}) {
        const Tensor b = some({k, n}, dtype, 1);
        const PackedMatrix packed(b);
        EXPECT_EQ(packed.shape(), b.shape());
        EXPECT_EQ(packed.dtype(), dtype);
        EXPECT_GE(packed.bytes(), k * n * bits(dtype) / 8);
        expect_same(packed.unpack(), b, to_string(b.shape()));
        expect_same(PackedMatrix(b.t().contiguous().t()).unpack(), b, "transposed");
        expect_same(PackedMatrix::load(packed.save()).unpack(), b, "saved");
      }
  });
  EXPECT_EQ(PackedMatrix().shape(), Dims({0, 0}));
}

TEST(PackedMatrix, MultipliesWithTheBitsOfTheMatrix) {
  StdThreadPool pool(3);
  testing::for_each_isa([&] {
    for (const DType dtype : kDTypes)
      for (const Index m : {1, 2, 5, 16, 17, 33, 70, 150})
        for (const auto& [k, n] :
             std::vector<std::pair<Index, Index>>{{1, 1}, {37, 50}, {400, 33}, {900, 70}}) {
          const Tensor x = some({m, k}, dtype, 2), b = some({k, n}, dtype, 3);
          const PackedMatrix packed(b);
          const std::string what = str(name(dtype), ' ', m, ' ', n, ' ', k);
          const Tensor expected = x.matmul(b);
          expect_same(matmul(x, packed), expected, what);
          expect_same(matmul(x.t().contiguous().t(), packed), expected, what + " transposed");
          {
            const ExecutorScope scope(pool);
            expect_same(matmul(x, packed), expected, what + " threads");
          }
          const Tensor out = Tensor::zeros({n, m}, dtype).t();
          matmul_into(out, x, packed);
          expect_same(out, expected, what + " columns");
        }
  });
}

TEST(PackedMatrix, BatchesAndViews) {
  const Tensor x = some({3, 4, 5, 40}, DType::f32, 4), b = some({40, 24}, DType::f32, 5);
  const PackedMatrix packed(b);
  expect_same(matmul(x, packed), x.matmul(b), "contiguous");
  expect_same(matmul(x.transpose(0, 2), packed), x.transpose(0, 2).matmul(b), "transposed");
  const Tensor wide = x.narrow(2, 0, 1).broadcast_as({3, 4, 6, 40});
  expect_same(matmul(wide, packed), wide.matmul(b), "broadcast");
  const Tensor one = b.narrow(1, 0, 1);
  const Tensor same = some({5, 40}, DType::f32, 4).broadcast_as({3, 5, 40});
  expect_same(matmul(same, PackedMatrix(one)), same.matmul(one), "one column");
}

TEST(PackedMatrix, UsedOnAnotherInstructionSet) {
  const Tensor x = some({6, 100}, DType::f32, 6), b = some({100, 70}, DType::f32, 7);
  const PackedMatrix packed(b);
  testing::for_each_isa([&] { expect_same(matmul(x, packed), x.matmul(b), "isa"); });
}

TEST(PackedMatrix, RefusesHostileBytes) {
  const PackedMatrix packed(some({20, 9}, DType::f32, 8));
  const std::vector<std::byte> good = packed.save();
  const auto kind = [](std::span<const std::byte> bytes) {
    try {
      PackedMatrix::load(bytes);
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::internal;
  };
  for (std::size_t size = 0; size < good.size(); ++size)
    ASSERT_EQ(kind(std::span(good).first(size)), ErrorKind::format) << size;
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const auto flip : {std::byte{1}, std::byte{0x80}, std::byte{0xFF}}) {
      std::vector<std::byte> bad = good;
      bad[i] ^= flip;
      ASSERT_EQ(kind(bad), ErrorKind::format) << i;
    }
  std::vector<std::byte> more = good;
  more.push_back(std::byte{0});
  EXPECT_EQ(kind(more), ErrorKind::format);
  // Sizes whose product wraps to what is there.
  for (const auto& [k, n] : std::vector<std::pair<i64, i64>>{
           {i64{1} << 62, 4}, {-20, -9}, {i64{1} << 32, i64{1} << 32}, {0, 9}, {180, 1}}) {
    std::vector<std::byte> bad = good;
    std::memcpy(bad.data() + 24, &k, 8);
    std::memcpy(bad.data() + 32, &n, 8);
    if (k == 180) {
      expect_same(PackedMatrix::load(bad).unpack(), packed.unpack().reshape({180, 1}), "reshaped");
    } else {
      EXPECT_EQ(kind(bad), ErrorKind::format) << k << ' ' << n;
    }
  }
}

/// The ops one after the other.
Tensor unfused(const Tensor& sums, const Epilogue& e) {
  Tensor y = sums;
  if (e.bias) y = y + *e.bias;
  if (e.activation) switch (*e.activation) {
      case UnaryOp::relu: y = y.relu(); break;
      case UnaryOp::gelu: y = y.gelu(); break;
      case UnaryOp::gelu_erf: y = y.gelu_erf(); break;
      case UnaryOp::silu: y = y.silu(); break;
      default: y = y.tanh();
    }
  if (e.scale != 1) y = y * e.scale;
  if (e.residual) y = y + *e.residual;
  return y;
}

std::vector<Epilogue> epilogues(const Dims& shape, DType dtype) {
  const Index n = shape.last(1);
  const Tensor bias = some({n}, dtype, 20);
  const Tensor residual = some(shape, dtype, 21);
  std::vector<Epilogue> all(1);
  all.push_back({.alpha = 0.3});
  all.push_back({.bias = bias});
  all.push_back({.residual = residual});
  for (const UnaryOp op :
       {UnaryOp::relu, UnaryOp::gelu, UnaryOp::gelu_erf, UnaryOp::silu, UnaryOp::tanh})
    all.push_back({.alpha = 1.5, .bias = bias, .activation = op});
  all.push_back({.alpha = 2,
                 .bias = bias,
                 .activation = UnaryOp::gelu_erf,
                 .scale = 0.7,
                 .residual = residual});
  all.push_back({.scale = -3, .residual = some({n}, dtype, 22)});
  all.push_back({.bias = some({2 * n}, dtype, 23).slice(0, 0, 2 * n, 2),
                 .residual = some({n, shape.last(2)}, dtype, 24).t()});
  return all;
}

TEST(Epilogue, HasTheBitsOfTheOpsOneAfterTheOther) {
  StdThreadPool pool(3);
  testing::for_each_isa([&] {
    for (const DType dtype : {DType::f32, DType::f64})
      for (const Index m : {1, 3, 16, 40})
        for (const auto& [k, n] :
             std::vector<std::pair<Index, Index>>{{0, 3}, {5, 1}, {64, 48}, {384, 33}, {800, 70}}) {
          const Tensor x = some({m, k}, dtype, 10), b = some({k, n}, dtype, 11);
          const PackedMatrix packed(b);
          int number = 0;
          for (const Epilogue& e : epilogues({m, n}, dtype)) {
            const Tensor sums = Tensor::zeros({m, n}, dtype);
            matmul_into(sums, x, b, e.alpha);
            const Tensor expected = unfused(sums, e);
            const std::string what = str(name(dtype), ' ', m, ' ', n, ' ', k, " #", number++);
            expect_same(matmul(x, packed, e), expected, what);
            const ExecutorScope scope(pool);
            const Tensor out = Tensor::zeros({m, n}, dtype), turned = Tensor::zeros({n, m}, dtype);
            matmul_into(out, x, b, e);
            expect_same(out, expected, what + " unpacked");
            matmul_into(turned.t(), x, b, e);
            expect_same(turned.t(), expected, what + " turned");
            if (e.residual && e.residual->shape() == out.shape()) {
              copy_into(out, *e.residual);
              Epilogue self = e;
              self.residual = out;
              matmul_into(out, x, packed, self);
              expect_same(out, expected, what + " in place");
            }
          }
        }
  });
}

TEST(Epilogue, Batches) {
  const Tensor x = some({3, 2, 7, 20}, DType::f32, 12), b = some({2, 20, 9}, DType::f32, 13);
  for (const Epilogue& e : epilogues({3, 2, 7, 9}, DType::f32)) {
    if (e.residual && e.residual->rank() == 2 && e.residual->shape() != Dims({7, 9})) continue;
    const Tensor sums = Tensor::empty({3, 2, 7, 9});
    matmul_into(sums, x, b, e.alpha);
    const Tensor out = Tensor::empty({3, 2, 7, 9});
    matmul_into(out, x, b, e);
    expect_same(out, unfused(sums, e), "batch");
  }
  // One matrix for all products, a residual that is not.
  const PackedMatrix packed(b.select(0, 0));
  const Epilogue e{.bias = some({9}, DType::f32, 14), .residual = some({2, 1, 9}, DType::f32, 15)};
  expect_same(matmul(x, packed, e), unfused(x.matmul(b.select(0, 0)), e), "shared");
}

TEST(Epilogue, SmallFloatsAreRoundedOnce) {
  testing::for_each_isa([] {
    for (const DType dtype : {DType::bf16, DType::f16, DType::f8e4m3}) {
      const Tensor x = some({21, 500}, dtype, 16), b = some({500, 40}, dtype, 17);
      const Tensor bias = some({40}, DType::f32, 18), residual = some({21, 40}, dtype, 19);
      Epilogue e{.bias = bias, .activation = UnaryOp::gelu_erf, .scale = 0.5};
      const Tensor wide = Tensor::empty({21, 40}, DType::f32);
      matmul_into(wide, x, b);
      Epilogue in_f32 = e;
      in_f32.residual = residual.to_dtype(DType::f32);
      e.residual = residual;
      const Tensor expected = unfused(wide, in_f32);
      expect_same(matmul(x, PackedMatrix(b), e), expected.to_dtype(dtype), "narrow");
      const Tensor out = Tensor::empty({21, 40}, DType::f32);
      matmul_into(out, x, PackedMatrix(b), in_f32);
      expect_same(out, expected, "wide");
    }
    for (const DType dtype : {DType::bf16, DType::f16}) {
      const Tensor x = some({21, 500}, DType::f32, 16), b = some({500, 40}, DType::f32, 17);
      const Tensor out = Tensor::empty({21, 40}, dtype);
      matmul_into(out, x, PackedMatrix(b), {.activation = UnaryOp::relu});
      expect_same(out, x.matmul(b).relu().to_dtype(dtype), "from f32");
      matmul_into(out, x, b);
      expect_same(out, x.matmul(b).to_dtype(dtype), "from f32, plain");
    }
  });
}

TEST(Epilogue, Errors) {
  const Tensor x = some({4, 6}, DType::f32, 1), b = some({6, 5}, DType::f32, 2);
  const PackedMatrix w(b);
  const auto kind = [](auto f) {
    try {
      f();
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::internal;
  };
  const auto with = [&](const Epilogue& e) { return kind([&] { matmul(x, w, e); }); };
  EXPECT_EQ(with({.beta = 1}), ErrorKind::argument);
  EXPECT_EQ(with({.bias = some({4}, DType::f32, 1)}), ErrorKind::shape);
  EXPECT_EQ(with({.bias = some({1, 5}, DType::f32, 1)}), ErrorKind::shape);
  EXPECT_EQ(with({.bias = some({5}, DType::f64, 1)}), ErrorKind::dtype);
  EXPECT_EQ(with({.residual = some({3, 5}, DType::f32, 1)}), ErrorKind::shape);
  EXPECT_EQ(with({.residual = some({4, 5}, DType::f16, 1)}), ErrorKind::dtype);
  EXPECT_EQ(kind([&] { matmul(some({4, 5}, DType::f32, 1), w); }), ErrorKind::shape);
  EXPECT_EQ(kind([&] { matmul(some({4, 6}, DType::f64, 1), w); }), ErrorKind::dtype);
  EXPECT_EQ(kind([&] { matmul(some({6}, DType::f32, 1), w); }), ErrorKind::shape);
  EXPECT_EQ(kind([&] { PackedMatrix(some({6}, DType::f32, 1)); }), ErrorKind::shape);
  EXPECT_EQ(kind([&] { PackedMatrix(Tensor::empty({4, 4}, DType::f4)); }),
            ErrorKind::unsupported_dtype);
  const Tensor ints = some({4, 4}, DType::i32, 1);
  EXPECT_EQ(kind([&] { matmul(ints, PackedMatrix(ints), {.scale = 2}); }),
            ErrorKind::unsupported_dtype);
  const Tensor memory = some({10, 5}, DType::f32, 3);
  EXPECT_EQ(kind([&] {
              matmul_into(memory.narrow(0, 0, 4), x, w, {.residual = memory.narrow(0, 1, 4)});
            }),
            ErrorKind::overlap);
  EXPECT_EQ(kind([&] { matmul_into(memory.narrow(0, 0, 4), x, w, {.bias = memory.select(0, 2)}); }),
            ErrorKind::overlap);
}

}  // namespace
}  // namespace wick
