// SPDX-License-Identifier: Apache-2.0
// OpenBLAS, BLIS and MKL for `wick bench gemm`, through the C interface that all three have.
// Variants: the name of the library, and that with -gemv (matrix times vector), mkl-packed (B
// packed before) and mkl-jit (code made for the shape).
#include <dlfcn.h>

#include "bench/peers/gemm_peer.h"

namespace wick::bench {
namespace {

// What <cblas.h> says, so that no library need be there to build this.
constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112, kPacked = 151, kPackB = 162;
constexpr int kJitRowMajor = 101;

using F32Gemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int,
                     float, float*, int);
using F64Gemm = void(int, int, int, int, int, int, double, const double*, int, const double*, int,
                     double, double*, int);
using F32Gemv = void(int, int, int, int, float, const float*, int, const float*, int, float, float*,
                     int);
using F64Gemv = void(int, int, int, int, double, const double*, int, const double*, int, double,
                     double*, int);
using F32Batch = void(int, int, int, int, int, int, float, const float*, int, int, const float*,
                      int, int, float, float*, int, int, int);
using HalfGemm = void(int, int, int, int, int, int, float, const void*, int, const void*, int,
                      float, float*, int);
using PackSize = std::size_t(int, int, int, int);
using PackF32 = void(int, int, int, int, int, int, float, const void*, int, void*);
using PackHalf = void(int, int, int, int, int, int, const void*, int, void*);
using ComputeF32 = void(int, int, int, int, int, int, const void*, int, const void*, int, float,
                        float*, int);
using ComputeHalf = void(int, int, int, int, int, int, float, const void*, int, const void*, int,
                         float, float*, int);
using JitCreate = int(void**, int, int, int, std::size_t, std::size_t, std::size_t, float,
                      std::size_t, std::size_t, float, std::size_t);
using JitKernel = void (*)(void*, const float*, const float*, float*);
using JitGet = JitKernel(void*);

class Shared {
 public:
  explicit Shared(const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (handle_ == nullptr) handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle_ == nullptr) throw std::runtime_error(names.front());
  }
  /// The function, Refused without it.
  template <class F>
  F* get(const std::string& name) const {
    F* const f = find<F>(name);
    if (f == nullptr) throw Refused("no " + name);
    return f;
  }
  template <class F>
  F* find(const std::string& name) const {
    return reinterpret_cast<F*>(::dlsym(handle_, name.c_str()));
  }

 private:
  void* handle_ = nullptr;
};

/// Sizes as the libraries take them.
struct Sizes {
  int m, n, k, ldb, batch, trans_b;
  explicit Sizes(const Product& p)
      : m(static_cast<int>(p.m)),
        n(static_cast<int>(p.n)),
        k(static_cast<int>(p.k)),
        ldb(static_cast<int>(p.ldb())),
        batch(static_cast<int>(p.batch)),
        trans_b(p.transposed ? kTransposed : kPlain) {}
};

using Call = std::function<void()>;

template <class T, class F>
Call by_gemm(F* gemm, const Sizes& s, const Operands& o) {
  return [gemm, s, &o] {
    for (std::int64_t i = 0; i < s.batch; ++i)
      gemm(kRowMajor, kPlain, s.trans_b, s.m, s.n, s.k, T{1}, o.a.as<T>(i * s.m * s.k), s.k,
           o.b.as<T>(i * s.k * s.n), s.ldb, T{0}, o.c.as<T>(i * s.m * s.n), s.n);
  };
}

template <class T, class F>
Call by_gemv(F* gemv, const Sizes& s, const Operands& o) {
  if (s.batch != 1) throw Refused("one product at a time");
  if (s.n == 1)
    return [gemv, s, &o] {
      gemv(kRowMajor, kPlain, s.m, s.k, T{1}, o.a.as<T>(), s.k, o.b.as<T>(), 1, T{0}, o.c.as<T>(),
           1);
    };
  if (s.m != 1) throw Refused("a matrix and a vector only");
  const bool turned = s.trans_b == kTransposed;
  return [gemv, s, turned, &o] {
    gemv(kRowMajor, turned ? kPlain : kTransposed, turned ? s.n : s.k, turned ? s.k : s.n, T{1},
         o.b.as<T>(), s.ldb, o.a.as<T>(), 1, T{0}, o.c.as<T>(), 1);
  };
}

/// bf16 and f16 with results in f32.
Call by_half_gemm(HalfGemm* gemm, const Sizes& s, Operands& o) {
  if (s.batch != 1) throw Refused("one product at a time");
  o.c = Block(Type::f32, std::int64_t{s.m} * s.n);
  return [gemm, s, &o] {
    gemm(kRowMajor, kPlain, s.trans_b, s.m, s.n, s.k, 1, o.a.data(), s.k, o.b.data(), s.ldb, 0,
         o.c.as<float>(), s.n);
  };
}

Call packed_f32(const Shared& lib, const Sizes& s, const Operands& o) {
  const std::size_t size = lib.get<PackSize>("cblas_sgemm_pack_get_size")(kPackB, s.m, s.n, s.k);
  const Block b(Type::f32, static_cast<std::int64_t>(size / 4 + 1));
  lib.get<PackF32>("cblas_sgemm_pack")(kRowMajor, kPackB, s.trans_b, s.m, s.n, s.k, 1, o.b.data(),
                                       s.ldb, b.data());
  return [compute = lib.get<ComputeF32>("cblas_sgemm_compute"), b, s, &o] {
    compute(kRowMajor, kPlain, kPacked, s.m, s.n, s.k, o.a.data(), s.k, b.data(), s.ldb, 0,
            o.c.as<float>(), s.n);
  };
}

Call packed_half(const Shared& lib, const std::string& name, const Sizes& s, Operands& o) {
  const std::size_t size = lib.get<PackSize>(name + "_pack_get_size")(kPackB, s.m, s.n, s.k);
  const Block b(Type::f32, static_cast<std::int64_t>(size / 4 + 1));
  lib.get<PackHalf>(name + "_pack")(kRowMajor, kPackB, s.trans_b, s.m, s.n, s.k, o.b.data(), s.ldb,
                                    b.data());
  o.c = Block(Type::f32, std::int64_t{s.m} * s.n);
  return [compute = lib.get<ComputeHalf>(name + "_compute"), b, s, &o] {
    compute(kRowMajor, kPlain, kPacked, s.m, s.n, s.k, 1, o.a.data(), s.k, b.data(), s.ldb, 0,
            o.c.as<float>(), s.n);
  };
}

Call by_packed(const Shared& lib, const Product& p, Operands& o) {
  if (p.batch != 1) throw Refused("one product at a time");
  const Sizes s(p);
  switch (p.type) {
    case Type::f32: return packed_f32(lib, s, o);
    case Type::bf16: return packed_half(lib, "cblas_gemm_bf16bf16f32", s, o);
    case Type::f16: return packed_half(lib, "cblas_gemm_f16f16f32", s, o);
    case Type::f64: break;
  }
  throw Refused("no f64");
}

Call by_jit(const Shared& lib, const Product& p, const Operands& o) {
  if (p.type != Type::f32) throw Refused("f32 only");
  if (p.m * p.n * p.k > 64 * 64 * 64) throw Refused("small matrices only");
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  void* jitter = nullptr;
  if (lib.get<JitCreate>("mkl_cblas_jit_create_sgemm")(
          &jitter, kJitRowMajor, kPlain, p.transposed ? kTransposed : kPlain, size(p.m), size(p.n),
          size(p.k), 1, size(p.k), size(p.ldb()), 0, size(p.n)) != 0)
    throw Refused("no code for this shape");
  const JitKernel kernel = lib.get<JitGet>("mkl_jit_get_sgemm_ptr")(jitter);
  return [kernel, jitter, p, &o] {
    for (std::int64_t i = 0; i < p.batch; ++i)
      kernel(jitter, o.a.as<float>(i * p.m * p.k), o.b.as<float>(i * p.k * p.n),
             o.c.as<float>(i * p.m * p.n));
  };
}

Call plain(const Shared& lib, const Product& p, Operands& o) {
  const Sizes s(p);
  if (p.type == Type::bf16) return by_half_gemm(lib.get<HalfGemm>("cblas_gemm_bf16bf16f32"), s, o);
  if (p.type == Type::f16) return by_half_gemm(lib.get<HalfGemm>("cblas_gemm_f16f16f32"), s, o);
  if (p.type == Type::f64) return by_gemm<double>(lib.get<F64Gemm>("cblas_dgemm"), s, o);
  auto* const many = lib.find<F32Batch>("cblas_sgemm_batch_strided");
  if (p.batch == 1 || many == nullptr) return by_gemm<float>(lib.get<F32Gemm>("cblas_sgemm"), s, o);
  return [many, s, &o] {
    many(kRowMajor, kPlain, s.trans_b, s.m, s.n, s.k, 1, o.a.as<float>(), s.k, s.m * s.k,
         o.b.as<float>(), s.ldb, s.k * s.n, 0, o.c.as<float>(), s.n, s.m * s.n, s.batch);
  };
}

Call prepare(const Shared& lib, std::string_view variant, const Product& p, Operands& o) {
  if (variant == "packed") return by_packed(lib, p, o);
  if (variant == "jit") return by_jit(lib, p, o);
  if (variant != "gemv") return plain(lib, p, o);
  if (p.type == Type::f32) return by_gemv<float>(lib.get<F32Gemv>("cblas_sgemv"), Sizes(p), o);
  if (p.type == Type::f64) return by_gemv<double>(lib.get<F64Gemv>("cblas_dgemv"), Sizes(p), o);
  throw Refused("f32 and f64 only");
}

std::vector<std::string> file_names(std::string_view library) {
  if (library == "openblas") return {"libopenblas.so.0", "libopenblas.so"};
  if (library == "blis") return {"libblis.so.4", "libblis.so"};
  if (library != "mkl") throw std::runtime_error("a library by that name");
  const char* const path = std::getenv("WICK_PEER_MKL");
  return {path != nullptr ? path : "libmkl_rt.so", "libmkl_rt.so.3", "libmkl_rt.so.2"};
}

/// An OpenBLAS older than its CPU takes the oldest kernels: it is told the newest that fit.
void start_again_with_core(const Shared& lib, char** argv) {
  auto* const core = lib.find<char*()>("openblas_get_corename");
  if (core == nullptr || std::string_view(core()) != "Prescott") return;
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr || __builtin_cpu_supports("avx2") == 0) return;
  ::setenv("OPENBLAS_CORETYPE", __builtin_cpu_supports("avx512vl") != 0 ? "SkylakeX" : "Haswell",
           1);
  ::execv("/proc/self/exe", argv);
}

/// The line in which the library names itself, and the kernels it chose where it says so.
std::string version(const Shared& lib, std::string_view library) {
  if (library == "openblas") {
    std::string text = "OpenBLAS";
    if (auto* const config = lib.find<char*()>("openblas_get_config")) text = config();
    if (auto* const core = lib.find<char*()>("openblas_get_corename"))
      text = text.substr(0, text.find(' ', 9)) + " " + core();
    return text;
  } else if (library == "blis") {
    if (auto* const text = lib.find<char*()>("bli_info_get_version_str"))
      return std::string("BLIS ") + text();
  } else if (auto* const text = lib.find<void(char*, int)>("MKL_Get_Version_String")) {
    char line[200] = {};
    text(line, sizeof line - 1);
    return line;
  }
  return std::string(library);
}

}  // namespace
}  // namespace wick::bench

int main(int argc, char** argv) {
  using namespace wick::bench;
  return serve(argc, argv, [argv](std::string_view name, int) -> Library {
    const std::size_t dash = name.find('-');
    const std::string_view library = name.substr(0, dash);
    const std::string variant(dash == name.npos ? "" : name.substr(dash + 1));
    const Shared lib(file_names(library));
    if (library == "openblas") start_again_with_core(lib, argv);
    return {version(lib, library),
            [lib, variant](const Product& p, Operands& o) { return prepare(lib, variant, p, o); }};
  });
}
