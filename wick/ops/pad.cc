// SPDX-License-Identifier: Apache-2.0
#include "wick/arrange.h"
#include "wick/ops/check.h"
#include "wick/ops/copy.h"

namespace wick {
namespace {

// These ops are copies of a few views, and the copy knows how to be fast.

// --- repeat, tile ---

/// x with leading dims of size 1, as many as `rank` asks for.
Tensor with_rank(const Tensor& x, int rank) {
  Tensor wide = x;
  while (wide.rank() < rank) wide = wide.unsqueeze(0);
  return wide;
}

Dims repeated_shape(std::string_view op, const Tensor& x, const Dims& repeats) {
  if (repeats.rank() < x.rank())
    throw Error(ErrorKind::argument, op,
                str("wanted a number of repeats for each of ", x.rank(), " dims, got ",
                    to_string(repeats)));
  Dims shape = repeats;
  const int lead = repeats.rank() - x.rank();
  for (int i = 0; i < repeats.rank(); ++i) {
    if (repeats[i] < 0)
      throw Error(ErrorKind::argument, op,
                  str("wanted numbers of repeats >= 0, got ", to_string(repeats)));
    if (i >= lead) shape[i] = checked_mul(repeats[i], x.shape()[i - lead], op, "the result's size");
  }
  (void)byte_size(x.dtype(), element_count(shape, op), op);
  return shape;
}

/// out = x, repeats[i] times along dim i. Each repeated dim becomes two, one of them of stride 0 in
/// x: one copy does it all.
void run_repeat(const Tensor& out, const Tensor& x, Dims repeats) {
  if (out.layout().is_empty()) return;
  struct Dim {
    Index size, to, from;
  };
  std::vector<Dim> dims;
  int outermost = -1;
  for (int i = 0; i < x.rank(); ++i) {
    const Index size = x.shape()[i], count = repeats[i];
    const Index to = out.layout().strides[i], from = x.layout().strides[i];
    if (count > 1) dims.push_back({count, to * size, 0});
    if (size > 1) dims.push_back({size, to, from});
    if (count > 1 && outermost < 0) outermost = i;
  }
  if (dims.size() > kMaxRank) {
    const Index count = std::exchange(repeats[outermost], 1), size = x.shape()[outermost];
    for (Index i = 0; i < count; ++i) run_repeat(out.narrow(outermost, i * size, size), x, repeats);
    return;
  }
  Layout to{{}, {}, out.layout().offset}, from{{}, {}, x.layout().offset};
  for (const Dim& d : dims) {
    to.shape.push_back(d.size);
    to.strides.push_back(d.to);
    from.strides.push_back(d.from);
  }
  from.shape = to.shape;
  copy_elements(TensorAccess::make(out.storage(), to), TensorAccess::make(x.storage(), from));
}

Tensor repeated(std::string_view op, const Tensor& x, const Dims& repeats) {
  Tensor out = Tensor::empty(repeated_shape(op, x, repeats), x.dtype());
  run_repeat(out, with_rank(x, repeats.rank()), repeats);
  return out;
}

void repeated_into(std::string_view op, const Tensor& out, const Tensor& x, const Dims& repeats) {
  check_out(op, out, repeated_shape(op, x, repeats), x.dtype());
  check_disjoint(op, out, x);
  run_repeat(out, with_rank(x, repeats.rank()), repeats);
}

Dims tile_repeats(const Tensor& x, const Dims& repeats) {
  Dims all = repeats;
  while (all.rank() < x.rank()) all = all.inserted(0, 1);
  return all;
}

// --- pad ---

Dims padded_shape(const Tensor& x, const Dims& before, const Dims& after, PadMode mode) {
  if (before.rank() != x.rank() || after.rank() != x.rank())
    throw Error(ErrorKind::argument, "pad",
                str("wanted padding for each of ", x.rank(), " dims, got ", to_string(before),
                    " and ", to_string(after)));
  Dims shape = x.shape();
  for (int i = 0; i < x.rank(); ++i) {
    const Index n = x.shape()[i], most = std::max(before[i], after[i]);
    if (before[i] < 0 || after[i] < 0)
      throw Error(ErrorKind::argument, "pad",
                  str("wanted padding >= 0, got ", to_string(before), " and ", to_string(after)));
    if (most > 0 && (mode == PadMode::reflect ? most >= n : mode == PadMode::replicate && n == 0))
      throw error_about(ErrorKind::argument, "pad",
                        mode == PadMode::reflect
                            ? str("wanted reflected padding smaller than the size ", n, " of axis ",
                                  i, ", got ", most)
                            : str("wanted an element to repeat along axis ", i, ", got none"),
                        {&x});
    shape[i] = checked_add(checked_add(n, before[i], "pad", "the result's size"), after[i], "pad",
                           "the result's size");
  }
  (void)byte_size(x.dtype(), element_count(shape, "pad"), "pad");
  return shape;
}

void run_pad(const Tensor& out, const Tensor& x, const Dims& before, const Dims& after,
             PadMode mode, Scalar value) {
  // Dim by dim, from what is there already: whole along the dims before, where x is along those
  // behind.
  const auto part = [&](int dim, Index start, Index count) {
    Tensor seen = out;
    for (int i = dim + 1; i < x.rank(); ++i) seen = seen.narrow(i, before[i], x.shape()[i]);
    return dim < 0 ? seen : seen.narrow(dim, start, count);
  };
  copy_elements(part(-1, 0, 0), x);
  for (int i = 0; i < x.rank(); ++i) {
    const Index first = before[i], end = first + x.shape()[i];
    for (const bool front : {true, false}) {
      const Index count = front ? first : after[i];
      if (count == 0) continue;
      const Tensor edge = part(i, front ? 0 : end, count);
      if (mode == PadMode::constant) {
        fill_into(edge, value);
      } else if (mode == PadMode::replicate) {
        copy_elements(edge, part(i, front ? first : end - 1, 1));
      } else {
        copy_elements(edge, part(i, front ? first + 1 : end - 1 - count, count).flip(i));
      }
    }
  }
}

Dims at_dim(const Tensor& x, Index dim, Index value) {
  Dims all = Dims::filled(x.rank(), 0);
  all[normalize_axis(dim, x.rank(), "pad")] = value;
  return all;
}

// --- roll ---

/// How far each dim is rolled, in [0, size).
Dims roll_distances(const Tensor& x, const Dims& shifts, const Dims& dims) {
  if (shifts.rank() != dims.rank())
    throw Error(
        ErrorKind::argument, "roll",
        str("wanted as many shifts as axes, got ", to_string(shifts), " and ", to_string(dims)));
  Dims all = Dims::filled(x.rank(), 0);
  for (int k = 0; k < dims.rank(); ++k) {
    const int d = normalize_axis(dims[k], x.rank(), "roll");
    const Index n = x.shape()[d];
    if (n == 0) continue;
    Index shift = shifts[k] % n;
    if (shift < 0) shift += n;
    all[d] = all[d] >= n - shift ? all[d] - (n - shift) : all[d] + shift;
  }
  return all;
}

/// The two parts of each dim from `dim` on change places.
void run_roll(const Tensor& out, const Tensor& x, const Dims& distances, int dim) {
  while (dim < x.rank() && distances[dim] == 0) ++dim;
  if (dim == x.rank()) return copy_elements(out, x);
  const Index n = x.shape()[dim], d = distances[dim];
  run_roll(out.narrow(dim, d, n - d), x.narrow(dim, 0, n - d), distances, dim + 1);
  run_roll(out.narrow(dim, 0, d), x.narrow(dim, n - d, d), distances, dim + 1);
}

}  // namespace

Tensor Tensor::repeat(const Dims& repeats) const { return repeated("repeat", *this, repeats); }
void repeat_into(const Tensor& out, const Tensor& x, const Dims& repeats) {
  repeated_into("repeat", out, x, repeats);
}
Tensor Tensor::tile(const Dims& repeats) const {
  return repeated("tile", *this, tile_repeats(*this, repeats));
}
void tile_into(const Tensor& out, const Tensor& x, const Dims& repeats) {
  repeated_into("tile", out, x, tile_repeats(x, repeats));
}

Tensor Tensor::pad(const Dims& before, const Dims& after, PadMode mode, Scalar value) const {
  Tensor out = empty(padded_shape(*this, before, after, mode), dtype());
  run_pad(out, *this, before, after, mode, value);
  return out;
}
Tensor Tensor::pad(Index dim, Index before, Index after, PadMode mode, Scalar value) const {
  return pad(at_dim(*this, dim, before), at_dim(*this, dim, after), mode, value);
}
void pad_into(const Tensor& out, const Tensor& x, const Dims& before, const Dims& after,
              PadMode mode, Scalar value) {
  check_out("pad", out, padded_shape(x, before, after, mode), x.dtype());
  check_disjoint("pad", out, x);
  run_pad(out, x, before, after, mode, value);
}

Tensor Tensor::roll(const Dims& shifts, const Dims& dims) const {
  const Dims distances = roll_distances(*this, shifts, dims);
  Tensor out = empty(shape(), dtype());
  run_roll(out, *this, distances, 0);
  return out;
}
void roll_into(const Tensor& out, const Tensor& x, const Dims& shifts, const Dims& dims) {
  const Dims distances = roll_distances(x, shifts, dims);
  check_out("roll", out, x.shape(), x.dtype());
  check_disjoint("roll", out, x);
  run_roll(out, x, distances, 0);
}

}  // namespace wick
