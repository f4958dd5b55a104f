// SPDX-License-Identifier: Apache-2.0
#include "wick/ops/blas_library.h"

#include <array>
#include <initializer_list>

#include "wick/base/env.h"
#include "wick/base/made_once.h"
#include "wick/base/str.h"
#include "wick/parallel/fork.h"

#if defined(__has_include)
#if __has_include(<dlfcn.h>)
#include <dlfcn.h>
#define WICK_HAVE_DLFCN 1
#endif
#endif

namespace wick {
namespace {

#if defined(WICK_HAVE_DLFCN)

/// Opens the first of the names that is there: in the directories of WICK_BLAS_PATH, then where the
/// loader looks. Local: a BLAS must not lend its symbols to the program's other libraries. Never
/// closed: its threads may outlive any close.
void* open_library(std::initializer_list<const char*> names, std::string& note) {
  const std::string path = env_text("WICK_BLAS_PATH").value_or("");
  for (const char* name : names) {
    for (std::size_t at = 0; at < path.size();) {
      const std::size_t end = std::min(path.find(':', at), path.size());
      if (end > at)
        if (void* library =
                dlopen(str(path.substr(at, end - at), '/', name).c_str(), RTLD_NOW | RTLD_LOCAL))
          return library;
      at = end + 1;
    }
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    if (const char* why = dlerror(); why != nullptr && note.empty()) note = why;
  }
  return nullptr;
}

template <class F>
bool find(void* library, const char* symbol, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, symbol));
  return function != nullptr;
}

/// The two products that every engine must have, and where they come from.
void find_products(void* library, BlasTable& t) {
  t.info.found = find(library, "cblas_sgemm", t.sgemm) && find(library, "cblas_dgemm", t.dgemm);
  if (!t.info.found) {
    t.info.note = "the library has no cblas_sgemm and cblas_dgemm";
    return;
  }
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(t.sgemm), &where) != 0 && where.dli_fname != nullptr)
    t.info.path = where.dli_fname;
}

void open_openblas(BlasTable& t) {
  void* library =
      open_library({"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib"}, t.info.note);
  if (library == nullptr) return;
  find_products(library, t);
  find(library, "openblas_set_num_threads", t.set_threads);
  char* (*config)() = nullptr;
  if (find(library, "openblas_get_config", config)) t.info.version = config();
}

void open_mkl(BlasTable& t) {
  void* library = open_library({"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"}, t.info.note);
  if (library == nullptr) return;
  find_products(library, t);
  // MKL loads its threads on the first call, and ends the process if they are missing: so they are
  // looked for here, and without them MKL runs on the calling thread.
  std::string ignored;
  int (*threading)(int layer) = nullptr;
  constexpr int kIntel = 0, kSequential = 1;
  if (find(library, "MKL_Set_Threading_Layer", threading)) {
    const bool openmp = open_library({"libiomp5.so"}, ignored) != nullptr;
    threading(openmp ? kIntel : kSequential);
    if (!openmp) t.info.note = "without libiomp5.so: one thread";
  }
  find(library, "cblas_hgemm", t.hgemm);
  find(library, "MKL_Set_Num_Threads", t.set_threads);
  void (*version)(char*, int) = nullptr;
  std::array<char, 200> text{};
  if (find(library, "MKL_Get_Version_String", version)) {
    version(text.data(), static_cast<int>(text.size()) - 1);
    t.info.version = text.data();
    t.info.version.erase(t.info.version.find_last_not_of(' ') + 1);
  }
}

/// Written to the same seam from Apple's documentation; not run by us on a Mac. Accelerate manages
/// its threads itself.
void open_accelerate(BlasTable& t) {
  void* library =
      open_library({"/System/Library/Frameworks/Accelerate.framework/Accelerate"}, t.info.note);
  if (library != nullptr) find_products(library, t);
}

void open(Blas engine, BlasTable& t) {
  switch (engine) {
    case Blas::openblas: return open_openblas(t);
    case Blas::mkl: return open_mkl(t);
    case Blas::accelerate: return open_accelerate(t);
    case Blas::wick: return;
  }
}

#else

void open(Blas, BlasTable& t) { t.info.note = "this system cannot open libraries at run time"; }

#endif

constexpr std::array<bool, 4> kBuilt{true, WICK_WITH_OPENBLAS != 0, WICK_WITH_MKL != 0,
                                     WICK_WITH_ACCELERATE != 0};

}  // namespace

const BlasTable& blas_table(Blas engine) {
  static constinit std::array<MadeOnce<const BlasTable>, kBuilt.size()> tables;
  const auto i = static_cast<std::size_t>(engine);
  return tables[i].get([&] {
    const NoForkScope no_fork;
    BlasTable t;
    t.info.engine = engine;
    t.info.built = kBuilt[i];
    if (t.info.built) {
      open(engine, t);
    } else {
      t.info.note = "not part of this build (see the CMake option WICK_BLAS)";
    }
    t.info.has_f16 = t.hgemm != nullptr;
    return std::make_unique<const BlasTable>(t);
  });
}

}  // namespace wick
