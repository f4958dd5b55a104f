// SPDX-License-Identifier: Apache-2.0
#include "wick/einsum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/ops/op_calls.h"
#include "tests/ops/samples.h"

namespace wick {
namespace {

using namespace wick::testing;  // NOLINT: the tests' own helpers

/// The definition, for an equation with letters only and an arrow: loops over all letters.
struct Naive {
  Dims shape;
  std::vector<f64> values;
  std::vector<f64> sizes;  ///< sums of |products|
};

f64 at(const Tensor& x, const Dims& index) {
  return dispatch<f64>(x.dtype(), "at", [&]<Element T>(std::type_identity<T>) {
    return convert<f64>(std::get<Buffer<T>>(x.storage()).data()[offset_of(x.layout(), index)]);
  });
}

Naive naive(const std::string& equation, const std::vector<Tensor>& operands) {
  const auto arrow = equation.find("->");
  const std::string out = equation.substr(arrow + 2);
  std::vector<std::string> terms{""};
  for (const char c : equation.substr(0, arrow))
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  std::map<char, Index> sizes;
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (std::size_t d = 0; d < terms[i].size(); ++d) {
      const Index n = operands[i].shape()[static_cast<int>(d)];
      Index& known = sizes.try_emplace(terms[i][d], 1).first->second;
      if (n != 1) known = n;
    }
  std::string letters = out;
  for (const auto& [c, n] : sizes)
    if (out.find(c) == std::string::npos) letters += c;
  std::vector<Index> extent, index(letters.size(), 0);
  for (const char c : letters) extent.push_back(sizes[c]);
  Naive result;
  Index outputs = 1, all = 1;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (i < out.size()) {
      result.shape.push_back(extent[i]);
      outputs *= extent[i];
    }
    all *= extent[i];
  }
  result.values.assign(static_cast<std::size_t>(outputs), 0);
  result.sizes = result.values;
  for (Index n = 0; n < all; ++n) {
    Index rest = n, o = 0;
    for (std::size_t i = letters.size(); i-- > 0;) {
      index[i] = rest % extent[i];
      rest /= extent[i];
    }
    for (std::size_t i = 0; i < out.size(); ++i) o = o * extent[i] + index[i];
    f64 product = 1;
    for (std::size_t k = 0; k < terms.size(); ++k) {
      Dims place;
      for (std::size_t d = 0; d < terms[k].size(); ++d) {
        const Index i = index[letters.find(terms[k][d])];
        place.push_back(operands[k].shape()[static_cast<int>(d)] == 1 ? 0 : i);
      }
      product *= at(operands[k], place);
    }
    result.values[static_cast<std::size_t>(o)] += product;
    result.sizes[static_cast<std::size_t>(o)] += std::fabs(product);
  }
  return result;
}

void check(const std::string& equation, const std::vector<Tensor>& operands, Random& random) {
  SCOPED_TRACE(equation);
  const Tensor got = einsum(equation, operands);
  const Naive want = naive(equation, operands);
  ASSERT_EQ(got.dtype(), operands[0].dtype());
  ASSERT_EQ(got.shape(), want.shape);
  ASSERT_TRUE(got.is_contiguous());
  const auto values = doubles_of(got);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double unit = is_int(got.dtype()) ? 0 : rounding_error(got.dtype());
    ASSERT_NEAR(values[i], want.values[i],
                unit * (40 * want.sizes[i] + (got.dtype() == DType::f16 ? 1e-3 : 0)))
        << i;
  }
  std::vector<Tensor> compact;
  for (const Tensor& x : operands) compact.push_back(x.copy());
  ASSERT_TRUE(same_bits(got, einsum(equation, compact)));
  const Tensor out = strided_empty(got.shape(), got.dtype(), random);
  einsum_into(out, equation, operands);
  ASSERT_TRUE(same_bits(out, got));
}

/// Operands for an equation: sizes by letter, each operand lying in memory in some odd way.
std::vector<Tensor> operands_for(const std::string& equation, DType t, Random& random, Index most,
                                 bool ones) {
  std::map<char, Index> sizes;
  std::vector<Tensor> operands;
  std::string term;
  for (const char c : equation.substr(0, equation.find("->")) + ",") {
    if (c != ',') {
      term += c;
      continue;
    }
    Dims shape;
    for (const char l : term) {
      const Index n = sizes.try_emplace(l, random.between(most > 3 ? 1 : 0, most)).first->second;
      const bool repeated = std::count(term.begin(), term.end(), l) > 1;
      shape.push_back(ones && !repeated && random.chance(15) ? 1 : n);
    }
    const Tensor x = strided_empty(shape, t, random);
    copy_into(x, normal(shape, DType::f64, random.bits(), 2).to_dtype(t));
    operands.push_back(x);
    term.clear();
  }
  return operands;
}

TEST(Einsum, AgainstTheDefinition) {
  Random random(1);
  const char* equations[] = {"i->i",
                             "ij->ji",
                             "ij->i",
                             "ij->",
                             "ii->i",
                             "ii->",
                             "iij->j",
                             "iji->ij",
                             "abc->cab",
                             "i,i->",
                             "i,j->ij",
                             "i,j->ji",
                             "ij,j->i",
                             "ij,jk->ik",
                             "ij,jk->ki",
                             "ji,jk->ik",
                             "ij,kj->ik",
                             "bij,bjk->bik",
                             "bij,bkj->ikb",
                             "bhqd,bhkd->bhqk",
                             "bqhd,bkhd->bhqk",
                             "ijk,jki->",
                             "ijk,jil->kl",
                             "ijk,lkj->il",
                             "ab,cd->abcd",
                             "ab,ab->ab",
                             "ab,ba->a",
                             "abc,abd->cd",
                             "ij,ij->",
                             "iij,jk->ik",
                             "ij,k->i",
                             "ij,kl->",
                             "abij,bk->aijk",
                             "i,->i",
                             ",->",
                             "ab,b,bc->ac",
                             "ij,jk,kl->il",
                             "ij,jk,ki->",
                             "abc,cd,de,e->ab",
                             "i,i,i->i",
                             "abcd,efbd->aefc",
                             "abcdef,fb->aced"};
  for (const char* equation : equations)
    for (const DType t : {DType::f32, DType::f64, DType::i32, DType::f16})
      for (int round = 0; round < 6; ++round) {
        const bool many = std::string(equation).size() > 16;
        if (many && t == DType::f16) continue;
        check(equation,
              operands_for(equation, t, random, round < 3 ? (many ? 4 : 7) : 2, round % 2 == 1),
              random);
        if (HasFatalFailure()) return;
      }
}

TEST(Einsum, DotsAndImplicitOutputs) {
  const Tensor a = normal({2, 3, 4, 5}, DType::f32, 1), b = normal({3, 5, 6}, DType::f32, 2),
               m = normal({4, 4}, DType::f32, 3), v = normal({5}, DType::f32, 4);
  EXPECT_TRUE(same_bits(einsum("...ij,...jk->...ik", {a, b}), a.matmul(b)));
  EXPECT_TRUE(same_bits(einsum("...ij,...jk", {a, b}), a.matmul(b)));
  EXPECT_TRUE(same_bits(einsum(" ij, jk -> ik ", {m, m}), m.matmul(m)));
  EXPECT_TRUE(same_bits(einsum("ij,jk", {m, m}), m.matmul(m)));
  EXPECT_TRUE(same_bits(einsum("ba", {b.select(0, 0)}), b.select(0, 0).t().copy()));
  EXPECT_TRUE(same_bits(einsum("aB->Ba", {m}), einsum("aB", {m})));  // capitals first
  EXPECT_TRUE(same_bits(einsum("ii", {m}), einsum("ii->", {m})));
  EXPECT_TRUE(same_bits(einsum("i...->...i", {a}), a.permute({1, 2, 3, 0}).copy()));
  EXPECT_TRUE(same_bits(einsum("...,...->...", {a, v}), a.mul(v)));
  EXPECT_TRUE(same_bits(einsum("...i->...", {a}), a.sum(Index{-1})));
  EXPECT_TRUE(same_bits(einsum("...->", {v}), v.sum()));
  EXPECT_TRUE(same_bits(einsum("...i,i", {a, v}), einsum("...i,i->...", {a, v})));
}

TEST(Einsum, SameBitsForAnyThreadCount) {
  const Tensor a = normal({8, 100, 3, 64}, DType::f32, 5),
               b = normal({8, 90, 3, 64}, DType::f32, 6);
  expect_same_bits_for_any_threads([&] { return einsum("bqhd,bkhd->bhqk", {a, b}); });
  // A row of a batch has the bits of the same product alone.
  const Tensor scores = einsum("bqhd,bkhd->bhqk", {a, b});
  EXPECT_TRUE(same_bits(scores.select(0, 3).select(0, 1),
                        a.select(0, 3).select(1, 1).matmul(b.select(0, 3).select(1, 1).t())));
}

TEST(Einsum, Errors) {
  const Tensor m = Tensor::ones({2, 3}), v = Tensor::ones({3});
  EXPECT_ERROR(einsum("ij", {m, v}), argument);
  EXPECT_ERROR(einsum("ij,j", {m}), argument);
  EXPECT_ERROR(einsum("", std::span<const Tensor>()), argument);
  EXPECT_ERROR(einsum("ijk", {m}), argument);
  EXPECT_ERROR(einsum("i", {m}), argument);
  EXPECT_ERROR(einsum("i1", {m}), argument);
  EXPECT_ERROR(einsum("ij->k", {m}), argument);
  EXPECT_ERROR(einsum("ij->ii", {m}), argument);
  EXPECT_ERROR(einsum("ij->i->j", {m}), argument);
  EXPECT_ERROR(einsum("...i...->i", {m}), argument);
  EXPECT_ERROR(einsum("i..j->i", {m}), argument);
  EXPECT_ERROR(einsum("ij-", {m}), argument);
  EXPECT_ERROR(einsum("ii", {m}), shape);
  EXPECT_ERROR(einsum("ij,ji", {m, m}), shape);
  EXPECT_ERROR(einsum("ij,jk", {m, m}), shape);
  EXPECT_ERROR(einsum("ij,j", {m, v.to_dtype(DType::f64)}), dtype);
  EXPECT_ERROR(einsum("i", {Tensor::empty({4}, DType::f4)}), unsupported_dtype);
  EXPECT_ERROR(einsum("abcde,fghij->abcdefghij",
                      {Tensor::ones({1, 1, 1, 1, 1}), Tensor::ones({1, 1, 1, 1, 1})}),
               argument);
  EXPECT_ERROR(einsum_into(Tensor::ones({2}), "ij,j->", {m, v}), shape);
  EXPECT_ERROR(einsum_into(m, "ij->ij", {m}), overlap);
  EXPECT_ERROR(einsum_into(Tensor::ones({2}, DType::f64), "ij,j->i", {m, v}), dtype);
  const Error e = error_of([&] { (void)einsum("ij,jk", {m, m}); });
  EXPECT_NE(std::string(e.what()).find("'j'"), std::string::npos) << e.what();
}

}  // namespace
}  // namespace wick
