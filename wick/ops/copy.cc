// SPDX-License-Identifier: Apache-2.0
#include "wick/ops/copy.h"

#include "wick/core/dispatch.h"
#include "wick/kernels/cast.h"
#include "wick/kernels/copy.h"
#include "wick/kernels/fill.h"
#include "wick/ops/check.h"
#include "wick/ops/loop.h"

namespace wick {
namespace {

bool is_packed(DType t) { return bits(t) % 8 != 0; }

/// An element as an f32 that rounds once, and the right way, to any raw format.
template <Element T>
f32 to_f32_for_raw(T x) {
  if constexpr (SmallFloat<T>) {
    return to_f32(x);
  } else if constexpr (std::same_as<T, i64>) {
    return small::to_f32_odd(detail::to_f64_odd(x));
  } else {
    return small::to_f32_odd(static_cast<f64>(x));
  }
}

/// Elements of the raw formats one by one. Two of them may share a byte: never split over threads.
void convert_raw(const Tensor& out, const Tensor& x, const Layout& from) {
  const NdIter<2> it({&out.layout(), &from});
  dispatch(out.dtype(), "to_dtype", [&]<class To>(std::type_identity<To>) {
    To* y = std::get_if<Buffer<To>>(&out.storage())->data();
    dispatch(x.dtype(), "to_dtype", [&]<class From>(std::type_identity<From>) {
      const From* in = std::get_if<Buffer<From>>(&x.storage())->data();
      it.for_each(0, it.size(), [&](const auto& at, const Loop2<2>& l) {
        for (Index j = 0; j < l.m; ++j)
          for (Index i = 0; i < l.n; ++i) {
            const Index to = at[0] + j * l.outer[0] + i * l.inner[0];
            const Index of = at[1] + j * l.outer[1] + i * l.inner[1];
            if constexpr (Raw<To> && Raw<From>) {
              raw_store(y, to, raw_load(in, of));
            } else if constexpr (Raw<To>) {
              raw_store(y, to, to_f32_for_raw(in[of]));
            } else if constexpr (Raw<From>) {
              y[to] = convert<To>(raw_load(in, of));
            }
          }
      });
    });
  });
}

}  // namespace

void copy_elements(const Tensor& out, const Tensor& x) {
  const Layout from =
      x.shape() == out.shape() ? x.layout() : x.layout().broadcast_to(out.shape(), "copy");
  const DType to_type = out.dtype(), from_type = x.dtype();
  const bool same = to_type == from_type;
  if (same ? is_packed(to_type) : is_raw(to_type) || is_raw(from_type))
    return convert_raw(out, x, from);
  const int to_bytes = bits(to_type) / 8, from_bytes = bits(from_type) / 8;
  const auto kernel = same ? kernels::copy(to_bytes) : kernels::cast(to_type, from_type);
  std::byte* y = view(out.storage()).data;
  const std::byte* in = view(x.storage()).data;
  for_each_loop<2>({&out.layout(), &from}, kCheapGrain, [&](const auto& at, const Loop2<2>& loop) {
    kernel(y + at[0] * to_bytes, in + at[1] * from_bytes, loop);
  });
}

void copy_into(const Tensor& out, const Tensor& x) {
  check_out("copy", out, out.shape(), out.dtype());
  if (x.shape() != out.shape()) (void)x.layout().broadcast_to(out.shape(), "copy");
  check_overlap("copy", out, x);
  copy_elements(out, x);
}

Tensor Tensor::copy() const {
  Tensor out = empty(shape(), dtype());
  copy_elements(out, *this);
  return out;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : copy(); }

Tensor Tensor::to_dtype(DType wanted) const {
  if (wanted == dtype()) return *this;
  Tensor out = empty(shape(), wanted);
  copy_elements(out, *this);
  return out;
}

namespace {

/// The bytes of an element, as the fill kernel takes them.
template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t pattern = 0;
  std::memcpy(&pattern, &value, sizeof(T));  // little-endian: the low bytes
  return pattern;
}

void fill(const Tensor& out, Scalar value) {
  dispatch(out.dtype(), "fill", [&]<class T>(std::type_identity<T>) {
    T* y = std::get_if<Buffer<T>>(&out.storage())->data();
    if constexpr (Raw<T>) {
      const NdIter<1> it({&out.layout()});
      const f32 number =
          value.is_int() ? to_f32_for_raw(value.to<i64>()) : to_f32_for_raw(value.to_f64());
      it.for_each(0, it.size(), [&](const auto& at, const Loop2<1>& l) {
        for (Index j = 0; j < l.m; ++j)
          for (Index i = 0; i < l.n; ++i)
            raw_store(y, at[0] + j * l.outer[0] + i * l.inner[0], number);
      });
    } else {
      const auto kernel = kernels::fill(sizeof(T));
      const std::uint64_t pattern = bits_of(value.to<T>());
      for_each_loop<1>({&out.layout()}, kCheapGrain, [&](const auto& at, const Loop2<1>& loop) {
        kernel(y + at[0], pattern, loop);
      });
    }
  });
}

}  // namespace

void fill_into(const Tensor& out, Scalar value) {
  check_out("fill", out, out.shape(), out.dtype());
  fill(out, value);
}

Tensor Tensor::full(const Dims& shape, Scalar value, DType dtype) {
  Tensor out = empty(shape, dtype);
  fill(out, value);
  return out;
}

Tensor Tensor::zeros(const Dims& shape, DType dtype) { return full(shape, 0, dtype); }
Tensor Tensor::ones(const Dims& shape, DType dtype) { return full(shape, 1, dtype); }
Tensor Tensor::scalar(Scalar value, DType dtype) { return full({}, value, dtype); }

/// first + i * distance, wrapping.
static i64 whole_step(i64 first, i64 i, i64 distance) {
  using U = std::uint64_t;
  return static_cast<i64>(static_cast<U>(first) + static_cast<U>(i) * static_cast<U>(distance));
}

/// ceil((stop - start) / step) without the roundings of f64; NaN for a step of 0.
static f64 whole_count(i64 start, i64 stop, i64 step) {
  using U = std::uint64_t;
  if (step == 0) return NAN;
  if (step > 0 ? stop <= start : stop >= start) return 0;
  const U distance = step > 0 ? static_cast<U>(stop) - static_cast<U>(start)
                              : static_cast<U>(start) - static_cast<U>(stop);
  const U pace = step > 0 ? static_cast<U>(step) : 0 - static_cast<U>(step);
  const U whole = distance / pace;
  return static_cast<f64>(whole + (distance % pace != 0 ? 1 : 0));
}

Tensor Tensor::arange(Scalar start, Scalar stop, Scalar step, DType dtype) {
  const f64 from = start.to_f64(), pace = step.to_f64();
  const bool whole = start.is_int() && step.is_int();
  const f64 count = whole && stop.is_int()
                        ? whole_count(start.to<i64>(), stop.to<i64>(), step.to<i64>())
                        : std::ceil((stop.to_f64() - from) / pace);
  if (!(pace != 0) || !std::isfinite(count) || count > 9e18)
    throw Error(ErrorKind::argument, "arange",
                str("wanted finite bounds and a step other than 0, got ", from, ", ", stop.to_f64(),
                    ", ", pace));
  const Index n = count > 0 ? static_cast<Index>(count) : 0;
  Tensor out = empty({n}, dtype);
  const i64 first = start.to<i64>(), distance = step.to<i64>();
  wick::dispatch(dtype, "arange", [&]<Element T>(std::type_identity<T>) {
    T* y = out.data<T>();
    parallel_for(n, kCheapGrain, [&](Index begin, Index end) {
      // start + i * step, never a running sum.
      for (Index i = begin; i < end; ++i)
        y[i] = whole ? convert<T>(whole_step(first, i, distance))
                     : convert<T>(from + static_cast<f64>(i) * pace);
    });
  });
  return out;
}

}  // namespace wick
