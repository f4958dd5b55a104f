// SPDX-License-Identifier: Apache-2.0
#include "wick/arrange.h"
#include "wick/core/dispatch.h"
#include "wick/kernels/cast.h"
#include "wick/kernels/index.h"
#include "wick/ops/check.h"
#include "wick/ops/ids.h"
#include "wick/ops/lines.h"

namespace wick {
namespace {

enum class Kind : std::uint8_t { scatter, scatter_add, index_add };

constexpr std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::scatter: return "scatter";
    case Kind::scatter_add: return "scatter_add";
    case Kind::index_add: return "index_add";
  }
  return "";
}

Index magnitude(Index stride) { return stride < 0 ? -stride : stride; }

/// Shorter rows are added element by element.
constexpr Index kRow = 16;

/// Lines of out along `dim`, with the lines of ids and src that go to them.
struct Lines {
  Lines(const Layout& y, const Layout& ids, const Layout& src, int dim)
      : y_rest{ids.shape.erased(dim), y.strides.erased(dim), y.offset},
        ids_rest(without_dim(ids, dim)),
        src_rest{y_rest.shape, src.strides.erased(dim), src.offset},
        it({&y_rest, &ids_rest, &src_rest}),
        size(y.shape[dim]),
        y_step(y.strides[dim]) {
    loop.count = ids.shape[dim];
    loop.y_step = y_step;
    loop.ids_step = ids.strides[dim];
    loop.src_step = src.strides[dim];
    // Not a matter of how the work is cut.
    loop.rows = it.extent(0) >= kRow && it.strides(0)[1] == 0 &&
                magnitude(it.strides(0)[2]) <= magnitude(loop.src_step);
  }

  Layout y_rest, ids_rest, src_rest;
  NdIter<3> it;
  Index size;  ///< places of a line
  Index y_step;
  kernels::ScatterLoop loop;
};

/// Calls f(first line, last line, low, high) for parts of the work that write to separate places,
/// on the current threads. A part goes through all ids of its lines in order, so the result does
/// not depend on how the work is cut.
void share_out(const Lines& lines, FunctionRef<void(Index, Index, Index, Index)> f) {
  const Index n = lines.it.size(), count = lines.loop.count;
  if (n == 0 || count == 0) return;
  // Lines side by side share cache lines: a thread takes some at least.
  const bool across = magnitude(lines.it.strides(0)[0]) < magnitude(lines.y_step) && n > 1;
  const Index least = across ? 16 : 1;
  const Index parts = count >= kCostlyGrain ? n : ceil_div(n * count, kCostlyGrain);
  if (parts <= 1 || n >= current_executor().threads() * least)
    return parallel_for(n, std::max(least, kCostlyGrain / count),
                        [&](Index first, Index last) { f(first, last, 0, lines.size); });
  // Few long lines: each thread has some of the places, and passes over ids of others.
  parallel_for(lines.size, ceil_div(lines.size, ceil_div(count, kCostlyGrain) * n),
               [&](Index low, Index high) { f(0, n, low, high); });
}

/// Calls f(offsets, loop) for each loop of the lines [first, last).
template <class F>
void for_each_run(const Lines& lines, Index first, Index last, Index low, Index high, F&& f) {
  lines.it.for_each(first, last, [&](const auto& at, const Loop2<3>& run) {
    kernels::ScatterLoop loop = lines.loop;
    loop.lines = run;
    loop.low = low;
    loop.high = high;
    loop.all = high - low == lines.size;
    f(at, loop);
  });
}

struct Memory {
  std::byte* y;
  const std::byte* ids;
  const std::byte* src;
  int bytes, id_bytes;
};

void run_in_place(const Lines& lines, const Memory& m, kernels::ScatterFn kernel) {
  share_out(lines, [&](Index first, Index last, Index low, Index high) {
    for_each_run(lines, first, last, low, high, [&](const auto& at, const auto& loop) {
      kernel(m.y + (at[0] + low * lines.y_step) * m.bytes, m.ids + at[1] * m.id_bytes,
             m.src + at[2] * m.bytes, loop);
    });
  });
}

/// n lines of small floats, places [low, high) or those of them that `rows` lists, and the buffer
/// that they are widened into.
struct Widened {
  std::byte* y;
  int bytes;
  f32* wide;
  Index n, low, high;
  std::array<Index, 2> line, step;  ///< strides of y and of the buffer, which has the same order
  const Index* rows;

  /// Calls f(y, wide, loop over the two) until all has been seen.
  template <class F>
  void each(F f) const {
    if (rows != nullptr) {
      for (Index p = low; p < high; ++p)
        f(y + rows[p] * step[0] * bytes, wide + (p - low) * step[1],
          Loop2<2>{n, 1, {line[0], line[1]}, {}});
    } else if (line[1] == 1) {
      f(y + low * step[0] * bytes, wide, Loop2<2>{n, high - low, line, step});
    } else {
      f(y + low * step[0] * bytes, wide, Loop2<2>{high - low, n, step, line});
    }
  }
};

/// Small floats: some lines at a time are widened, added to and rounded back; whole ones, or only
/// the places that `rows` lists (ids then count in that list).
void run_widened(std::string_view op, const Lines& lines, const Memory& m, DType dtype,
                 kernels::ScatterFn kernel, const Index* rows) {
  constexpr Index kBlock = 512 * 1024;  // elements that fit an L2 cache
  const auto widen = kernels::cast(DType::f32, dtype), round = kernels::cast(dtype, DType::f32);
  share_out(lines, [&](Index first, Index last, Index low, Index high) {
    const Index places = high - low;
    const Index most = std::clamp<Index>(kBlock / std::max<Index>(places, 1), 1, last - first);
    const Buffer<f32> buffer(checked_mul(most, places, op, "working memory"), op);
    for_each_run(lines, first, last, low, high, [&](const auto& at, const auto& whole) {
      const Loop2<3>& run = whole.lines;
      const bool across = magnitude(run.inner[0]) < magnitude(lines.y_step);
      kernels::ScatterLoop part = whole;
      part.lines.m = 1;
      for (Index j = 0; j < run.m; ++j)
        for (Index i = 0; i < run.n; i += most) {
          const auto place = [&](std::size_t k) {
            return at[k] + j * run.outer[k] + i * run.inner[k];
          };
          const Index n = std::min(most, run.n - i);
          const Index line = across ? 1 : places, step = across ? n : 1;
          const Widened block{
              m.y + place(0) * m.bytes, m.bytes, buffer.data(), n, low, high, {run.inner[0], line},
              {lines.y_step, step},     rows};
          part.lines.n = n;
          part.lines.inner[0] = line;
          part.y_step = step;
          block.each([&](std::byte* y, f32* wide, const Loop2<2>& l) {
            widen(wide, y, {l.n, l.m, {l.inner[1], l.inner[0]}, {l.outer[1], l.outer[0]}});
          });
          kernel(buffer.data(), m.ids + place(1) * m.id_bytes, m.src + place(2) * m.bytes, part);
          block.each([&](std::byte* y, f32* wide, const Loop2<2>& l) { round(y, wide, l); });
        }
    });
  });
}

/// Small floats where few of the places are met: only those are widened.
template <Element T>
void run_at_some(const Tensor& out, int dim, const Tensor& ids, const Tensor& src, Memory m) {
  const Index count = ids.element_count();
  const Buffer<Index> buffer(2 * count, "index_add");
  Index *slots = buffer.data(), *rows = slots + count, last = -1, met = 0;
  const Tensor order = ids.argsort(0);
  const u32* at = order.data<u32>();
  dispatch(ids.storage(), "index_add", [&]<IndexElement I>(const Buffer<I>& b) {
    const I* id = b.data() + ids.layout().offset;
    for (Index k = 0; k < count; ++k) {
      const auto row = static_cast<Index>(id[at[k] * ids.layout().strides[0]]);
      if (row != last) rows[met++] = last = row;
      slots[at[k]] = met - 1;
    }
  });
  m.ids = reinterpret_cast<const std::byte*>(slots);
  m.id_bytes = sizeof(Index);
  Layout places{src.shape(), Dims::filled(src.rank(), 0), 0};
  places.strides[dim] = 1;
  Lines lines(out.layout(), places, src.layout(), dim);
  lines.size = met;
  run_widened("index_add", lines, m, dtype_of<T>, kernels::scatter_add<T>(DType::i64), rows);
}

/// `id_places` sees the ids in their own shape, or that of src. All has been checked.
void run(Kind kind, const Tensor& out, int dim, const Tensor& ids, const Layout& id_places,
         const Tensor& src) {
  const Lines lines(out.layout(), id_places, src.layout(), dim);
  const Memory memory{view(out.storage()).data, view(ids.storage()).data, view(src.storage()).data,
                      bits(out.dtype()) / 8, bits(ids.dtype()) / 8};
  if (kind == Kind::scatter)
    return run_in_place(lines, memory, kernels::scatter(memory.bytes, ids.dtype()));
  dispatch(out.dtype(), name_of(kind), [&]<Element T>(std::type_identity<T>) {
    const auto kernel = kernels::scatter_add<T>(ids.dtype());
    if constexpr (!SmallFloat<T>) {
      run_in_place(lines, memory, kernel);
    } else if (kind == Kind::index_add && ids.element_count() < lines.size / 2) {
      run_at_some<T>(out, dim, ids, src, memory);
    } else {
      run_widened(name_of(kind), lines, memory, out.dtype(), kernel, nullptr);
    }
  });
}

/// Everything but the values of the ids. Returns the axis.
int check_input(Kind kind, const Tensor& x, Index dim, const Tensor& ids, const Tensor& src) {
  const std::string_view op = name_of(kind);
  const int d = normalize_axis(dim, x.rank(), op);
  check_same_dtype(x.dtype(), src.dtype(), op);
  if (kind == Kind::scatter ? bits(x.dtype()) % 8 != 0 : is_raw(x.dtype()))
    throw_unsupported(x.dtype(), op);
  check_ids_dtype(op, ids);
  if (kind == Kind::index_add) {
    if (ids.rank() != 1)
      throw error_about(ErrorKind::shape, op,
                        str("wanted ids of rank 1, got shape ", to_string(ids.shape())),
                        {&x, &ids, &src});
    Dims wanted = x.shape();
    wanted[d] = ids.shape()[0];
    if (src.shape() != wanted)
      throw error_about(
          ErrorKind::shape, op,
          str("wanted src of shape ", to_string(wanted), ", got ", to_string(src.shape())),
          {&x, &ids, &src});
    return d;
  }
  bool fits = ids.rank() == x.rank() && src.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i)
    fits = ids.shape()[i] <= src.shape()[i] && (i == d || ids.shape()[i] <= x.shape()[i]);
  if (!fits)
    throw error_about(ErrorKind::shape, op,
                      str("wanted ids no larger than src and, but along axis ", d,
                          ", the tensor; got ids of shape ", to_string(ids.shape()), ", src ",
                          to_string(src.shape()), ", tensor ", to_string(x.shape())),
                      {&x, &ids, &src});
  return d;
}

Layout places_of(Kind kind, const Tensor& ids, int dim, const Tensor& src) {
  return kind == Kind::index_add ? spread_ids(ids, dim, src.shape()) : ids.layout();
}

Tensor apply(Kind kind, const Tensor& x, Index dim, const Tensor& ids, const Tensor& src) {
  const int d = check_input(kind, x, dim, ids, src);
  check_ids(name_of(kind), ids, x.shape()[d]);
  Tensor out = x.copy();
  run(kind, out, d, ids, places_of(kind, ids, d, src), src);
  return out;
}

void apply_into(Kind kind, const Tensor& out, const Tensor& x, Index dim, const Tensor& ids,
                const Tensor& src) {
  const std::string_view op = name_of(kind);
  const int d = check_input(kind, x, dim, ids, src);
  check_out(op, out, x.shape(), x.dtype());
  check_overlap(op, out, x);
  check_disjoint(op, out, ids);
  check_disjoint(op, out, src);
  check_ids(op, ids, x.shape()[d]);
  copy_into(out, x);
  run(kind, out, d, ids, places_of(kind, ids, d, src), src);
}

}  // namespace

Tensor Tensor::scatter(Index dim, const Tensor& ids, const Tensor& src) const {
  return apply(Kind::scatter, *this, dim, ids, src);
}
Tensor Tensor::scatter_add(Index dim, const Tensor& ids, const Tensor& src) const {
  return apply(Kind::scatter_add, *this, dim, ids, src);
}
Tensor Tensor::index_add(Index dim, const Tensor& ids, const Tensor& src) const {
  return apply(Kind::index_add, *this, dim, ids, src);
}
void scatter_into(const Tensor& out, const Tensor& x, Index dim, const Tensor& ids,
                  const Tensor& src) {
  apply_into(Kind::scatter, out, x, dim, ids, src);
}
void scatter_add_into(const Tensor& out, const Tensor& x, Index dim, const Tensor& ids,
                      const Tensor& src) {
  apply_into(Kind::scatter_add, out, x, dim, ids, src);
}
void index_add_into(const Tensor& out, const Tensor& x, Index dim, const Tensor& ids,
                    const Tensor& src) {
  apply_into(Kind::index_add, out, x, dim, ids, src);
}

}  // namespace wick
