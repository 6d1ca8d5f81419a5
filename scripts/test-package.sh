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
# Every entry's declarations are checked too, and configs have types that refuse what they should.
cat >types.ts <<'TS'
export * as model from "minform/model";
export * as prm from "minform/prm";
export * as rollouts from "minform/rollouts";
export * as verify from "minform/verify";
import type { PrmConfig, SftConfig, TrainConfig, TrainConfigInput } from "minform/train";
const needed = { model: { path: "policy" }, data: { train: "prompts.jsonl" } };
export const right: TrainConfigInput = { ...needed, reward: { mode: "vr" } };
// @ts-expect-error there is no such mode
export const mode: TrainConfigInput = { ...needed, reward: { mode: "pmr" } };
// @ts-expect-error there is no such key
export const key: TrainConfigInput = { ...needed, reward: { mode: "vr" }, nonsense: 1 };
// @ts-expect-error steps are a number
export const steps = (config: TrainConfig): string => config.steps;
// @ts-expect-error rows are a number
export const sft: SftConfig = { model: "policy", data: "rows.jsonl", rows: "all" };
// @ts-expect-error epochs are a number
export const trained: PrmConfig = { model: "policy", data: "rows.jsonl", head: { epochs: "3" } };
TS
node use.mjs
node --no-warnings use.cjs
"$root/node_modules/.bin/tsc" --strict --module nodenext --target es2022 --lib es2023,esnext.disposable --typeRoots "$root/node_modules/@types" --types node --outDir out use.ts types.ts
node out/use.js
npx --no-install minform --version
