// SPDX-License-Identifier: Apache-2.0
#include "wick/core/layout.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace wick {

Dims::Dims(std::span<const Index> values) {
  for (const Index v : values) push_back(v);
}

Dims Dims::filled(int rank, Index value) {
  Dims d;
  for (int i = 0; i < rank; ++i) d.push_back(value);
  return d;
}

void Dims::push_back(Index v) {
  if (rank_ == kMaxRank)
    throw Error(ErrorKind::shape, "shape",
                str("wanted at most ", kMaxRank, " dimensions, got more"));
  values_[static_cast<std::size_t>(rank_++)] = v;
}

Dims Dims::erased(int i) const {
  Dims d;
  for (int k = 0; k < rank_; ++k)
    if (k != i) d.push_back((*this)[k]);
  return d;
}

Dims Dims::inserted(int i, Index v) const {
  Dims d;
  for (int k = 0; k <= rank_; ++k) {
    if (k == i) d.push_back(v);
    if (k < rank_) d.push_back((*this)[k]);
  }
  return d;
}

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (int i = 0; i < dims.rank(); ++i) text += str(i == 0 ? "" : ", ", dims[i]);
  return text + "]";
}

Index element_count(const Dims& shape, std::string_view op) {
  bool zero = false;
  for (const Index d : shape) {
    if (d < 0)
      throw Error(ErrorKind::shape, op, str("wanted sizes >= 0, got shape ", to_string(shape)));
    zero |= d == 0;
  }
  if (zero) return 0;
  Index n = 1;
  for (const Index d : shape)
    if (__builtin_mul_overflow(n, d, &n))
      throw Error(ErrorKind::overflow, op,
                  str("wanted a number of elements below 2^63, got shape ", to_string(shape)));
  return n;
}

int normalize_axis(Index axis, int rank, std::string_view op) {
  if (axis < -rank || axis >= rank)
    throw Error(ErrorKind::index, op,
                rank == 0 ? str("wanted a tensor with dimensions, got axis ", axis, " of a scalar")
                          : str("wanted an axis from ", -rank, " to ", rank - 1, ", got ", axis));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Dims broadcast_shapes(const Dims& a, const Dims& b, std::string_view op) {
  const int rank = std::max(a.rank(), b.rank());
  Dims out = Dims::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const Index x = i <= a.rank() ? a.last(i) : 1;
    const Index y = i <= b.rank() ? b.last(i) : 1;
    if (x != y && x != 1 && y != 1)
      throw Error(ErrorKind::shape, op,
                  str("wanted shapes that broadcast, got ", to_string(a), " and ", to_string(b)));
    out[rank - i] = x == 1 ? y : x;
  }
  return out;
}

Layout Layout::contiguous(const Dims& shape) {
  Layout l{shape, Dims::filled(shape.rank(), 0), 0};
  if (element_count(shape) == 0) return l;
  Index stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    l.strides[i] = stride;
    stride *= shape[i];
  }
  return l;
}

bool Layout::is_empty() const { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

Index Layout::size() const {
  if (is_empty()) return 0;  // the product of the others may overflow
  Index n = 1;
  for (const Index d : shape) n *= d;
  return n;
}

bool Layout::is_contiguous() const {
  if (is_empty()) return true;
  Index stride = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != stride) return false;
    stride *= shape[i];
  }
  return true;
}

Layout Layout::transpose(Index a, Index b) const {
  const int x = normalize_axis(a, rank(), "transpose"), y = normalize_axis(b, rank(), "transpose");
  Layout l = *this;
  std::swap(l.shape[x], l.shape[y]);
  std::swap(l.strides[x], l.strides[y]);
  return l;
}

Layout Layout::permute(const Dims& order) const {
  const auto bad = [&] {
    return Error(ErrorKind::argument, "permute",
                 str("wanted each of ", rank(), " axes once, got ", to_string(order)));
  };
  if (order.rank() != rank()) throw bad();
  Layout l = *this;
  std::array<bool, kMaxRank> seen{};
  for (int i = 0; i < rank(); ++i) {
    const int from = normalize_axis(order[i], rank(), "permute");
    if (std::exchange(seen[static_cast<std::size_t>(from)], true)) throw bad();
    l.shape[i] = shape[from];
    l.strides[i] = strides[from];
  }
  return l;
}

Layout Layout::narrow(Index dim, Index start, Index length) const {
  const int d = normalize_axis(dim, rank(), "narrow");
  if (start < 0 || length < 0 || start > shape[d] || length > shape[d] - start)
    throw Error(ErrorKind::index, "narrow",
                str("wanted a range within [0, ", shape[d], ") of axis ", d, ", got start ", start,
                    " and length ", length));
  Layout l = *this;
  l.shape[d] = length;
  if (length > 0) l.offset += start * strides[d];
  return l;
}

Layout Layout::slice(Index dim, Index start, Index stop, Index step) const {
  const int d = normalize_axis(dim, rank(), "slice");
  const Index n = shape[d];
  const bool up = step > 0;
  const bool ok = step != 0 && start >= 0 && stop >= -1 && start <= n && stop <= n;
  if (!ok || (!up && start == n && n > 0))
    throw Error(ErrorKind::index, "slice",
                str("wanted bounds within axis ", d, " of size ", n,
                    " and a step other than 0, got ", start, ":", stop, ":", step));
  const Index distance = up ? stop - start : start - stop;
  // A step as large as the axis or larger picks one element at most.
  const Index pace =
      std::min(step == INT64_MIN ? INT64_MAX : std::abs(step), std::max<Index>(n, 1));
  const Index length = distance <= 0 || n == 0 ? 0 : ceil_div(distance, pace);
  Layout l = *this;
  l.shape[d] = length;
  if (length > 0) l.offset += start * strides[d];
  l.strides[d] = length > 1 ? strides[d] * (up ? pace : -pace) : strides[d];
  return l;
}

Layout Layout::flip(Index dim) const {
  const int d = normalize_axis(dim, rank(), "flip");
  Layout l = *this;
  if (shape[d] <= 1) return l;
  l.offset += (shape[d] - 1) * strides[d];
  l.strides[d] = -strides[d];
  return l;
}

Layout Layout::broadcast_to(const Dims& target, std::string_view op) const {
  const int lead = target.rank() - rank();
  bool fits = lead >= 0;
  for (int i = 0; fits && i < rank(); ++i) fits = shape[i] == target[i + lead] || shape[i] == 1;
  if (!fits)
    throw Error(
        ErrorKind::shape, op,
        str("wanted a shape that broadcasts to ", to_string(target), ", got ", to_string(shape)));
  element_count(target, op);
  Layout l{target, Dims::filled(target.rank(), 0), offset};
  for (int i = 0; i < rank(); ++i)
    if (shape[i] == target[i + lead]) l.strides[i + lead] = shape[i] == 1 ? 0 : strides[i];
  return l;
}

Layout Layout::squeeze(Index dim) const {
  const int d = normalize_axis(dim, rank(), "squeeze");
  if (shape[d] != 1) return *this;
  return {shape.erased(d), strides.erased(d), offset};
}

Layout Layout::unsqueeze(Index dim) const {
  const int d = normalize_axis(dim, rank() + 1, "unsqueeze");
  const Index stride = d < rank() ? strides[d] * shape[d] : 1;
  return {shape.inserted(d, 1), strides.inserted(d, stride), offset};
}

std::optional<Layout> Layout::reshape(const Dims& target) const {
  const Index n = size();
  if (element_count(target, "reshape") != n)
    throw Error(ErrorKind::shape, "reshape",
                str("wanted a shape of ", n, " elements, got ", to_string(target)));
  if (n == 0) {
    Layout l = contiguous(target);
    l.offset = offset;
    return l;
  }
  // Groups of old dims that form one run are cut anew by the new dims.
  Layout l{target, Dims::filled(target.rank(), 1), offset};
  int i = 0, j = 0;
  while (i < rank() || j < target.rank()) {
    const int i0 = i, j0 = j;
    Index have = i < rank() ? shape[i++] : 1, want = j < target.rank() ? target[j++] : 1;
    while (have != want) {
      if (have < want) {
        have *= shape[i++];
      } else {
        want *= target[j++];
      }
    }
    Index inner = 1;  // stride of the last old dim of the group that is not 1
    Index expect = 0;
    bool first = true;
    for (int a = i - 1; a >= i0; --a) {
      if (shape[a] == 1) continue;
      if (std::exchange(first, false)) {
        inner = strides[a];
      } else if (strides[a] != expect) {
        return std::nullopt;
      }
      expect = strides[a] * shape[a];
    }
    Index stride = inner;
    for (int b = j - 1; b >= j0; --b) {
      l.strides[b] = stride;
      stride *= target[b];
    }
  }
  return l;
}

std::optional<Extent> extent(const Layout& layout) {
  Extent e{layout.offset, layout.offset};
  for (int i = 0; i < layout.rank(); ++i) {
    if (layout.shape[i] == 0) return std::nullopt;
    const Index reach = (layout.shape[i] - 1) * layout.strides[i];
    (reach < 0 ? e.low : e.high) += reach;
  }
  return e;
}

bool self_overlaps(const Layout& layout) {
  // Dims by stride: each must step past all that the smaller ones reach.
  std::array<int, kMaxRank> order{};
  int used = 0;
  for (int i = 0; i < layout.rank(); ++i) {
    if (layout.shape[i] == 0) return false;
    if (layout.shape[i] > 1) order[static_cast<std::size_t>(used++)] = i;
  }
  std::sort(order.begin(), order.begin() + used, [&](int a, int b) {
    return std::abs(layout.strides[a]) < std::abs(layout.strides[b]);
  });
  Index reach = 0;
  for (int k = 0; k < used; ++k) {
    const int i = order[static_cast<std::size_t>(k)];
    const Index stride = std::abs(layout.strides[i]);
    if (stride <= reach) return true;
    reach += (layout.shape[i] - 1) * stride;
  }
  return false;
}

namespace {

/// True when both layouts repeat with one period (the greatest common divisor of their large
/// strides) and occupy separate parts of it, as two columns of one matrix do.
bool separate_columns(const Layout& a, const Layout& b) {
  const auto try_period = [&](Index period) {
    const auto window = [&](const Layout& l) -> std::optional<Extent> {
      Layout part = l;
      for (int i = 0; i < l.rank(); ++i)
        if (l.strides[i] % period == 0) part.shape[i] = 1;
      return extent(part);
    };
    const auto x = window(a), y = window(b);
    if (!x || !y) return true;
    const Index width = std::max(x->high - x->low, y->high - y->low);
    if (width >= period) return false;
    const auto mod = [&](Index v) { return ((v % period) + period) % period; };
    const Index xl = mod(x->low), yl = mod(y->low);
    const Index xw = x->high - x->low, yw = y->high - y->low;
    // Neither interval, taken modulo the period, may reach into the other.
    return mod(yl - xl) > xw && mod(xl - yl) > yw;
  };
  for (const Layout* l : {&a, &b})
    for (int i = 0; i < l->rank(); ++i)
      if (l->shape[i] > 1)
        if (const Index s = std::abs(l->strides[i]); s > 1 && try_period(s)) return true;
  return false;
}

}  // namespace

bool may_overlap(const Layout& a, const Layout& b) {
  const auto x = extent(a), y = extent(b);
  if (!x || !y) return false;
  if (x->high < y->low || y->high < x->low) return false;
  return !separate_columns(a, b);
}

StridedBlocks::StridedBlocks(const Layout& layout) : form(Form::single), block(1), count(1) {
  starts.offset = layout.offset;
  if (layout.is_empty()) {
    block = 0;
    return;
  }
  // Trailing dims without gaps form the block.
  int outer = layout.rank();
  Index stride = 1;
  while (outer > 0 && (layout.shape[outer - 1] == 1 || layout.strides[outer - 1] == stride)) {
    --outer;
    block *= layout.shape[outer];
    stride *= layout.shape[outer];
  }
  for (int i = 0; i < outer; ++i) {
    starts.shape.push_back(layout.shape[i]);
    starts.strides.push_back(layout.strides[i]);
    count *= layout.shape[i];
  }
  if (outer > 0) form = block > 1 ? Form::uniform : Form::general;
}

}  // namespace wick
