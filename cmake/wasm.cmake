# SPDX-License-Identifier: Apache-2.0
# wasm32 with the distribution's emscripten: without threads, compiled but not linked. Libraries are
# not needed for that, their headers are; /usr/include as a whole would bring this machine's own.
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
set(WICK_FOREIGN_HEADERS ${CMAKE_BINARY_DIR}/foreign CACHE PATH "")
file(MAKE_DIRECTORY ${WICK_FOREIGN_HEADERS})
foreach(folder hwy nlohmann Random123)
  file(CREATE_LINK /usr/include/${folder} ${WICK_FOREIGN_HEADERS}/${folder} SYMBOLIC)
endforeach()
