# SPDX-License-Identifier: Apache-2.0
# 64-bit Arm, built on another Debian machine with the distribution's cross compiler and its arm64
# libraries, which install beside the native ones; qemu-user runs the results.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# The libraries of the arm64 packages, loader included: with the loader of the cross packages, whose
# version differs, a program hangs when it starts a thread.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;/)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
