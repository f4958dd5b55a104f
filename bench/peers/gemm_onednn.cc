// SPDX-License-Identifier: Apache-2.0
// oneDNN's matmul primitive for `wick bench gemm`. Variants: onednn, and onednn-packed, where the
// primitive chooses the layout of B and B is reordered beforehand.
#include <dnnl.hpp>

#include "bench/peers/gemm_peer.h"

namespace wick::bench {
namespace {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;

dnnl::memory::data_type type_of(Type type) {
  switch (type) {
    case Type::f32: return dnnl::memory::data_type::f32;
    case Type::f64: throw Refused("no f64");
    case Type::f16: return dnnl::memory::data_type::f16;
    case Type::bf16: break;
  }
  return dnnl::memory::data_type::bf16;
}

/// A matrix of the batch by its strides; the batch is left out where there is none.
Desc matrix(const Product& p, std::int64_t rows, std::int64_t columns, bool transposed) {
  Dims dims{rows, columns}, strides{columns, 1};
  if (transposed) strides = {1, rows};
  if (p.batch > 1) {
    dims.insert(dims.begin(), p.batch);
    strides.insert(strides.begin(), rows * columns);
  }
  return {dims, type_of(p.type), strides};
}

std::function<void()> prepare(const dnnl::engine& engine, bool packed, const Product& p,
                              const Operands& o) {
  const Desc a = matrix(p, p.m, p.k, false), b = matrix(p, p.k, p.n, p.transposed),
             c = matrix(p, p.m, p.n, false);
  Desc b_wanted = b;
  if (packed) b_wanted = Desc(b.dims(), b.data_type(), dnnl::memory::format_tag::any);
  try {
    const dnnl::matmul::primitive_desc how(dnnl::matmul::desc(a, b_wanted, c), engine);
    dnnl::stream stream(engine);
    dnnl::memory weights(b, engine, o.b.data());
    if (how.weights_desc() != b) {
      dnnl::memory own(how.weights_desc(), engine);
      dnnl::reorder(weights, own).execute(stream, weights, own);
      stream.wait();
      weights = own;
    } else if (packed) {
      throw Refused("B stays as it is");
    }
    const std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, dnnl::memory(a, engine, o.a.data())},
        {DNNL_ARG_WEIGHTS, weights},
        {DNNL_ARG_DST, dnnl::memory(c, engine, o.c.data())}};
    return [primitive = dnnl::matmul(how), arguments, stream]() mutable {
      primitive.execute(stream, arguments);
      stream.wait();
    };
  } catch (const dnnl::error& e) {
    throw Refused(e.message);
  }
}

}  // namespace
}  // namespace wick::bench

int main(int argc, char** argv) {
  using namespace wick::bench;
  return serve(argc, argv, [](std::string_view variant, int) -> Library {
    const dnnl_version_t* const v = dnnl_version();
    const bool packed = variant == "onednn-packed";
    return {"oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
                std::to_string(v->patch),
            [engine = dnnl::engine(dnnl::engine::kind::cpu, 0), packed](
                const Product& p, const Operands& o) { return prepare(engine, packed, p, o); }};
  });
}
