#!/usr/bin/env bash
# The property tests of verify on many more cases than the suite runs. Usage: scripts/fuzz-verify.sh [cases] [seed]
set -euo pipefail
cd "$(dirname "$0")/.."
MINFORM_FUZZ="${1:-100000}" MINFORM_FUZZ_SEED="${2:-$(date +%j)}" \
  npx vitest run test/verify/properties.test.ts --typecheck.enabled=false --testTimeout=3600000
