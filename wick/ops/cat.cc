// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <span>

#include "wick/arrange.h"
#include "wick/core/dispatch.h"
#include "wick/kernels/copy.h"
#include "wick/ops/check.h"
#include "wick/ops/copy.h"
#include "wick/ops/loop.h"

namespace wick {
namespace {

/// Room for n tensors; a number that no machine holds is an Error.
std::vector<Tensor> room_for(std::string_view op, Index n) {
  std::vector<Tensor> tensors;
  try {
    tensors.reserve(static_cast<std::size_t>(n));
  } catch (const std::exception&) {
    throw Error(ErrorKind::out_of_memory, op, str("no memory for ", n, " views"));
  }
  return tensors;
}

// --- cat, stack ---

/// A tensor and the place in the output that it goes to.
struct Piece {
  Layout y, x;
  const std::byte* data;
  Index first;  ///< elements in the pieces before
};

/// The shape of the result. All but the values of `dim` must agree.
Dims joined_shape(std::string_view op, const std::vector<Tensor>& tensors, int dim) {
  Dims shape = tensors.front().shape();
  shape[dim] = 0;
  for (const Tensor& t : tensors) {
    check_same_dtype(tensors.front().dtype(), t.dtype(), op);
    Dims wanted = t.shape();
    const Index size = wanted.rank() == shape.rank() ? wanted[dim] : 0;
    if (wanted.rank() == shape.rank()) wanted[dim] = shape[dim];
    if (wanted != shape)
      throw error_about(ErrorKind::shape, op,
                        str("wanted shapes that agree but along axis ", dim, ", got ",
                            to_string(tensors.front().shape()), " and ", to_string(t.shape())),
                        {&tensors.front(), &t});
    shape[dim] = checked_add(shape[dim], size, op, "the size of the result");
  }
  (void)byte_size(tensors.front().dtype(), element_count(shape, op), op);
  return shape;
}

/// The dim that is outermost in memory, if that is not `dim`: blocks of it are done one after the
/// other, so that pieces which share cache lines of the output meet in the cache. -1 if there is
/// none, or if the pieces are so large that nothing is to be gained.
int block_dim(const Layout& out, int dim, Index block) {
  const auto reach = [&](int i) { return out.strides[i] < 0 ? -out.strides[i] : out.strides[i]; };
  int outermost = dim;
  for (int i = 0; i < out.rank(); ++i)
    if (out.shape[i] > 1 && reach(i) > reach(outermost)) outermost = i;
  return outermost == dim || out.size() / out.shape[outermost] > block / 2 ? -1 : outermost;
}

void join(const Tensor& out, const std::vector<Tensor>& tensors, int dim) {
  const int bits_each = bits(out.dtype());
  std::vector<Piece> pieces;
  pieces.reserve(tensors.size());
  Index at = 0, first = 0;
  for (const Tensor& t : tensors) {
    const Index size = t.shape()[dim];
    const Layout y = out.layout().narrow(dim, at, size);
    at += size;
    if (t.layout().is_empty()) continue;
    if (bits_each % 8 != 0) {  // two pieces may share a byte
      copy_elements(TensorAccess::make(out.storage(), y), t);
      continue;
    }
    pieces.push_back({y, t.layout(), view(t.storage()).data, first});
    first += t.element_count();
  }
  if (pieces.empty()) return;
  const int bytes = bits_each / 8;
  const auto kernel = kernels::copy(bytes);
  std::byte* data = view(out.storage()).data;
  const auto move = [&](const Piece& p, const NdIter<2>& it, Index begin, Index end) {
    it.for_each(begin, end, [&](const auto& place, const Loop2<2>& loop) {
      kernel(data + place[0] * bytes, p.data + place[1] * bytes, loop);
    });
  };
  // A block fits the L1 cache, unless there are so many pieces that each would have next to
  // nothing.
  const Index block = std::max<Index>(32 * 1024 / bytes, 128 * static_cast<Index>(pieces.size()));
  const int outer = block_dim(out.layout(), dim, block);
  if (outer >= 0) {
    const Index rows = out.shape()[outer], row = first / rows;
    const Index step = std::max<Index>(1, block / row);
    return parallel_for(rows, std::max(step, kCheapGrain / row), [&](Index begin, Index end) {
      for (Index r = begin; r < end; r += step)
        for (const Piece& p : pieces) {
          const Index n = std::min(step, end - r);
          const Layout y = p.y.narrow(outer, r, n), x = p.x.narrow(outer, r, n);
          const NdIter<2> it({&y, &x});
          move(p, it, 0, it.size());
        }
    });
  }
  parallel_for(first, kCheapGrain, [&](Index begin, Index end) {
    auto p = std::upper_bound(pieces.begin(), pieces.end(), begin,
                              [](Index v, const Piece& piece) { return v < piece.first; });
    for (--p; p != pieces.end() && p->first < end; ++p) {
      const NdIter<2> it({&p->y, &p->x});
      move(*p, it, std::max<Index>(0, begin - p->first), std::min(it.size(), end - p->first));
    }
  });
}

int check_join(std::string_view op, const std::vector<Tensor>& tensors, Index dim, int more) {
  if (tensors.empty()) throw Error(ErrorKind::argument, op, "wanted at least one tensor, got none");
  return normalize_axis(dim, tensors.front().rank() + more, op);
}

void join_into(std::string_view op, const Tensor& out, const std::vector<Tensor>& tensors,
               int dim) {
  check_out(op, out, joined_shape(op, tensors, dim), tensors.front().dtype());
  for (const Tensor& t : tensors) check_disjoint(op, out, t);
  join(out, tensors, dim);
}

Tensor joined(std::string_view op, const std::vector<Tensor>& tensors, int dim) {
  Tensor out = Tensor::empty(joined_shape(op, tensors, dim), tensors.front().dtype());
  join(out, tensors, dim);
  return out;
}

std::vector<Tensor> layers(const std::vector<Tensor>& tensors, int dim) {
  std::vector<Tensor> all = room_for("stack", static_cast<Index>(tensors.size()));
  for (const Tensor& t : tensors) {
    if (t.shape() != tensors.front().shape())
      throw error_about(ErrorKind::shape, "stack",
                        str("wanted equal shapes, got ", to_string(tensors.front().shape()),
                            " and ", to_string(t.shape())),
                        {&tensors.front(), &t});
    all.push_back(t.unsqueeze(dim));
  }
  return all;
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, Index dim) {
  const int d = check_join("cat", tensors, dim, 0);
  return joined("cat", tensors, d);
}

void cat_into(const Tensor& out, const std::vector<Tensor>& tensors, Index dim) {
  const int d = check_join("cat", tensors, dim, 0);
  join_into("cat", out, tensors, d);
}

Tensor stack(const std::vector<Tensor>& tensors, Index dim) {
  const int d = check_join("stack", tensors, dim, 1);
  return joined("stack", layers(tensors, d), d);
}

void stack_into(const Tensor& out, const std::vector<Tensor>& tensors, Index dim) {
  const int d = check_join("stack", tensors, dim, 1);
  join_into("stack", out, layers(tensors, d), d);
}

// --- views: meshgrid, split, chunk, flip ---

std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes, MeshIndexing indexing) {
  Dims shape;
  for (const Tensor& t : axes) {
    if (t.rank() > 1)
      throw error_about(ErrorKind::shape, "meshgrid",
                        str("wanted tensors of rank 1, got shape ", to_string(t.shape())), {&t});
    shape.push_back(t.element_count());
  }
  const bool swap = indexing == MeshIndexing::xy && shape.rank() > 1;
  if (swap) std::swap(shape[0], shape[1]);
  std::vector<Tensor> grid;
  for (int i = 0; i < shape.rank(); ++i) {
    const Tensor& t = axes[static_cast<std::size_t>(i)];
    Dims alone = Dims::filled(shape.rank(), 1);
    alone[swap && i < 2 ? 1 - i : i] = t.element_count();
    grid.push_back(t.reshape(alone).broadcast_as(shape));
  }
  return grid;
}

std::vector<Tensor> Tensor::split(Index size, Index dim) const {
  const int d = normalize_axis(dim, rank(), "split");
  const Index n = shape()[d];
  if (size < 0 || (size == 0 && n > 0))
    throw Error(ErrorKind::argument, "split", str("wanted pieces of a size > 0, got ", size));
  const Index count = n == 0 ? 1 : ceil_div(n, size);
  std::vector<Tensor> pieces = room_for("split", count);
  for (Index i = 0; i < count; ++i)
    pieces.push_back(narrow(d, i * size, std::min(size, n - i * size)));
  return pieces;
}

std::vector<Tensor> Tensor::split_with_sizes(const std::vector<Index>& sizes, Index dim) const {
  const int d = normalize_axis(dim, rank(), "split_with_sizes");
  const Index n = shape()[d];
  Index left = n;
  for (const Index size : sizes) {
    left = size < 0 || size > left ? -1 : left - size;
    if (left < 0) break;
  }
  if (left != 0)
    throw Error(ErrorKind::argument, "split_with_sizes",
                str("wanted sizes >= 0 whose sum is ", n, ", the size of axis ", d, ", got ",
                    sizes.size(), " sizes that do not fit"));
  std::vector<Tensor> pieces = room_for("split_with_sizes", static_cast<Index>(sizes.size()));
  Index at = 0;
  for (const Index size : sizes) {
    pieces.push_back(narrow(d, at, size));
    at += size;
  }
  return pieces;
}

std::vector<Tensor> Tensor::chunk(Index count, Index dim) const {
  const int d = normalize_axis(dim, rank(), "chunk");
  if (count <= 0)
    throw Error(ErrorKind::argument, "chunk", str("wanted at least one piece, got ", count));
  return split(ceil_div(shape()[d], count), d);
}

Tensor Tensor::flip(const Dims& dims) const {
  Layout l = layout_;
  std::array<bool, kMaxRank> seen_dims{};
  for (const Index dim : dims) {
    const int d = normalize_axis(dim, rank(), "flip");
    if (std::exchange(seen_dims[static_cast<std::size_t>(d)], true))
      throw Error(ErrorKind::argument, "flip",
                  str("wanted every axis at most once, got ", wick::to_string(dims)));
    l = l.flip(d);
  }
  return seen(l);
}

}  // namespace wick
