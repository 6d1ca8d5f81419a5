#!/usr/bin/env bash
# The packed tarball, in an empty project: imports from ESM, CommonJS and TypeScript; publint and attw on the tarball.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

npm pack --silent --pack-destination "$work" >/dev/null
tarball=$(echo "$work"/minform-*.tgz)
npx publint run "$tarball" --strict
npx attw "$tarball" --profile esm-only

cd "$work"
cat >package.json <<'JSON'
{ "name": "consumer", "private": true, "type": "module" }
JSON
npm install --no-fund --no-audit --silent "$tarball"

cat >use.mjs <<'JS'
import { minForm, ragged } from "minform";
console.log("esm", minForm(ragged([[0.9, -0.2, 0.5]])).outcomes[0]);
JS
cat >use.cjs <<'JS'
const { minForm, ragged } = require("minform");
console.log("cjs", minForm(ragged([[0.9, -0.2, 0.5]])).outcomes[0]);
JS
cat >use.ts <<'TS'
import { minForm, ragged } from "minform";
const outcomes: Float32Array = minForm(ragged([[0.9, -0.2, 0.5]], "float32")).outcomes;
console.log("ts", outcomes[0]);
TS
node use.mjs
node --no-warnings use.cjs
"$root/node_modules/.bin/tsc" --strict --module nodenext --target es2022 --skipLibCheck --typeRoots "$root/node_modules/@types" --types node --outDir out use.ts
node out/use.js
npx --no-install minform --version
