// SPDX-License-Identifier: Apache-2.0
// A plugin that uses wick: what an extension module of a language is.
#include "wick/tensor.h"

extern "C" __attribute__((visibility("default"))) int plugin_run() {
  const wick::Buffer<wick::f32> buffer(1 << 20, "plugin");
  return buffer.data() == nullptr ? 1 : 0;
}
