// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "tests/all_isas.h"
#include "tests/ops/op_calls.h"
#include "tests/ops/samples.h"
#include "wick/tensor.h"

// prod, var, std, norm, logsumexp, any, all, cumsum and arg* over everything.

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers

constexpr f64 kNaN = std::numeric_limits<f64>::quiet_NaN();
constexpr f64 kInf = std::numeric_limits<f64>::infinity();

Tensor vec(const std::vector<f64>& v, DType t = DType::f32) {
  return Tensor::from_vector(v, {static_cast<Index>(v.size())}).to_dtype(t);
}

struct Op {
  const char* name;
  std::function<Tensor(const Tensor&, const Dims&, bool)> call;
  std::function<void(const Tensor&, const Tensor&, const Dims&, bool)> into;
  std::function<long double(const std::vector<long double>&)> meaning;
  bool floats_only = false;
};

long double moment(const std::vector<long double>& v, long double correction) {
  long double mean = 0, sum = 0;
  for (const auto x : v) mean += x / static_cast<long double>(v.size());
  for (const auto x : v) sum += (x - mean) * (x - mean);
  return sum / std::max(static_cast<long double>(v.size()) - correction, 0.0L);
}
long double norm_of(const std::vector<long double>& v, f64 p) {
  long double one = 0, two = 0, top = 0;
  for (const auto x : v) {
    one += std::fabs(x);
    two += x * x;
    top = std::max(top, std::fabs(x));
  }
  return p == 1 ? one : p == 2 ? std::sqrt(two) : top;
}

std::vector<Op> ops() {
  std::vector<Op> all;
  all.push_back(
      {"prod", [](const Tensor& x, const Dims& d, bool k) { return x.prod(d, k); },
       [](const Tensor& o, const Tensor& x, const Dims& d, bool k) { prod_into(o, x, d, k); },
       [](const auto& v) {
         long double p = 1;
         for (const auto x : v) p *= x;
         return p;
       }});
  for (const f64 c : {0.0, 1.0, 2.5}) {
    all.push_back(
        {"var", [c](const Tensor& x, const Dims& d, bool k) { return x.var(d, k, c); },
         [c](const Tensor& o, const Tensor& x, const Dims& d, bool k) { var_into(o, x, d, k, c); },
         [c](const auto& v) { return moment(v, c); }});
    all.push_back(
        {"std", [c](const Tensor& x, const Dims& d, bool k) { return x.std(d, k, c); },
         [c](const Tensor& o, const Tensor& x, const Dims& d, bool k) { std_into(o, x, d, k, c); },
         [c](const auto& v) { return std::sqrt(moment(v, c)); }});
  }
  for (const f64 p : {1.0, 2.0, kInf})
    all.push_back(
        {"norm", [p](const Tensor& x, const Dims& d, bool k) { return x.norm(p, d, k); },
         [p](const Tensor& o, const Tensor& x, const Dims& d, bool k) { norm_into(o, x, p, d, k); },
         [p](const auto& v) { return norm_of(v, p); }});
  all.push_back(
      {"logsumexp", [](const Tensor& x, const Dims& d, bool k) { return x.logsumexp(d, k); },
       [](const Tensor& o, const Tensor& x, const Dims& d, bool k) { logsumexp_into(o, x, d, k); },
       [](const auto& v) {
         long double s = 0;
         for (const auto x : v) s += std::exp(x);
         return std::log(s);
       },
       true});
  all.push_back(
      {"any", [](const Tensor& x, const Dims& d, bool k) { return x.any(d, k); },
       [](const Tensor& o, const Tensor& x, const Dims& d, bool k) { any_into(o, x, d, k); },
       [](const auto& v) {
         long double yes = 0;
         for (const auto x : v) yes = x != 0 ? 1 : yes;
         return yes;
       }});
  all.push_back(
      {"all", [](const Tensor& x, const Dims& d, bool k) { return x.all(d, k); },
       [](const Tensor& o, const Tensor& x, const Dims& d, bool k) { all_into(o, x, d, k); },
       [](const auto& v) {
         long double yes = 1;
         for (const auto x : v) yes = x == 0 ? 0 : yes;
         return yes;
       }});
  return all;
}

/// The elements of each result, in the order of the results.
std::vector<std::vector<long double>> groups_of(const Tensor& x, const Dims& dims) {
  std::vector<bool> gone(static_cast<std::size_t>(x.rank()), false);
  for (const Index d : dims) gone[static_cast<std::size_t>(d < 0 ? d + x.rank() : d)] = true;
  Dims kept;
  for (int i = 0; i < x.rank(); ++i)
    if (!gone[static_cast<std::size_t>(i)]) kept.push_back(x.shape()[i]);
  std::vector<std::vector<long double>> groups(static_cast<std::size_t>(element_count(kept)));
  const auto values = doubles_of(x);
  std::size_t n = 0;
  for_each_index(x.shape(), [&](const Dims& at) {
    Index g = 0;
    for (int i = 0; i < x.rank(); ++i)
      if (!gone[static_cast<std::size_t>(i)]) g = g * x.shape()[i] + at[i];
    groups[static_cast<std::size_t>(g)].push_back(values[n++]);
  });
  return groups;
}

DType result_of(const Op& op, DType t) {
  const std::string name = op.name;
  if (name == "any" || name == "all") return DType::u8;
  if (is_float(t)) return t;
  return name == "prod" ? DType::i64 : DType::f64;
}

Dims random_dims(Random& random, int rank) {
  Dims dims;
  for (int i = 0; i < rank; ++i)
    if (random.chance(50)) dims.push_back(random.chance(50) ? i : i - rank);
  return dims;
}

void check_near(const Op& op, const Tensor& got, const Tensor& x, const Dims& dims) {
  const auto groups = groups_of(x, dims);
  const auto values = doubles_of(got);
  ASSERT_EQ(values.size(), groups.size());
  const double unit = is_int(got.dtype()) ? 0 : rounding_error(got.dtype());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto want = static_cast<double>(op.meaning(groups[i]));
    if (std::isnan(want) || std::isinf(want)) {
      ASSERT_EQ(std::isnan(values[i]), std::isnan(want)) << op.name << " " << name(x.dtype());
      continue;
    }
    const bool log = std::string(op.name) == "logsumexp";
    const double tiny = got.dtype() == DType::f8e4m3 ? 0x1p-9
                        : got.dtype() == DType::f16  ? 0x1p-24
                        : log                        ? unit
                                                     : 1e-300;
    if (got.dtype() == DType::f8e4m3 && std::fabs(want) > 440) continue;  // saturates
    if (got.dtype() == DType::f16 && std::fabs(want) > 65000) continue;
    ASSERT_NEAR(values[i], want,
                1.02 * unit * std::fabs(want) + 40 * 0x1p-53 * std::fabs(want) + tiny)
        << op.name << " " << name(x.dtype()) << to_string(x.shape()) << " over " << to_string(dims);
  }
}

TEST(ReduceWide, AgainstAPlainLoopOverAnyViews) {
  Random random(1);
  const auto all = ops();
  for (int round = 0; round < 250; ++round) {
    const DType t = kTen[random.below(10)];
    const Dims shape = random_shape(random, 4, round % 4 == 0 ? 14 : 6);
    const double scale = is_int(t) ? 3 : 1;
    const Tensor x = random_view(normal(shape, t, random.bits(), scale), random);
    const Dims dims = random_dims(random, x.rank());
    const bool keepdim = random.chance(50);
    const Tensor compact = x.copy();
    for (const Op& op : all) {
      if (op.floats_only && is_int(t)) continue;
      const Tensor got = op.call(x, dims, keepdim);
      ASSERT_EQ(got.dtype(), result_of(op, t));
      // Products of many integers wrap; of many floats they leave the range.
      if (std::string(op.name) != "prod" || x.element_count() < 20) check_near(op, got, x, dims);
      ASSERT_TRUE(same_bits(got, op.call(compact, dims, keepdim))) << op.name << name(t);
      const Tensor out = strided_empty(got.shape(), got.dtype(), random);
      op.into(out, x, dims, keepdim);
      ASSERT_TRUE(same_bits(out, got)) << op.name;
    }
  }
}

TEST(ReduceWide, LargeViewsGiveTheBitsOfTheirCopies) {
  const auto all = ops();
  for (const DType t : {DType::f32, DType::f64, DType::bf16, DType::i32}) {
    const Tensor x = normal({50, 70, 90}, t, 3, is_int(t) ? 9 : 1);
    for (const Tensor& v :
         {x, x.transpose(0, 2), x.permute({1, 2, 0}), x.flip(1).flip(2), x.slice(2, 1, 90, 2)}) {
      const Tensor c = v.copy();
      for (const Dims& dims : {Dims{0}, Dims{1}, Dims{2}, Dims{0, 1}, Dims{0, 2}, Dims{0, 1, 2}})
        for (const Op& op : all) {
          if (op.floats_only && is_int(t)) continue;
          const Tensor got = op.call(v, dims, false);
          ASSERT_TRUE(same_bits(got, op.call(c, dims, false))) << op.name << to_string(dims);
          // (The plain loops are slow: only those that merge many parts.)
          if (t == DType::f32 && dims.rank() == 3 && std::string(op.name) != "prod")
            check_near(op, got, v, dims);
        }
    }
  }
}

TEST(ReduceWide, EveryIsaGivesNearlyTheSame) {
  for_each_isa([] {
    const auto all = ops();
    for (const DType t : {DType::f32, DType::f16, DType::f64, DType::i16})
      for (const Dims& shape : {Dims{1000, 3}, Dims{3, 1000}, Dims{40, 33}}) {
        const Tensor x = normal(shape, t, 4, is_int(t) ? 9 : 1);
        for (const Op& op : all)
          if (!(op.floats_only && is_int(t)) && std::string(op.name) != "prod") {
            check_near(op, op.call(x, {0}, false), x, {0});
            check_near(op, op.call(x, {1}, false), x, {1});
          }
      }
  });
}

TEST(ReduceWide, SameBitsForAnyThreadCount) {
  const auto all = ops();
  for (const DType t : {DType::f32, DType::f16, DType::f64, DType::i32}) {
    const Tensor x = normal({37, 123, 61}, t, 4, is_int(t) ? 10 : 1);
    for (const Op& op : all) {
      if (op.floats_only && is_int(t)) continue;
      for (const Dims& dims : {Dims{0}, Dims{2}, Dims{0, 1, 2}})
        expect_same_bits_for_any_threads([&] { return op.call(x, dims, false); });
    }
    for (const Index dim : {0, 1, 2})
      expect_same_bits_for_any_threads([&] { return x.cumsum(dim); });
    expect_same_bits_for_any_threads([&] { return x.argmax(); });
    expect_same_bits_for_any_threads([&] { return x.t().argmin(); });
  }
}

TEST(ReduceWide, C025_EqualElementsHaveNoVariance) {
  for (const DType t : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::f8e4m3})
    for (const f64 v : {100.0, 0.1, -3e-5, 7.0}) {
      const Tensor column = Tensor::full({1000000, 1}, v, t);
      EXPECT_EQ(column.std(Index{0}).item<f64>(), 0) << v;
      EXPECT_EQ(column.broadcast_as({1000000, 3}).var(Index{0}).sum().item<f64>(), 0) << v;
      EXPECT_EQ(column.t().std(Index{1}).item<f64>(), 0) << v;
    }
  EXPECT_EQ(Tensor::full({100000}, 77, DType::i64).var().item<f64>(), 0);
  // A small variance around a large mean; never negative.
  const Tensor x = vec({40000, 40001, 40002, 40003});
  EXPECT_NEAR(x.var(Index{0}, false, 0).item<f64>(), 1.25, 1e-7);
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const Tensor y = normal({random.between(1, 3000)}, DType::f32, random.bits(), 1e-6).add(1e6);
    EXPECT_GE(y.var(Index{0}, false, 0).item<f32>(), 0);
  }
}

TEST(ReduceWide, C033_EmptyAndSingle) {
  const Tensor none = Tensor::empty({0}), rows = Tensor::empty({2, 0});
  EXPECT_EQ(none.prod().item<f32>(), 1);
  EXPECT_EQ(Tensor::empty({0}, DType::i32).prod().item<i64>(), 1);
  EXPECT_TRUE(std::isnan(none.var().item<f32>()));
  EXPECT_TRUE(std::isnan(none.std().item<f32>()));
  EXPECT_TRUE(std::isnan(vec({3}).var().item<f32>()));
  EXPECT_EQ(vec({3}).var(Index{0}, false, 0).item<f32>(), 0);
  EXPECT_EQ(none.norm().item<f32>(), 0);
  EXPECT_EQ(none.norm(1).item<f32>(), 0);
  EXPECT_EQ(none.norm(kInf).item<f32>(), 0);
  EXPECT_EQ(none.logsumexp(0).item<f64>(), -kInf);
  EXPECT_EQ(none.any().item<u8>(), 0);
  EXPECT_EQ(none.all().item<u8>(), 1);
  EXPECT_EQ(rows.prod(Index{1}).to_vector<f32>(), std::vector<f32>(2, 1));
  EXPECT_EQ(rows.all(1, true).shape(), (Dims{2, 1}));
  EXPECT_EQ(rows.prod(Index{0}).shape(), Dims{0});
  EXPECT_EQ(rows.cumsum(1).shape(), (Dims{2, 0}));
  EXPECT_ERROR(none.argmax(), shape);
  EXPECT_EQ(Tensor::scalar(5).argmax().item<u32>(), 0U);
  EXPECT_EQ(Tensor::scalar(5).prod().item<f32>(), 5);
  EXPECT_EQ(Tensor::scalar(-5).norm().item<f32>(), 5);
}

TEST(ReduceWide, C038_NormsNeitherOverflowNorVanish) {
  EXPECT_NEAR(vec({3e30, 4e30}).norm().item<f64>() / 5e30, 1, 1e-7);
  for (const f64 s : {1.0, 1e-310, 1e-200, 1e200, 3e307}) {
    const Tensor x = vec({3 * s, 4 * s, 0}, DType::f64);
    EXPECT_NEAR(x.norm().item<f64>() / s, 5, 1e-10) << s;
    EXPECT_NEAR(x.flip(0).unsqueeze(1).broadcast_as({3, 20}).norm(2, 0).to_vector<f64>()[19] / s, 5,
                1e-10);
  }
  EXPECT_NEAR(vec({3e-42, 4e-42}).norm().item<f64>(), 5e-42, 2e-45);
  EXPECT_EQ(Tensor::full({100000}, 300, DType::f16).norm(1).item<f32>(), kInf);  // 3e7
  EXPECT_EQ(Tensor::full({10000}, 300, DType::f16).norm().item<f32>(), 30000);
  EXPECT_EQ(vec({1, kInf}).norm().item<f64>(), kInf);
  EXPECT_EQ(vec({1e200, -kInf, 1e-200}, DType::f64).norm().item<f64>(), kInf);
  for (const f64 p : {1.0, 2.0, kInf}) {
    EXPECT_TRUE(std::isnan(vec({1, kNaN, 2}).norm(p).item<f64>()));
    EXPECT_TRUE(std::isnan(vec({1e300, kNaN}, DType::f64).norm(p).item<f64>()));
  }
  EXPECT_EQ(vec({-128, 100}, DType::i16).norm(kInf).item<f64>(), 128);
  EXPECT_EQ(Tensor::full({1}, INT64_MIN, DType::i64).norm(kInf).item<f64>(), 0x1p63);
}

TEST(ReduceWide, C039_NormsOfAColumn) {
  const Tensor x = Tensor::from_vector<f32>({1, -9, 2, 3}, {2, 2});
  EXPECT_EQ(x.select(1, 0).norm(kInf).item<f32>(), 2);
  EXPECT_EQ(x.norm(kInf, 0).to_vector<f32>(), (std::vector<f32>{2, 9}));
  EXPECT_EQ(x.select(1, 1).norm(1).item<f32>(), 12);
}

TEST(ReduceWide, LogSumExpOfLargeAndInfiniteNumbers) {
  for (const DType t : {DType::f32, DType::f64}) {
    EXPECT_NEAR(vec({1000, 1000}, t).logsumexp(0).item<f64>(), 1000 + std::log(2.0), 1e-4);
    EXPECT_NEAR(vec({-1000, -1000}, t).logsumexp(0).item<f64>(), -1000 + std::log(2.0), 1e-4);
    EXPECT_EQ(vec({-kInf, -kInf}, t).logsumexp(0).item<f64>(), -kInf);
    EXPECT_EQ(vec({-kInf, 3}, t).logsumexp(0).item<f64>(), 3);
    EXPECT_EQ(vec({kInf, 3}, t).logsumexp(0).item<f64>(), kInf);
    EXPECT_EQ(vec({kInf, -kInf}, t).logsumexp(0).item<f64>(), kInf);
    EXPECT_TRUE(std::isnan(vec({kNaN, kInf}, t).logsumexp(0).item<f64>()));
    // The blocks of a long one: from -inf on, and with one large number anywhere.
    const Tensor x = Tensor::full({20000}, -kInf, t);
    fill_into(x.narrow(0, 15000, 1), 2);
    EXPECT_EQ(x.logsumexp(0).item<f64>(), 2);
    EXPECT_EQ(x.unsqueeze(1).broadcast_as({20000, 9}).logsumexp(0).to_vector<f64>(),
              std::vector<f64>(9, 2));
  }
}

TEST(ReduceWide, AnyAndAll) {
  EXPECT_EQ(vec({0, -0.0}).any().item<u8>(), 0);
  EXPECT_EQ(vec({0, kNaN}).any().item<u8>(), 1);
  EXPECT_EQ(vec({1, kNaN}).all().item<u8>(), 1);
  for (const DType t : kTen)
    for (const Index n : {1, 7, 100, 9000})
      for (const Index at : {Index{0}, n / 2, n - 1}) {
        const Tensor x = Tensor::zeros({n}, t), y = Tensor::ones({n}, t);
        fill_into(x.narrow(0, at, 1), 2);
        fill_into(y.narrow(0, at, 1), 0);
        EXPECT_EQ(x.any().item<u8>(), 1);
        EXPECT_EQ(y.all().item<u8>(), 0);
        EXPECT_EQ(x.all().item<u8>(), n == 1 ? 1 : 0);
        EXPECT_EQ(y.flip(0).any().item<u8>(), n == 1 ? 0 : 1);
      }
}

TEST(ReduceWide, ProductsOfIntegersWrap) {
  EXPECT_EQ(Tensor::full({70}, 2, DType::u8).prod().item<i64>(), 0);
  EXPECT_EQ(Tensor::full({63}, -2, DType::i32).prod().item<i64>(), INT64_MIN);
  EXPECT_EQ(Tensor::full({20000, 2}, -1, DType::i64).prod(Index{0}).to_vector<i64>(),
            std::vector<i64>(2, 1));
}

TEST(ReduceWide, ArgOfEverything) {
  const Tensor x = Tensor::from_vector<f32>({1, 5, 0, 7, 7, -2}, {2, 3});
  EXPECT_EQ(x.argmax().item<u32>(), 3U);
  EXPECT_EQ(x.argmin().item<u32>(), 5U);
  EXPECT_EQ(x.t().argmax().item<u32>(), 1U);  // [[1, 7], [5, 7], [0, -2]]
  EXPECT_EQ(x.flip(1).argmax().item<u32>(), 4U);
  Random random(6);
  for (int round = 0; round < 100; ++round) {
    const Tensor y = random_view(
        normal(random_shape(random, 4, 9, 1), kFloats[random.below(5)], random.bits()), random);
    if (y.element_count() == 0) continue;
    const auto v = doubles_of(y);
    const auto at = std::max_element(v.begin(), v.end()) - v.begin();
    EXPECT_EQ(y.argmax().item<u32>(), static_cast<u32>(at));
  }
}

TEST(Cumsum, C040_Values) {
  EXPECT_EQ(vec({1, kInf, 2}).cumsum(0).to_vector<f64>(), (std::vector<f64>{1, kInf, kInf}));
  const auto nan = vec({1, kNaN, 2}).cumsum(0).to_vector<f64>();
  EXPECT_EQ(nan[0], 1);
  EXPECT_TRUE(std::isnan(nan[1]) && std::isnan(nan[2]));
  for (const DType t : kTen) {
    const Tensor x = vec({1, 2, 3, 4}, t).reshape({2, 2});
    EXPECT_EQ(x.cumsum(0).to_vector<f64>(), (std::vector<f64>{1, 2, 4, 6}));
    EXPECT_EQ(x.cumsum(-1).to_vector<f64>(), (std::vector<f64>{1, 3, 3, 7}));
    EXPECT_EQ(x.cumsum(0).dtype(), is_int(t) ? DType::i64 : t);
  }
  const Tensor ones = Tensor::ones({100000});
  EXPECT_EQ(ones.cumsum(0).select(0, 99999).item<f32>(), 100000);
  EXPECT_EQ(Tensor::full({300}, 200, DType::u8).cumsum(0).select(0, 299).item<i64>(), 60000);
  EXPECT_EQ(Tensor::full({4096}, 1, DType::f16).cumsum(0).select(0, 4095).item<f32>(), 4096);
}

TEST(Cumsum, C028_ReversedViews) {
  const auto y = Tensor::arange(0, 10).flip(0).cumsum(0).to_vector<f32>();
  EXPECT_EQ(y[0], 9);
  EXPECT_EQ(y[1], 17);
  EXPECT_EQ(y[2], 24);
}

TEST(Cumsum, AgainstAPlainLoopOverAnyViews) {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    const DType t = kTen[random.below(10)];
    const Tensor x = random_view(normal(random_shape(random, 3, round % 3 == 0 ? 40 : 9), t,
                                        random.bits(), is_int(t) ? 20 : 1),
                                 random);
    if (x.rank() == 0) continue;
    const Index dim = random.below(x.rank());
    const Tensor got = x.cumsum(dim - x.rank());
    ASSERT_TRUE(same_bits(got, x.copy().cumsum(dim)));
    const Tensor out = strided_empty(got.shape(), got.dtype(), random);
    cumsum_into(out, x, dim);
    ASSERT_TRUE(same_bits(out, got));
    if (got.dtype() == t) {
      copy_into(out, x);
      cumsum_into(out, out, dim);
      ASSERT_TRUE(same_bits(out, got)) << "in place";
    }
    const auto in = doubles_of(x), values = doubles_of(got);
    std::map<Index, f64> sums;
    std::size_t n = 0;
    for_each_index(x.shape(), [&](const Dims& at) {
      Index line = 0;
      for (int i = 0; i < x.rank(); ++i) line = line * x.shape()[i] + (i == dim ? 0 : at[i]);
      f64& sum = sums[line];
      sum += in[n];
      const f64 want = is_int(t) ? sum : doubles_of(Tensor::full({}, sum, t))[0];
      // Small floats are rounded by way of f32.
      const f64 slack = is_int(t) || t == DType::f32 || t == DType::f64
                            ? 0
                            : 2.1 * rounding_error(t) * std::fabs(want);
      ASSERT_NEAR(values[n], want, slack) << name(t) << n;
      ++n;
    });
  }
}

TEST(ReduceWide, Errors) {
  const Tensor x = Tensor::ones({2, 3, 4});
  EXPECT_ERROR(x.prod({0, 0}), argument);
  EXPECT_ERROR(x.var(Dims{3}), index);
  EXPECT_ERROR(x.var(0, false, -1), argument);
  EXPECT_ERROR(x.std(0, false, kNaN), argument);
  EXPECT_ERROR(x.norm(3), argument);
  EXPECT_ERROR(x.norm(-kInf, 0), argument);
  EXPECT_ERROR(x.norm(kNaN), argument);
  EXPECT_ERROR(x.cumsum(3), index);
  EXPECT_ERROR(Tensor::scalar(1).cumsum(0), index);
  EXPECT_ERROR(x.to_dtype(DType::i32).logsumexp(0), unsupported_dtype);
  for (const DType t : {DType::f4, DType::f8e8m0}) {
    const Tensor raw = Tensor::empty({4}, t);
    EXPECT_ERROR(raw.prod(), unsupported_dtype);
    EXPECT_ERROR(raw.any(), unsupported_dtype);
    EXPECT_ERROR(raw.cumsum(0), unsupported_dtype);
    EXPECT_ERROR(raw.argmax(), unsupported_dtype);
  }
  EXPECT_ERROR(var_into(Tensor::ones({2, 3}), x, {0}), shape);
  EXPECT_ERROR(any_into(Tensor::ones({3, 4}), x, {0}), dtype);
  EXPECT_ERROR(norm_into(x.select(0, 0), x, 2, {0}), overlap);
  EXPECT_ERROR(prod_into(Tensor::ones({1, 4}).broadcast_as({3, 4}), x, {0}), overlap);
  EXPECT_ERROR(cumsum_into(x.flip(0), x, 0), overlap);
  EXPECT_ERROR(cumsum_into(Tensor::ones({2, 3, 4}, DType::f64), x, 0), dtype);
}

}  // namespace
}  // namespace wick
