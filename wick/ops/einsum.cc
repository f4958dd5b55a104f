// SPDX-License-Identifier: Apache-2.0
#include "wick/einsum.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "wick/core/dispatch.h"
#include "wick/ops/check.h"

namespace wick {
namespace {

constexpr std::string_view kOp = "einsum";

// Labels: the letters in alphabetical order, capitals first, and then the dims that "..." stands
// for, counted from the last one.
constexpr int kLetters = 52;
constexpr int kLabels = kLetters + kMaxRank;
using Labels = std::vector<int>;
using Sizes = std::array<Index, kLabels>;  // -1: not seen

int label_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  return -1;
}
std::string letter(int label) {
  if (label >= kLetters) return "...";
  return std::string(1, static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26));
}

[[noreturn]] void fail(std::string_view equation, std::string_view what) {
  throw Error(ErrorKind::argument, kOp, str("\"", equation, "\": ", what));
}

/// One side of a comma or an arrow: letters, and where "..." stands (-1: nowhere).
struct Term {
  Labels letters;
  int dots = -1;
};

Term parse_term(std::string_view equation, std::string_view text) {
  Term term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (term.dots >= 0) fail(equation, "\"...\" stands twice in one term");
      term.dots = static_cast<int>(term.letters.size());
      i += 2;
    } else if (label_of(c) >= 0) {
      term.letters.push_back(label_of(c));
    } else {
      fail(equation, str("wanted letters, \"...\", \",\" and one \"->\", got '", c, "'"));
    }
  }
  return term;
}

/// The labels of a term whose dots stand for `dots` dims.
Labels with_dots(const Term& term, int dots) {
  Labels labels = term.letters;
  if (term.dots < 0) return labels;
  for (int i = 0; i < dots; ++i)
    labels.insert(labels.begin() + term.dots + i, kLetters + dots - 1 - i);
  return labels;
}

/// A tensor whose dims have labels, each at most once.
struct Labelled {
  Tensor x;
  Labels labels;

  int dim(int label) const {
    const auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? -1 : static_cast<int>(at - labels.begin());
  }
  Index stride(int label) const {
    const int d = dim(label);
    return d < 0 || x.shape()[d] == 1 ? 0 : x.layout().strides[d];
  }
};

/// Repeated labels become the diagonal of their dims.
Labelled diagonal(std::string_view equation, const Tensor& x, const Labels& labels) {
  Labelled result;
  Layout layout;
  layout.offset = x.layout().offset;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const int d = static_cast<int>(i), at = result.dim(labels[i]);
    if (at < 0) {
      result.labels.push_back(labels[i]);
      layout.shape.push_back(x.shape()[d]);
      layout.strides.push_back(x.layout().strides[d]);
    } else if (layout.shape[at] == x.shape()[d]) {
      layout.strides[at] += x.layout().strides[d];
    } else {
      throw error_about(ErrorKind::shape, kOp,
                        str("\"", equation, "\": '", letter(labels[i]), "' is ", layout.shape[at],
                            " and ", x.shape()[d], " in one operand"),
                        {&x});
    }
  }
  result.x = TensorAccess::make(x.storage(), layout);
  return result;
}

/// The operands with their dims broadcast, and what the output is made of.
struct Problem {
  std::vector<Labelled> operands;
  Labels out;
  Dims shape;  ///< of the output
  Sizes sizes{};
};

void learn_sizes(std::string_view equation, Problem& p) {
  p.sizes.fill(-1);
  for (const Labelled& operand : p.operands)
    for (std::size_t i = 0; i < operand.labels.size(); ++i) {
      Index& known = p.sizes[static_cast<std::size_t>(operand.labels[i])];
      const Index size = operand.x.shape()[static_cast<int>(i)];
      if (known < 0 || known == 1) {
        known = size;
      } else if (size != known && size != 1) {
        throw error_about(ErrorKind::shape, kOp,
                          str("\"", equation, "\": '", letter(operand.labels[i]), "' is ", known,
                              " in one operand and ", size, " in another"),
                          {&operand.x});
      }
    }
}

Problem parse(std::string_view equation, std::span<const Tensor> tensors) {
  const std::size_t arrow = equation.find("->");
  const std::string_view left = equation.substr(0, arrow);
  std::vector<Term> terms;
  for (std::size_t from = 0;;) {
    const std::size_t comma = left.find(',', from);
    terms.push_back(parse_term(equation, left.substr(from, comma - from)));
    if (comma == std::string_view::npos) break;
    from = comma + 1;
  }
  if (terms.size() != tensors.size())
    fail(equation, str("wanted ", terms.size(), " operands, got ", tensors.size()));
  Problem p;
  int most_dots = 0;
  std::array<int, kLetters> uses{};
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Tensor& x = tensors[i];
    check_same_dtype(tensors[0].dtype(), x.dtype(), kOp);
    if (is_raw(x.dtype())) throw_unsupported(x.dtype(), kOp);
    const int named = static_cast<int>(terms[i].letters.size());
    const int dots = x.rank() - named;
    if (dots < 0 || (dots > 0 && terms[i].dots < 0))
      fail(equation,
           str("operand ", i, " has ", named, " letters, but shape ", to_string(x.shape())));
    most_dots = std::max(most_dots, terms[i].dots < 0 ? 0 : dots);
    for (const int l : terms[i].letters) ++uses[static_cast<std::size_t>(l)];
    p.operands.push_back(diagonal(equation, x, with_dots(terms[i], dots)));
  }
  Term out;
  if (arrow == std::string_view::npos) {
    out.dots = 0;
    for (int l = 0; l < kLetters; ++l)
      if (uses[static_cast<std::size_t>(l)] == 1) out.letters.push_back(l);
  } else {
    out = parse_term(equation, equation.substr(arrow + 2));
    for (const int l : out.letters) {
      if (uses[static_cast<std::size_t>(l)] == 0)
        fail(equation, str("the output names '", letter(l), "', which no operand has"));
      if (std::count(out.letters.begin(), out.letters.end(), l) > 1)
        fail(equation, str("the output names '", letter(l), "' twice"));
    }
  }
  p.out = with_dots(out, most_dots);
  learn_sizes(equation, p);
  if (p.out.size() > kMaxRank)
    fail(equation, str("the output has ", p.out.size(), " dims; at most ", kMaxRank, " work"));
  for (const int l : p.out) p.shape.push_back(p.sizes[static_cast<std::size_t>(l)]);
  return p;
}

/// A view with these labels as dims; those that x lacks, or has with size 1, repeat.
Tensor as_labels(const Labelled& x, const Labels& labels, const Sizes& sizes) {
  Layout layout;
  layout.offset = x.x.layout().offset;
  for (const int l : labels) {
    layout.shape.push_back(sizes[static_cast<std::size_t>(l)]);
    layout.strides.push_back(x.stride(l));
  }
  return TensorAccess::make(x.x.storage(), layout);
}

/// Sums the labels that nobody else has, once.
Labelled sum_alone(const Labelled& operand, const std::vector<bool>& needed, const Sizes& sizes) {
  Labels kept;
  Dims dims;
  for (std::size_t i = 0; i < operand.labels.size(); ++i)
    if (needed[static_cast<std::size_t>(operand.labels[i])])
      kept.push_back(operand.labels[i]);
    else
      dims.push_back(static_cast<Index>(i));
  if (dims.empty()) return operand;
  // Where another operand's size has broadcast this one, the sum has as many terms.
  const Tensor full = as_labels(operand, operand.labels, sizes);
  return {full.sum(dims).to_dtype(operand.x.dtype()), kept};
}

/// Whether these labels, outermost first, lie in x as one dim.
bool is_one_dim(const Labelled& x, const Labels& labels, const Sizes& sizes) {
  Index expected = 0;
  bool first = true;
  for (auto l = labels.rbegin(); l != labels.rend(); ++l) {
    const Index size = sizes[static_cast<std::size_t>(*l)];
    if (size == 1) continue;
    const Index stride = x.stride(*l);
    if (!first && stride != expected) return false;
    expected = stride * size;
    first = false;
  }
  return true;
}

void sort_by_stride(Labels& labels, const Labelled& x) {
  // By insertion, which is stable. (clang finds a deprecated function in g++ 12's stable_sort.)
  const auto wider = [&](int a, int b) { return std::abs(x.stride(a)) > std::abs(x.stride(b)); };
  for (auto at = labels.begin(); at != labels.end(); ++at)
    std::rotate(std::upper_bound(labels.begin(), at, *at, wider), at, at + 1);
}

Index size_of(const Labels& labels, const Sizes& sizes) {
  Index n = 1;
  for (const int l : labels)
    n = checked_mul(n, sizes[static_cast<std::size_t>(l)], kOp, "a merged dim");
  return n;
}

/// x seen as [outer.., first merged, second merged]; a copy where the merged ones do not lie as
/// one.
Tensor as_matrices(const Labelled& x, const Labels& outer, const Labels& first,
                   const Labels& second, const Sizes& sizes) {
  Labels all = outer;
  all.insert(all.end(), first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  Dims shape;
  for (const int l : outer) shape.push_back(sizes[static_cast<std::size_t>(l)]);
  shape.push_back(size_of(first, sizes));
  shape.push_back(size_of(second, sizes));
  if (is_one_dim(x, first, sizes) && is_one_dim(x, second, sizes)) {
    Layout layout{shape, Dims(), x.x.layout().offset};
    for (const int l : outer) layout.strides.push_back(x.stride(l));
    const auto innermost = [&](const Labels& labels) {
      for (auto l = labels.rbegin(); l != labels.rend(); ++l)
        if (sizes[static_cast<std::size_t>(*l)] != 1) return x.stride(*l);
      return Index{1};
    };
    layout.strides.push_back(innermost(first));
    layout.strides.push_back(innermost(second));
    return TensorAccess::make(x.x.storage(), layout);
  }
  return as_labels(x, all, sizes).reshape(shape);
}

/// The labels of a product of two operands, by what becomes of them.
struct Roles {
  Labels batch;    ///< in both, and needed later
  Labels summed;   ///< in both, and not needed any more
  Labels rows;     ///< in a alone
  Labels columns;  ///< in b alone
};

Roles roles_of(const Labelled& a, const Labelled& b, const std::vector<bool>& needed) {
  Roles r;
  // The order of a sum must not depend on strides: that of the right operand, often a weight.
  for (const int l : b.labels)
    if (a.dim(l) >= 0 && !needed[static_cast<std::size_t>(l)]) r.summed.push_back(l);
  for (const int l : a.labels) {
    if (b.dim(l) < 0)
      r.rows.push_back(l);
    else if (needed[static_cast<std::size_t>(l)])
      r.batch.push_back(l);
  }
  for (const int l : b.labels)
    if (a.dim(l) < 0) r.columns.push_back(l);
  return r;
}

/// Moves labels from `merged` to `outer`, outermost first, until the rest is one dim of x and out.
void split_off(Labels& merged, Labels& outer, const Labelled& x, const Labelled& out,
               const Sizes& sizes) {
  sort_by_stride(merged, out);
  while (merged.size() > 1 && outer.size() + 2 < kMaxRank &&
         !(is_one_dim(x, merged, sizes) && is_one_dim(out, merged, sizes))) {
    outer.push_back(merged.front());
    merged.erase(merged.begin());
  }
}

/// out = a b, summed over what both have and out lacks. `needed`: the labels of out.
void contract_into(const Labelled& out, const Labelled& a, const Labelled& b, Roles r,
                   const Sizes& sizes) {
  if (r.summed.empty()) {
    mul_into(out.x, as_labels(a, out.labels, sizes), as_labels(b, out.labels, sizes));
    return;
  }
  Labels outer = r.batch;
  split_off(r.rows, outer, a, out, sizes);
  split_off(r.columns, outer, b, out, sizes);
  const bool fits = outer.size() + 2 <= kMaxRank;
  Labels in_order = outer;
  in_order.insert(in_order.end(), r.rows.begin(), r.rows.end());
  in_order.insert(in_order.end(), r.columns.begin(), r.columns.end());
  if (fits && is_one_dim(out, r.rows, sizes) && is_one_dim(out, r.columns, sizes)) {
    matmul_into(as_matrices(out, outer, r.rows, r.columns, sizes),
                as_matrices(a, outer, r.rows, r.summed, sizes),
                as_matrices(b, outer, r.summed, r.columns, sizes));
    return;
  }
  // Too many dims for views: everything as one batch.
  const Labels none;
  const auto flat = [&](const Labelled& x, const Labels& first, const Labels& second) {
    Labels all = outer;
    all.insert(all.end(), first.begin(), first.end());
    all.insert(all.end(), second.begin(), second.end());
    return as_labels(x, all, sizes)
        .reshape({size_of(outer, sizes), size_of(first, sizes), size_of(second, sizes)});
  };
  const Tensor product = flat(a, r.rows, r.summed).matmul(flat(b, r.summed, r.columns));
  Dims shape;
  for (const int l : in_order) shape.push_back(sizes[static_cast<std::size_t>(l)]);
  copy_into(as_labels(out, in_order, sizes), product.reshape(shape));
}

/// Which labels the output and the operands from `first` on have.
std::vector<bool> needed_from(const Problem& p, std::size_t first) {
  std::vector<bool> needed(kLabels, false);
  for (const int l : p.out) needed[static_cast<std::size_t>(l)] = true;
  for (std::size_t i = first; i < p.operands.size(); ++i)
    for (const int l : p.operands[i].labels) needed[static_cast<std::size_t>(l)] = true;
  return needed;
}

void run(const Tensor& out, Problem p) {
  for (std::size_t i = 0; i < p.operands.size(); ++i) {
    std::vector<bool> needed = needed_from(p, p.operands.size());
    for (std::size_t j = 0; j < p.operands.size(); ++j)
      if (j != i)
        for (const int l : p.operands[j].labels) needed[static_cast<std::size_t>(l)] = true;
    if (p.operands.size() > 1) p.operands[i] = sum_alone(p.operands[i], needed, p.sizes);
  }
  const Labelled target{out, p.out};
  if (p.operands.size() == 1) {
    const Labelled last = sum_alone(p.operands[0], needed_from(p, 1), p.sizes);
    copy_into(out, as_labels(last, p.out, p.sizes));
    return;
  }
  Labelled left = p.operands[0];
  for (std::size_t i = 1; i < p.operands.size(); ++i) {
    const std::vector<bool> needed = needed_from(p, i + 1);
    const Roles r = roles_of(left, p.operands[i], needed);
    Labelled result = target;
    if (i + 1 < p.operands.size()) {
      result.labels = r.batch;
      result.labels.insert(result.labels.end(), r.rows.begin(), r.rows.end());
      result.labels.insert(result.labels.end(), r.columns.begin(), r.columns.end());
      if (result.labels.size() > kMaxRank)
        throw Error(ErrorKind::shape, kOp,
                    str("an intermediate product has ", result.labels.size(), " dims; at most ",
                        kMaxRank, " work"));
      Dims shape;
      for (const int l : result.labels) shape.push_back(p.sizes[static_cast<std::size_t>(l)]);
      result.x = Tensor::empty(shape, out.dtype());
    }
    contract_into(result, left, p.operands[i], r, p.sizes);
    left = result;
  }
}

}  // namespace

Tensor einsum(std::string_view equation, std::span<const Tensor> operands) {
  Problem p = parse(equation, operands);
  Tensor out = Tensor::empty(p.shape, operands[0].dtype());
  run(out, std::move(p));
  return out;
}

void einsum_into(const Tensor& out, std::string_view equation, std::span<const Tensor> operands) {
  Problem p = parse(equation, operands);
  check_out(kOp, out, p.shape, operands[0].dtype());
  for (const Tensor& x : operands) check_disjoint(kOp, out, x);
  run(out, std::move(p));
}

}  // namespace wick
