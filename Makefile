# SPDX-License-Identifier: Apache-2.0
# The everyday commands. Each first installs what is missing (WICK_SETUP=no prevents that).
# CMAKE_FLAGS=... reaches cmake, JOBS=N sets how many processes run at once.
.PHONY: build demo test bench peers format lint docs clean test-asan test-tsan test-arm test-wasm
JOBS ?= $(shell nproc)

build:
	scripts/setup build test
	cmake --preset release $(CMAKE_FLAGS)
	cmake --build --preset release -j $(JOBS)

demo: build
	scripts/demo

# Without the model, the tests that need it are skipped.
test: build
	[ "$$WICK_SETUP" = no ] || scripts/fetch-model || echo "tests without the model"
	ctest --preset release -j $(JOBS)

bench: build
	build/release/wick bench

# The libraries that `wick bench embed` and `wick bench gemm` measure beside wick.
peers:
	scripts/setup-peers

format:
	scripts/setup lint
	scripts/format

lint:
	scripts/setup lint
	scripts/lint

docs: build
	if [ -x tools/gen-docs ]; then tools/gen-docs; fi

test-asan test-tsan: test-%:
	scripts/setup sanitize
	cmake --preset $* $(CMAKE_FLAGS)
	cmake --build --preset $* -j $(JOBS)
	ctest --preset $* -j $(JOBS)

# The kernels on 64-bit Arm, under qemu.
test-arm:
	scripts/setup arm
	cmake --preset aarch64
	cmake --build --preset aarch64 -j $(JOBS)
	ctest --preset aarch64 -j $(JOBS)

# The library as wasm32 objects, without threads: compiled, not run.
test-wasm:
	scripts/setup wasm
	cmake --preset wasm
	cmake --build --preset wasm -j $(JOBS)

clean:
	rm -rf build
