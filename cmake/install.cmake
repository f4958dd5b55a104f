# SPDX-License-Identifier: Apache-2.0
# cmake --install gives the library, its headers, and the files that find_package(wick) and
# pkg-config read.
include(CMakePackageConfigHelpers)

install(TARGETS wick EXPORT wickTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET wick_cli)
  install(TARGETS wick_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(dir ${CMAKE_INSTALL_LIBDIR}/cmake/wick)
install(EXPORT wickTargets NAMESPACE wick:: DESTINATION ${dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/wickConfig.cmake.in
  ${PROJECT_BINARY_DIR}/wickConfig.cmake INSTALL_DESTINATION ${dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wickConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wickConfig.cmake ${PROJECT_BINARY_DIR}/wickConfigVersion.cmake
  DESTINATION ${dir})

# A static library leaves its needs to its user, so there pkg-config names them even without
# --static.
set(WICK_PC_REQUIRES libhwy)
if(WICK_WITH_TBB)
  string(APPEND WICK_PC_REQUIRES " tbb")
endif()
if(WICK_WITH_HWLOC)
  string(APPEND WICK_PC_REQUIRES " hwloc")
endif()
set(WICK_PC_LIBS -ldl)
if(WICK_THREADS)
  string(APPEND WICK_PC_LIBS " -pthread")
endif()
set(WICK_PC_PRIVATE $<$<BOOL:${BUILD_SHARED_LIBS}>:.private>)
# Relative, so that the folder may be moved and cmake --install --prefix may choose it.
file(RELATIVE_PATH WICK_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" WICK_PC_PREFIX ${WICK_PC_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/wick.pc.in ${PROJECT_BINARY_DIR}/wick.pc.in @ONLY)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/wick.pc INPUT ${PROJECT_BINARY_DIR}/wick.pc.in)
install(FILES ${PROJECT_BINARY_DIR}/wick.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
