// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/gemm_operands.h"
#include "wick/base/half.h"

// What the programs that time another library's products for `wick bench gemm` have in common.
//
//     gemm_LIBRARY VARIANT THREADS
//
// speaks by lines on the standard input and output:
//
//     (start)                            -> "ready NAME AND VERSION", or "missing WHAT" and the end
//     case DTYPE M N K BATCH LAYOUT      -> "values S V0 V1 ...": what one call took (after a
//     first,
//                                           unless that is slow) and sample_place()'s elements; or
//                                           "refused WHY". LAYOUT is N for B as [k, n], T for
//                                           [n, k]; A is [m, k], C [m, n], rows one by one.
//     run N                              -> "seconds S W": what N calls took, and how long the
//                                           threads waited for a CPU meanwhile
//     anything that fails                -> "error WHAT"
//
// The program ends when its input does.

namespace wick::bench {

enum class Type { f32, f64, f16, bf16 };

struct Product {
  Type type = Type::f32;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool transposed = false;

  std::int64_t ldb() const { return transposed ? k : n; }
};

/// A product that this library does not do, or not in this variant.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline std::size_t bytes_of(Type type) { return type == Type::f64 ? 8 : type == Type::f32 ? 4 : 2; }

/// Memory as wick's own operands have it: aligned, in huge pages where it is large.
class Block {
 public:
  Block() = default;
  Block(Type type, std::int64_t count) : type_(type), count_(count) {
    const std::size_t align = std::size_t{2} << 20;
    const std::size_t bytes = static_cast<std::size_t>(count) * bytes_of(type);
    const std::size_t room = (bytes + align) / align * align;
    void* p = bytes < align ? std::aligned_alloc(64, (bytes + 127) / 64 * 64)
                            : std::aligned_alloc(align, room);
    if (p == nullptr) throw std::runtime_error("out of memory");
    if (bytes >= align) ::madvise(p, room, MADV_HUGEPAGE);
    memory_ = {p, std::free};
    std::memset(p, 0, bytes);
  }

  template <class T>
  T* as() const {
    return static_cast<T*>(memory_.get());
  }
  template <class T>
  T* as(std::int64_t element) const {
    return as<T>() + element;
  }
  void* data() const { return memory_.get(); }

  void set(std::int64_t i, double x) {
    const auto code = [&](const SmallFormat& f) {
      return static_cast<std::uint16_t>(small::encode(f, static_cast<float>(x)));
    };
    switch (type_) {
      case Type::f32: as<float>()[i] = static_cast<float>(x); break;
      case Type::f64: as<double>()[i] = x; break;
      case Type::f16: as<std::uint16_t>()[i] = code(small::kF16); break;
      case Type::bf16: as<std::uint16_t>()[i] = code(small::kBF16); break;
    }
  }
  double get(std::int64_t i) const {
    switch (type_) {
      case Type::f32: return static_cast<double>(as<float>()[i]);
      case Type::f64: return as<double>()[i];
      case Type::f16:
        return static_cast<double>(small::decode(small::kF16, as<std::uint16_t>()[i]));
      case Type::bf16: break;
    }
    return static_cast<double>(small::decode(small::kBF16, as<std::uint16_t>()[i]));
  }
  /// So many elements of operand `seed`, if that is not what it is.
  void make(Type type, std::int64_t count, std::uint32_t seed) {
    if (type == type_ && count == count_) return;
    *this = Block(type, count);
    double values[256];
    for (int v = 0; v < 256; ++v) values[v] = (v - 128) / 128.0;
    for (std::int64_t i = 0; i < count_; ++i)
      set(i, values[mixed_bits(seed, static_cast<std::uint32_t>(i)) & 255U]);
  }

 private:
  Type type_ = Type::f32;
  std::int64_t count_ = 0;
  std::shared_ptr<void> memory_;
};

struct Operands {
  Block a, b, c;
  /// Those that are there already stay as they are.
  void set(const Product& p) {
    a.make(p.type, p.batch * p.m * p.k, 1);
    b.make(p.type, p.batch * p.k * p.n, 2);
    c = Block(p.type, p.batch * p.m * p.n);
  }
};

/// A library in one of its variants.
struct Library {
  std::string version;
  /// The call that computes C, or Refused. The operands outlive it.
  std::function<std::function<void()>(const Product&, Operands&)> prepare;
};

namespace peer {

inline constexpr double kLongCall = 0.5;  ///< seconds

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Calls f(id) for each thread of this process.
template <class F>
void for_each_thread(F&& f) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", none))
    f(std::atoi(entry.path().filename().c_str()));
}

/// Seconds that the threads could run but had no CPU.
inline double waited() {
  double sum = 0;
  for_each_thread([&](int thread) {
    std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/schedstat");
    double ran = 0, waited = 0;
    if (in >> ran >> waited) sum += waited / 1e9;
  });
  return sum;
}

/// The main thread on the first CPU, the library's own on the others.
inline void pin_threads() {
  cpu_set_t all;
  if (::sched_getaffinity(::getpid(), sizeof all, &all) != 0) return;
  static const cpu_set_t allowed = all;  // as it was at the first call
  cpu_set_t first, rest = allowed;
  CPU_ZERO(&first);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_SET(cpu, &first);
    CPU_CLR(cpu, &rest);
    break;
  }
  for_each_thread([&](int thread) {
    const bool main = thread == ::getpid();
    ::sched_setaffinity(thread, sizeof first, main || CPU_COUNT(&rest) == 0 ? &first : &rest);
  });
}

inline Product parse(std::istream& words) {
  Product p;
  std::string type, layout;
  if (!(words >> type >> p.m >> p.n >> p.k >> p.batch >> layout))
    throw std::runtime_error("wanted DTYPE M N K BATCH LAYOUT");
  const std::pair<std::string_view, Type> types[] = {
      {"f32", Type::f32}, {"f64", Type::f64}, {"f16", Type::f16}, {"bf16", Type::bf16}};
  bool known = false;
  for (const auto& [name, value] : types)
    if (type == name) p.type = value, known = true;
  if (!known) throw Refused("no " + type);
  p.transposed = layout == "T";
  return p;
}

}  // namespace peer

/// The whole program. `start` makes the library or throws what is missing.
inline int serve(int argc, char** argv,
                 const std::function<Library(std::string_view variant, int threads)>& start) {
  const auto answer = [](const std::string& line) { std::cout << line << std::endl; };
  if (argc != 3) return 2;
  Library library;
  try {
    library = start(argv[1], std::atoi(argv[2]));
  } catch (const std::exception& e) {
    answer(std::string("missing ") + e.what());
    return 0;
  }
  answer("ready " + library.version);
  Operands operands;
  std::function<void()> call;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    try {
      if (command == "case") {
        call = nullptr;
        const Product p = peer::parse(words);
        operands.set(p);
        call = library.prepare(p, operands);
        double from = peer::now();
        call();
        peer::pin_threads();
        double seconds = peer::now() - from;
        if (seconds < peer::kLongCall) {
          from = peer::now();
          call();
          seconds = peer::now() - from;
        }
        std::ostringstream text;
        text.precision(17);
        text << "values " << seconds;
        for (int s = 0; s < kSamples; ++s)
          text << ' ' << operands.c.get(sample_place(s, p.batch * p.m * p.n));
        answer(text.str());
      } else if (int calls = 0; command == "run" && call && words >> calls) {
        const double waited = peer::waited(), from = peer::now();
        for (int i = 0; i < calls; ++i) call();
        const double seconds = peer::now() - from;
        std::ostringstream text;
        text.precision(12);
        text << "seconds " << seconds << ' ' << peer::waited() - waited;
        answer(text.str());
      } else {
        answer("error unknown command " + line);
      }
    } catch (const Refused& e) {
      answer(std::string("refused ") + e.what());
    } catch (const std::exception& e) {
      answer(std::string("error ") + e.what());
    }
  }
  return 0;
}

}  // namespace wick::bench
