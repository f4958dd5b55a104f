// SPDX-License-Identifier: Apache-2.0
// Loads the plugin, runs it, unloads it, three times over; then leaves as any program does.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (int round = 0; round < 3; ++round) {
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    const auto run = reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_run"));
    if (run == nullptr || run() != 0) return 1;
    if (dlclose(plugin) != 0) return 1;
  }
  std::puts("unloaded");
  return 0;
}
