// SPDX-License-Identifier: Apache-2.0
#include "wick/kernels/gate.h"

#include "wick/core/dispatch.h"
#include "wick/nn.h"
#include "wick/ops/check.h"
#include "wick/ops/loop.h"

namespace wick {
namespace {

void check_swiglu(const Tensor& gate, const Tensor& up) {
  check_same_dtype(gate.dtype(), up.dtype(), "swiglu");
  if (!is_float(gate.dtype())) throw_unsupported(gate.dtype(), "swiglu");
  if (gate.shape() != up.shape())
    throw error_about(
        ErrorKind::shape, "swiglu",
        str("wanted equal shapes, got ", to_string(gate.shape()), " and ", to_string(up.shape())),
        {&gate, &up});
}

void run_swiglu(const Tensor& out, const Tensor& gate, const Tensor& up) {
  dispatch(out.storage(), gate.storage(), up.storage(), "swiglu",
           [&]<Float T>(const Buffer<T>& y, const Buffer<T>& a, const Buffer<T>& b) {
             const auto kernel = kernels::swiglu<T>();
             for_each_loop<3>({&out.layout(), &gate.layout(), &up.layout()}, kCostlyGrain,
                              [&](const auto& at, const Loop2<3>& loop) {
                                kernel(y.data() + at[0], a.data() + at[1], b.data() + at[2], loop);
                              });
           });
}

/// The shape of one side of the pairs; an Error if there are none.
Dims pair_shape(const Tensor& x) {
  if (!is_float(x.dtype())) throw_unsupported(x.dtype(), "rotary");
  if (x.rank() < 2 || x.shape().last(1) % 2 != 0)
    throw error_about(ErrorKind::shape, "rotary",
                      str("wanted [.., t, d] with an even number d, got ", to_string(x.shape())),
                      {&x});
  Dims shape = x.shape();
  shape[x.rank() - 1] /= 2;
  return shape;
}

/// One side of the pairs of a tensor's last dim.
Layout side_of(const Layout& x, RotaryPairs pairs, Index side) {
  const Index d = x.shape.last(1);
  return pairs == RotaryPairs::halves ? x.narrow(-1, side * (d / 2), d / 2)
                                      : x.slice(-1, std::min(side, d), d, 2);
}

struct Angles {
  Layout cosine, sine;
};
Angles check_rotary(const Tensor& x, const Tensor& cosine, const Tensor& sine, const Dims& pairs) {
  check_same_dtype(x.dtype(), cosine.dtype(), "rotary");
  check_same_dtype(x.dtype(), sine.dtype(), "rotary");
  return {cosine.layout().broadcast_to(pairs, "rotary"),
          sine.layout().broadcast_to(pairs, "rotary")};
}

void run_rotary(const Tensor& out, const Tensor& x, const Tensor& cosine, const Tensor& sine,
                const Angles& angles, RotaryPairs pairs) {
  if (x.element_count() == 0) return;
  const Layout y0 = side_of(out.layout(), pairs, 0), y1 = side_of(out.layout(), pairs, 1),
               a = side_of(x.layout(), pairs, 0), b = side_of(x.layout(), pairs, 1);
  dispatch(x.storage(), "rotary", [&]<Float T>(const Buffer<T>& in) {
    const auto kernel = kernels::rotary<T>();
    const auto data = [](const Tensor& t) { return std::get_if<Buffer<T>>(&t.storage())->data(); };
    T* const y = data(out);
    const T *const c = data(cosine), *const s = data(sine), *const from = in.data();
    for_each_loop<6>(
        {&y0, &y1, &a, &b, &angles.cosine, &angles.sine}, kCheapGrain,
        [&](const auto& at, const Loop2<6>& loop) {
          kernel({y + at[0], y + at[1], from + at[2], from + at[3], c + at[4], s + at[5]}, loop);
        });
  });
}

}  // namespace

Tensor swiglu(const Tensor& gate, const Tensor& up) {
  check_swiglu(gate, up);
  Tensor out = Tensor::empty(gate.shape(), gate.dtype());
  run_swiglu(out, gate, up);
  return out;
}
void swiglu_into(const Tensor& out, const Tensor& gate, const Tensor& up) {
  check_swiglu(gate, up);
  check_out("swiglu", out, gate.shape(), gate.dtype());
  check_overlap("swiglu", out, gate);
  check_overlap("swiglu", out, up);
  run_swiglu(out, gate, up);
}
Tensor swiglu(const Tensor& x) {
  if (x.rank() == 0 || x.shape().last(1) % 2 != 0)
    throw error_about(ErrorKind::shape, "swiglu",
                      str("wanted [.., 2n], got ", to_string(x.shape())), {&x});
  const Index n = x.shape().last(1) / 2;
  return swiglu(x.narrow(-1, 0, n), x.narrow(-1, n, n));
}

Tensor rotary(const Tensor& x, const Tensor& cos, const Tensor& sin, RotaryPairs pairs) {
  const Angles angles = check_rotary(x, cos, sin, pair_shape(x));
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  run_rotary(out, x, cos, sin, angles, pairs);
  return out;
}
void rotary_into(const Tensor& out, const Tensor& x, const Tensor& cos, const Tensor& sin,
                 RotaryPairs pairs) {
  const Angles angles = check_rotary(x, cos, sin, pair_shape(x));
  check_out("rotary", out, x.shape(), x.dtype());
  check_overlap("rotary", out, x);
  check_disjoint("rotary", out, cos);
  check_disjoint("rotary", out, sin);
  run_rotary(out, x, cos, sin, angles, pairs);
}

}  // namespace wick
