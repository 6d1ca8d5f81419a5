#!/usr/bin/env bash
# Compiles every CUDA kernel with warnings as errors and prints its registers, shared memory, spills and stack as ptxas
# reports them. Fails when a kernel spills or has a stack frame.
#
# Usage: cuda-resources.sh [--markdown | --check FILE] [architecture...]; without architectures for all that the backend
# supports. --markdown prints a page, --check compares the kernels named in such a page with those found: not their numbers,
# which change with nvcc.
#
# A file is compiled once per PTX that a build ships (of sm_75, sm_80 and sm_90), and from it for the architectures that
# run this PTX: the front end runs three times instead of seven.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
format=text page=
while [ $# -gt 0 ]; do
  case $1 in
    --markdown) format=markdown ;;
    --check) page=$(realpath "$2"); shift ;;
    *) break ;;
  esac
  shift
done
architectures=("$@")
[ $# -eq 0 ] && architectures=(75 80 86 89 90 100 120)

declare -A code=()
for architecture in "${architectures[@]}"; do
  ptx=75
  [ "$architecture" -ge 80 ] && ptx=80
  [ "$architecture" -ge 90 ] && ptx=90
  code[$ptx]+=",sm_$architecture"
done
targets=()
for ptx in "${!code[@]}"; do targets+=("-gencode=arch=compute_$ptx,code=[${code[$ptx]#,}]"); done

cd "$root/native/cuda"
export NVCC=${CUDACXX:-nvcc}
logs=$(mktemp -d)
export LOGS=$logs
trap 'rm -rf "$logs"' EXIT
compile() {
  local source=$1 log
  log=$LOGS/$(tr / - <<<"$source").log
  shift
  echo "source $source" >"$log"
  "$NVCC" -std=c++17 "$@" --fmad=false --Werror all-warnings -Xcompiler=-Wall,-Wextra -I. -I.. -I../include \
    --resource-usage -fatbin -o "$log.fatbin" "$source" >>"$log" 2>&1 || { cat "$log"; return 255; }
}
export -f compile
find ./*/ . -maxdepth 1 -name "*.cu" | sed 's#^\./##; s#//*#/#g' | sort -u |
  xargs -P "$(nproc)" -I{} bash -c 'compile "$@"' _ {} "${targets[@]}"

found=$logs/kernels
cat "$logs"/*.log | c++filt | awk -f "$root/scripts/cuda-resources.awk" | sort >"$found"
if [ "$format" = markdown ]; then
  awk -v version="$("$NVCC" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')" \
    -f "$root/scripts/cuda-resources-page.awk" "$found"
elif [ -z "$page" ]; then
  awk '{ printf "%-24s %-40s %-6s %4d registers %6d shared %4d spilled %4d stack\n", $1, $2, $3, $4, $5, $6, $7 }' "$found"
fi
if [ -n "$page" ]; then
  diff <(sed -n 's/^| `\([^`]*\)` | `\([^`]*\)` .*/\1 \2/p' "$page" | sort -u) <(awk '{ print $1, $2 }' "$found" | sort -u) ||
    { echo "$page does not name the kernels there are: cuda-resources.sh --markdown prints it"; exit 1; }
fi
awk '$6 > 0 || $7 > 0 { bad++; print $1, $2, $3, "spills", $6, "bytes, stack of", $7 > "/dev/stderr" }
  END { if (NR == 0) { print "no kernel was found" > "/dev/stderr"; exit 1 }; exit bad > 0 }' "$found"
