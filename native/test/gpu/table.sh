#!/usr/bin/env bash
# One table of what bench.cu and torch_bench.py printed. Usage: table.sh kernels.tsv torch.tsv "card, driver"
set -euo pipefail
awk -F '\t' -v title="$3" -v torch="$2" '
  FILENAME == torch { eager[$1] = $2; compiled[$1] = $3; next }
  # A kernel that comes in several ways is one function in PyTorch.
  function torchName(name) { sub(/ (own|cuBLASLt( [0-9]+)?)$/, "", name); return name }
  function row(name, ms, rate, share, products, matrix) {
    printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", name, ms, rate, share, products, matrix, eager[torchName(name)], compiled[torchName(name)]
    printed[torchName(name)] = 1
  }
  FNR == 1 {
    print title "\n"
    print "| kernel | ms | GB/s | of copy or read | TFLOP/s | of matrix rate | torch eager ms | torch.compile ms |"
    print "|---|---|---|---|---|---|---|---|"
  }
  { row($1, $2, $3, $4, $5, $6) }
  END { for (name in eager) if (!(name in printed)) row(name, "", "", "", "", "") }
' "$2" "$1"
