// SPDX-License-Identifier: Apache-2.0
#include "wick/base/error.h"

#include <cstdlib>
#include <cstring>

#include "wick/base/str.h"

#if defined(__has_include)
#if __has_include(<execinfo.h>) && !defined(__EMSCRIPTEN__)
#include <execinfo.h>
#define WICK_HAS_BACKTRACE 1
#endif
#endif

namespace wick {
namespace {

std::string backtrace_text() {
#ifdef WICK_HAS_BACKTRACE
  const char* wanted = std::getenv("WICK_BACKTRACE");
  if (wanted == nullptr || std::strcmp(wanted, "1") != 0) return {};
  void* frames[64];
  const int depth = ::backtrace(frames, 64);
  char** names = ::backtrace_symbols(frames, depth);
  if (names == nullptr) return {};
  std::string text = "\nbacktrace:";
  for (int i = 2; i < depth; ++i) text += str("\n  ", names[i]);
  std::free(names);  // NOLINT: backtrace_symbols hands out malloc'ed memory
  return text;
#else
  return {};
#endif
}

}  // namespace

struct Error::State {
  ErrorKind kind;
  std::string op;
  std::string message;
  std::vector<Operand> operands;
  std::vector<std::string> contexts;
  std::string backtrace;
  std::string what;

  void compose() {
    what = op.empty() ? message : str(op, ": ", message);
    for (const std::string& c : contexts) what += str("\n  ", c);
    what += backtrace;
  }
};

std::string_view name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::shape: return "shape";
    case ErrorKind::dtype: return "dtype";
    case ErrorKind::unsupported_dtype: return "unsupported_dtype";
    case ErrorKind::index: return "index";
    case ErrorKind::argument: return "argument";
    case ErrorKind::arithmetic: return "arithmetic";
    case ErrorKind::overflow: return "overflow";
    case ErrorKind::out_of_memory: return "out_of_memory";
    case ErrorKind::read_only: return "read_only";
    case ErrorKind::overlap: return "overlap";
    case ErrorKind::environment: return "environment";
    case ErrorKind::io: return "io";
    case ErrorKind::format: return "format";
    case ErrorKind::internal: return "internal";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, std::string_view op, std::string_view message)
    : state_(std::make_shared<State>()) {
  state_->kind = kind;
  state_->op = op;
  state_->message = message;
  state_->backtrace = backtrace_text();
  state_->compose();
}

ErrorKind Error::kind() const noexcept { return state_->kind; }
const std::string& Error::op() const noexcept { return state_->op; }
const std::string& Error::message() const noexcept { return state_->message; }
const std::vector<Error::Operand>& Error::operands() const noexcept { return state_->operands; }
const std::vector<std::string>& Error::contexts() const noexcept { return state_->contexts; }
const char* Error::what() const noexcept { return state_->what.c_str(); }

Error::State& Error::own() {
  if (state_.use_count() > 1) state_ = std::make_shared<State>(*state_);
  return *state_;
}

Error& Error::operand(std::string_view dtype, std::vector<std::int64_t> shape) {
  own().operands.push_back({std::string(dtype), std::move(shape)});
  return *this;
}

Error& Error::context(std::string_view what) {
  State& s = own();
  s.contexts.emplace_back(what);
  s.compose();
  return *this;
}

}  // namespace wick
