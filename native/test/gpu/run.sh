#!/usr/bin/env bash
# Proves and times the CUDA kernels on this machine's GPU. Needs nvcc and CMake, and uses python3 with torch where there is
# one. Builds for this card, runs ctest on fresh random inputs, compute-sanitizer where it is installed, then times every kernel
# beside PyTorch and writes the table to <out>/table.md.
#   Usage: run.sh [out]     (default: build-native/gpu-report)
#   Exit: 0 all passed, 1 a check failed (the rest is run all the same), 2 a tool is missing, 3 no usable GPU
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
out=${1:-$root/build-native/gpu-report}
build=$root/build-native/gpu
nvcc=${CUDACXX:-nvcc}
failed=0

step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }
missing() {
  echo "MissingTool: $1" >&2
  exit 2
}
# check <name> <command...>: a failure is counted and does not stop the rest.
check() {
  local name=$1
  shift
  if "$@" >"$out/$name.log" 2>&1; then
    echo "passed: $name"
  else
    failed=1
    echo "FAILED: $name ($out/$name.log)"
    tail -n 15 "$out/$name.log"
  fi
}

command -v "$nvcc" >/dev/null || missing "nvcc (set CUDACXX)"
command -v cmake >/dev/null || missing "cmake"
mkdir -p "$out" "$build" || exit 2

step "device"
"$nvcc" -o "$build/probe" "$here/probe.cu" || missing "an nvcc that works"
if ! device=$("$build/probe"); then
  echo "NoDevice: $device" >&2
  exit 3
fi
IFS='|' read -r architecture card driver <<<"$device"
echo "$card (sm_$architecture), CUDA $driver of the driver, $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p') of nvcc"

step "build"
cmake -S "$root" -B "$build" -DMINFORM_TESTS=ON -DMINFORM_CUDA=ON "-DMINFORM_CUDA_ARCHITECTURES=$architecture" >"$out/build.log" 2>&1 &&
  cmake --build "$build" --parallel >>"$out/build.log" 2>&1 || {
  tail -n 40 "$out/build.log"
  exit 1
}

step "tests on the device"
export MINFORM_TEST_SEED=${MINFORM_TEST_SEED:-$((RANDOM * 32768 + RANDOM))}
echo "MINFORM_TEST_SEED=$MINFORM_TEST_SEED"
check ctest ctest --test-dir "$build" --output-on-failure --tests-regex '^cuda\..*\.gpu$'
check ctest-own-products env MINFORM_CUDA_PRODUCTS=own ctest --test-dir "$build" --output-on-failure --tests-regex '^cuda\.linear_test\.gpu$'

step "compute-sanitizer"
if sanitizer=$(command -v compute-sanitizer); then
  for test in "$build"/native/test/cuda/cuda_*_gpu; do
    for tool in memcheck racecheck; do
      check "$tool-$(basename "$test")" env MINFORM_CUDA_PRODUCTS=own "$sanitizer" --tool "$tool" --error-exitcode 9 "$test"
    done
  done
else
  echo "compute-sanitizer is not installed"
fi

step "times"
if ! "$build/native/test/gpu/gpu_bench" >"$out/kernels.tsv" 2>"$out/bench.log"; then
  failed=1
  echo "FAILED: gpu_bench"
fi
cat "$out/bench.log"
: >"$out/torch.tsv"
if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  python3 "$here/torch_bench.py" >"$out/torch.tsv" 2>"$out/torch.log" || cat "$out/torch.log"
else
  echo "no python3 with torch on a GPU: its columns stay empty"
fi

bash "$here/table.sh" "$out/kernels.tsv" "$out/torch.tsv" "$card, CUDA $driver" >"$out/table.md"
cat "$out/table.md"
exit "$failed"
