// SPDX-License-Identifier: Apache-2.0
#include "bench/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "bench/harness.h"
#include "bench/team.h"
#include "wick/base/error.h"
#include "wick/base/str.h"

extern char** environ;

namespace wick::bench {
namespace {

#ifdef MSG_NOSIGNAL
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;
#endif

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

/// The variables of this process without some and with others, as execve takes them.
std::vector<char*> variables(const Process::Options& options) {
  const auto changed = [&](std::string_view name) {
    const auto &drop = options.drop, &set = options.set;
    return std::find(drop.begin(), drop.end(), name) != drop.end() ||
           std::any_of(set.begin(), set.end(), [&](const auto& s) { return name_of(s) == name; });
  };
  std::vector<char*> all;
  for (char** v = environ; *v != nullptr; ++v)
    if (!changed(name_of(*v))) all.push_back(*v);
  for (const std::string& entry : options.set) all.push_back(const_cast<char*>(entry.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const Options& options)
    : name_(arguments.at(0)) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail(std::strerror(errno));
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  socket_ = ends[0];
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, ends[1], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  if (!options.errors)
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const std::vector<char*> environment = variables(options);
  int error = 0;
  {
    const RunOn here(options.cpus);  // a new process inherits its place
    error = ::posix_spawnp(&process_, words[0], &files, nullptr, words.data(), environment.data());
  }
  ::posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  if (error == 0) return;
  process_ = -1;
  ::close(socket_);
  fail(std::strerror(error));
}

Process::~Process() {
  ::close(socket_);  // its input ends, and so should it
  for (int i = 0; i < 200; ++i) {
    if (::waitpid(process_, nullptr, WNOHANG) != 0) return;
    ::usleep(10000);
  }
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

void Process::fail(std::string_view what) const {
  throw Error(ErrorKind::io, "bench", str(name_, ": ", what));
}

void Process::write_line(std::string_view line) {
  const std::string text = str(line, "\n");
  std::size_t done = 0;
  while (done < text.size()) {
    const auto n = ::send(socket_, text.data() + done, text.size() - done, kNoSignal);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("it ended too early");
    done += static_cast<std::size_t>(n);
  }
}

bool Process::read_more(double until) {
  for (;;) {
    const double left = until - steady_seconds();
    if (left <= 0) fail("no answer in time");
    pollfd wait{socket_, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::min(left * 1e3 + 1, 1e6)));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    char block[1 << 16];
    const auto n = ::recv(socket_, block, sizeof block, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    pending_.append(block, static_cast<std::size_t>(n));
    return true;
  }
}

std::optional<std::string> Process::read_line(double seconds) {
  const double until = steady_seconds() + seconds;
  std::size_t end = 0;
  while ((end = pending_.find('\n')) == std::string::npos)
    if (!read_more(until)) return std::nullopt;
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return line;
}

void Process::read_bytes(void* to, std::size_t count, double seconds) {
  const double until = steady_seconds() + seconds;
  while (pending_.size() < count)
    if (!read_more(until)) fail("it ended too early");
  std::memcpy(to, pending_.data(), count);
  pending_.erase(0, count);
}

std::optional<std::string> find_nearby(std::string_view path) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (fs::exists(path, none)) return std::string(path);
  fs::path folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (int i = 0; i < 3 && !folder.empty(); ++i, folder = folder.parent_path())
    if (fs::exists(folder / path, none)) return (folder / path).string();
  return std::nullopt;
}

}  // namespace wick::bench
