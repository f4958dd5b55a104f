# SPDX-License-Identifier: Apache-2.0
# What each part needs from outside; docs/dependencies.md says why.

# A build that only compiles (wasm32) brings the headers of these in one folder.
set(WICK_FOREIGN_HEADERS "" CACHE PATH "Folder with hwy/, nlohmann/ and Random123/, to compile only")
if(WICK_FOREIGN_HEADERS)
  set(WICK_RANDOM123 ${WICK_FOREIGN_HEADERS})
else()
  find_package(hwy REQUIRED)
  # Headers only, used inside .cc files of the library: nothing of them reaches users.
  find_package(nlohmann_json 3 REQUIRED)
  find_path(WICK_RANDOM123 Random123/philox.h REQUIRED)
endif()

if(WICK_THREADS)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
endif()

set(WICK_WITH_TBB 0)
if(WICK_TBB AND WICK_THREADS)
  find_package(TBB QUIET)
  if(TBB_FOUND)
    set(WICK_WITH_TBB 1)
  endif()
endif()

set(WICK_WITH_HWLOC 0)
if(WICK_HWLOC AND WICK_THREADS)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(HWLOC QUIET IMPORTED_TARGET hwloc)
    if(HWLOC_FOUND)
      set(WICK_WITH_HWLOC 1)
    endif()
  endif()
endif()

# Programs and models.
if(WICK_BUILD_CLI OR WICK_BUILD_TESTS OR WICK_BUILD_BENCH)
  find_package(fmt REQUIRED)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
  pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
endif()
if(WICK_BUILD_CLI)
  find_package(CLI11 REQUIRED)
endif()
