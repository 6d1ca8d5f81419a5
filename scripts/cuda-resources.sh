#!/usr/bin/env bash
# Compiles every CUDA kernel with warnings as errors, and prints its registers, shared memory, spills and stack as ptxas
# reports them. Fails when a kernel spills or has a stack frame. Usage: cuda-resources.sh [architecture...]; without
# arguments for all that the backend supports.
set -euo pipefail
cd "$(dirname "$0")/../native/cuda"
nvcc=${CUDACXX:-nvcc}
architectures=("$@")
[ $# -eq 0 ] && architectures=(75 80 86 89 90 100 120)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for architecture in "${architectures[@]}"; do
  for source in $(find . -name "*.cu" | sort); do
    echo "source $architecture $source"
    "$nvcc" -std=c++17 "-arch=sm_$architecture" --fmad=false --Werror all-warnings -Xcompiler=-Wall,-Wextra -I. -I.. -I../include --resource-usage -cubin -o /dev/null "$source" 2>&1 || exit 1
  done
done | c++filt >"$log" || { cat "$log"; exit 1; }
awk '
  $1 == "source" { architecture = $2; file = $3 }
  /Compiling entry function/ {
    kernel = $0
    sub(/.*entry function ./, "", kernel); sub(/. for .sm_.*/, "", kernel)
    gsub(/minform::cuda::|\(anonymous namespace\)::/, "", kernel); sub(/^void run</, "", kernel); sub(/ ?>\(.*/, "", kernel)
  }
  /bytes stack frame/ { stack = $1; spills = $5 + $9 }
  /Used [0-9]+ registers/ {
    registers = shared = 0
    for (i = 1; i < NF; i++) { if ($(i + 1) ~ /^registers/) registers = $i; if ($(i + 2) ~ /^smem/) shared = $i }
    printf "sm_%-4s %-24s %-36s %4d registers %6d shared %4d spilled %4d stack\n", architecture, file, kernel, registers, shared, spills, stack
    kernels++
    if (spills > 0 || stack > 0) bad++
  }
  END {
    if (kernels == 0) { print "no kernel was found"; exit 1 }
    if (bad > 0) { printf "%d kernels spill or have a stack frame\n", bad; exit 1 }
  }' "$log"
