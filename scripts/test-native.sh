#!/usr/bin/env bash
# The native core: builds it with plain CMake, runs its tests at every ISA level and those of the CUDA kernels on the
# emulator. Node takes no part; only its headers do, for an addon whose device is the emulator, which test/cuda loads.
# With --sanitize again under AddressSanitizer + UndefinedBehaviorSanitizer, and the pool under ThreadSanitizer; those
# builds take many minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

run() {
  local name=$1 filter=$2
  shift 2
  cmake -S . -B "build-native/$name" -DMINFORM_TESTS=ON "$@" >/dev/null
  cmake --build "build-native/$name" --parallel "$(nproc)" >"build-native/$name.log" 2>&1 || { cat "build-native/$name.log"; exit 1; }
  ctest --test-dir "build-native/$name" --parallel "$(nproc)" --output-on-failure --tests-regex "$filter"
}

mkdir -p build-native
headers="$PWD/node_modules/node-api-headers/include;$PWD/node_modules/node-addon-api"
run release . -DMINFORM_CUDA=EMULATED -DMINFORM_C_API=ON "-DCMAKE_JS_INC=$headers"
if [ "${1:-}" = "--sanitize" ]; then
  run asan . -DMINFORM_CUDA=OFF -DMINFORM_SANITIZE=address,undefined
  run tsan '^(pool|credit)_' -DMINFORM_CUDA=OFF -DMINFORM_SANITIZE=thread
fi
