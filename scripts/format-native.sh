#!/usr/bin/env bash
# Formats the C++ and CUDA sources in place; with --check only reports what is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(-i)
[ "${1:-}" = "--check" ] && mode=(--dry-run --Werror)
git ls-files --cached --others --exclude-standard '*.h' '*.cc' '*.cu' | xargs npx clang-format "${mode[@]}"
