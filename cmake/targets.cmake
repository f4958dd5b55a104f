# SPDX-License-Identifier: Apache-2.0
# The targets of wick/, models/, bench/ and cli/. Sources are found by folder; a folder without
# sources makes no target.

# How our own code is compiled: never exported.
add_library(wick_build INTERFACE)
target_compile_options(wick_build INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wsign-conversion $<$<BOOL:${WICK_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees these in correct inlined code of its own library; clang and the sanitizers look too.
  target_compile_options(wick_build INTERFACE -Wno-array-bounds -Wno-stringop-overflow
                         -Wno-stringop-overread -Wno-restrict -Wno-maybe-uninitialized)
endif()
target_include_directories(wick_build INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(wick_build INTERFACE
  WICK_VERSION="${PROJECT_VERSION}"
  WICK_WITH_THREADS=$<BOOL:${WICK_THREADS}>
  WICK_WITH_TBB=${WICK_WITH_TBB}
  WICK_WITH_HWLOC=${WICK_WITH_HWLOC})
foreach(engine openblas mkl accelerate)
  string(TOUPPER ${engine} upper)
  set(found 0)
  if(engine IN_LIST WICK_BLAS)
    set(found 1)
  endif()
  target_compile_definitions(wick_build INTERFACE WICK_WITH_${upper}=${found})
endforeach()
if(WICK_KERNEL_TARGETS STREQUAL "avx2")
  target_compile_definitions(wick_build INTERFACE WICK_TARGETS_AVX2)
elseif(WICK_KERNEL_TARGETS STREQUAL "baseline")
  target_compile_definitions(wick_build INTERFACE WICK_TARGETS_BASELINE)
elseif(NOT WICK_KERNEL_TARGETS STREQUAL "all")
  message(FATAL_ERROR "WICK_KERNEL_TARGETS: wanted all, avx2 or baseline, got ${WICK_KERNEL_TARGETS}")
endif()

function(wick_use_build target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:wick_build>)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
endfunction()

# --- the library --------------------------------------------------------------------------------

set(folders base core parallel kernels ops io)
list(TRANSFORM folders PREPEND ${PROJECT_SOURCE_DIR}/wick/ OUTPUT_VARIABLE folders)
list(APPEND folders ${PROJECT_SOURCE_DIR}/wick)
list(TRANSFORM folders APPEND /*.cc OUTPUT_VARIABLE patterns)
file(GLOB sources CONFIGURE_DEPENDS ${patterns})

# What users may include: the public headers and what those include. Only the standard library is
# behind them (tools/check_layers.py), but for the executor on a oneTBB arena of the user.
file(GLOB headers CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/wick/*.h
  ${PROJECT_SOURCE_DIR}/wick/base/*.h
  ${PROJECT_SOURCE_DIR}/wick/core/*.h
  ${PROJECT_SOURCE_DIR}/wick/core/*.inc)
list(APPEND headers
  ${PROJECT_SOURCE_DIR}/wick/parallel/barrier_pool.h
  ${PROJECT_SOURCE_DIR}/wick/parallel/executor.h
  ${PROJECT_SOURCE_DIR}/wick/parallel/flush_subnormals.h)
if(WICK_WITH_TBB)
  list(APPEND headers ${PROJECT_SOURCE_DIR}/wick/parallel/tbb_executor.h)
endif()

function(wick_add_library target type)
  add_library(${target} ${type} ${sources})
  wick_use_build(${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  # Users' own loops must round as ours do: a fused multiply-add only where one is written.
  target_compile_options(${target} PUBLIC -ffp-contract=off)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_include_directories(${target} SYSTEM PRIVATE ${WICK_RANDOM123})
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  if(NOT WICK_FOREIGN_HEADERS)
    target_link_libraries(${target} PRIVATE hwy::hwy
                          $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  endif()
  if(WICK_THREADS)
    target_link_libraries(${target} PRIVATE Threads::Threads)
  endif()
  if(WICK_WITH_TBB)
    target_link_libraries(${target} PRIVATE TBB::tbb)
  endif()
  if(WICK_WITH_HWLOC)
    target_link_libraries(${target} PRIVATE PkgConfig::HWLOC)
  endif()
endfunction()

if(BUILD_SHARED_LIBS)
  wick_add_library(wick SHARED)
  set_target_properties(wick PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    DEFINE_SYMBOL "")  # same command lines as for the static one: ccache serves both
  # Its threads may still run when the last handle is closed: the code must stay mapped.
  # And whatever is missing should be missed now, not by users.
  target_link_options(wick PRIVATE LINKER:-z,nodelete LINKER:-z,defs)
else()
  wick_add_library(wick STATIC)
endif()
add_library(wick::wick ALIAS wick)
target_sources(wick PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})

# The programs and tests of this repository see internals, which a shared library hides.
if(NOT BUILD_SHARED_LIBS)
  add_library(wick_internal ALIAS wick)
elseif(WICK_BUILD_CLI OR WICK_BUILD_TESTS OR WICK_BUILD_BENCH)
  wick_add_library(wick_internal STATIC)
endif()

# --- models, benchmarks, the program ------------------------------------------------------------

if(WICK_BUILD_CLI OR WICK_BUILD_TESTS OR WICK_BUILD_BENCH)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/models/*.cc)
  if(sources)
    add_library(wick_models STATIC ${sources})
    wick_use_build(wick_models)
    target_link_libraries(wick_models PUBLIC wick_internal
      PRIVATE nlohmann_json::nlohmann_json PkgConfig::PCRE2 PkgConfig::UTF8PROC)
  endif()
endif()

if(WICK_BUILD_BENCH)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cc)
  if(sources)
    add_library(wick_bench STATIC ${sources})
    wick_use_build(wick_bench)
    target_link_libraries(wick_bench PUBLIC wick_internal $<TARGET_NAME_IF_EXISTS:wick_models>
      PRIVATE fmt::fmt nlohmann_json::nlohmann_json $<TARGET_NAME_IF_EXISTS:hwy::hwy>)
  endif()
endif()

if(WICK_BUILD_CLI)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cc)
  if(sources)
    add_executable(wick_cli ${sources})
    wick_use_build(wick_cli)
    set_target_properties(wick_cli PROPERTIES OUTPUT_NAME wick
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_link_libraries(wick_cli PRIVATE wick_internal $<TARGET_NAME_IF_EXISTS:wick_models>
      $<TARGET_NAME_IF_EXISTS:wick_bench> fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11)
    target_compile_definitions(wick_cli PRIVATE
      WICK_WITH_BENCH=$<TARGET_EXISTS:wick_bench>)
  endif()
endif()
