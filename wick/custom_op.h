// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "wick/core/nd_iter.h"
#include "wick/parallel/executor.h"
#include "wick/tensor.h"

namespace wick {

// Ops of your own, with one, two or three inputs:
//
//   // y = x with every element but the largest of its row set to 0; any dtype check is yours.
//   Tensor y = custom_op("keep_largest", x.shape(), x.dtype(),
//                        [](const OutputView& out, const InputView& in) { ... }, x);
//
// The op gets views: dtype, layout and the address of the element with all indices zero. Element i
// of a dim lies i * layout.strides[dim] elements further; strides may be 0 or negative, sizes 0. It
// runs on the calling thread and may use parallel_for. What it throws reaches the caller.
//
//   // An elementwise one, over views of any strides, on the current threads:
//   custom_op_into("hypot", out, [](const OutputView& y, const InputView& a, const InputView& b) {
//     map_elements<f32>(y, [](f32 p, f32 q) { return std::hypot(p, q); }, a.as<f32>(),
//     b.as<f32>());
//   }, p, q);

/// Elements of type T seen through a layout, whose offset is in `data` already.
template <class T>
struct TypedView {
  T* data;
  Layout layout;
};

/// An operand as a custom op sees it.
class InputView {
 public:
  explicit InputView(const Tensor& x) : tensor_(&x) {}
  DType dtype() const { return tensor_->dtype(); }
  const Dims& shape() const { return tensor_->shape(); }
  const Layout& layout() const { return tensor_->layout(); }
  /// Address of the element with all indices zero. A `dtype` Error unless T is the dtype.
  template <class T>
  const T* data() const {
    return tensor_->data<T>();
  }
  template <class T>
  TypedView<const T> as() const {
    return {data<T>(), {layout().shape, layout().strides, 0}};
  }

 private:
  const Tensor* tensor_;
};

/// The output: it is writable, no two of its elements are one, and no input shares memory with it.
class OutputView {
 public:
  explicit OutputView(const Tensor& x) : tensor_(&x) {}
  DType dtype() const { return tensor_->dtype(); }
  const Dims& shape() const { return tensor_->shape(); }
  const Layout& layout() const { return tensor_->layout(); }
  template <class T>
  T* data() const {
    return tensor_->data<T>();
  }
  template <class T>
  TypedView<T> as() const {
    return {data<T>(), {layout().shape, layout().strides, 0}};
  }

 private:
  const Tensor* tensor_;
};

namespace detail {
/// Before a custom op may write: `out` is not read-only, does not overlap itself nor an input.
WICK_API void check_custom(std::string_view op, const Tensor& out,
                           std::initializer_list<const Tensor*> inputs);
}  // namespace detail

/// A tensor of this shape and dtype, row-major, that f(OutputView, InputView...) fills: it has not
/// been initialised before.
template <class F, std::same_as<Tensor>... Inputs>
  requires(sizeof...(Inputs) >= 1 && sizeof...(Inputs) <= 3)
Tensor custom_op(std::string_view op, const Dims& shape, DType dtype, F&& f,
                 const Inputs&... inputs) {
  Tensor out = Tensor::empty(shape, dtype);
  detail::check_custom(op, out, {&inputs...});
  f(OutputView(out), InputView(inputs)...);
  return out;
}

/// The same into any strided view. `read_only`, `overlap` Errors before f is called.
template <class F, std::same_as<Tensor>... Inputs>
  requires(sizeof...(Inputs) >= 1 && sizeof...(Inputs) <= 3)
void custom_op_into(std::string_view op, const Tensor& out, F&& f, const Inputs&... inputs) {
  detail::check_custom(op, out, {&inputs...});
  f(OutputView(out), InputView(inputs)...);
}

/// f(OutputView of x, InputView...) changes x where it is; up to two more inputs.
template <class F, std::same_as<Tensor>... Inputs>
  requires(sizeof...(Inputs) <= 2)
void custom_op_in_place(std::string_view op, const Tensor& x, F&& f, const Inputs&... inputs) {
  detail::check_custom(op, x, {&inputs...});
  f(OutputView(x), InputView(inputs)...);
}

/// y = g(inputs...) element by element, for operands of one shape, on the current threads. To read
/// the old y in an op in place, pass its elements as an input, too.
template <class Out, class G, class... In>
void map_elements(const OutputView& y, G&& g, const TypedView<In>&... inputs) {
  const TypedView<Out> out = y.as<Out>();
  ((inputs.layout.shape == out.layout.shape
        ? void()
        : throw Error(ErrorKind::shape, "map_elements",
                      str("wanted inputs of shape ", to_string(out.layout.shape), ", got ",
                          to_string(inputs.layout.shape)))),
   ...);
  constexpr std::size_t kOperands = sizeof...(In) + 1;
  const NdIter<kOperands> it({&out.layout, &inputs.layout...});
  parallel_for(it.size(), 16 * 1024, [&](Index begin, Index end) {
    it.for_each(begin, end, [&](const auto& at, const Loop2<kOperands>& loop) {
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        for (Index j = 0; j < loop.m; ++j)
          for (Index i = 0; i < loop.n; ++i)
            out.data[at[0] + j * loop.outer[0] + i * loop.inner[0]] =
                g(inputs.data[at[K + 1] + j * loop.outer[K + 1] + i * loop.inner[K + 1]]...);
      }(std::make_index_sequence<kOperands - 1>());
    });
  });
}

}  // namespace wick
