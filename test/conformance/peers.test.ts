// Every key of a file of cases, computed with the presets and compared with what the peer's own function gave.
//
// float64: within 1e-9, relative to max(1, |expected|): relative for values above 1, absolute for values below.
// float32: within FLOAT32_BOUND, relative to max(1, |expected|), beyond what rounding the inputs does by itself (measured
// in float64: a rounded ratio may cross a clip bound). Where a standard deviation divides, the bound grows by the
// largest value over that deviation.
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import type { FloatArray } from "../../lib/index.ts";
import { Case, type Expected, flatten, type RawCase, readCaseFile } from "./case-file.ts";
import { functions, type Outcome, type Results } from "./functions.ts";
import { decodeNumber, Key } from "./key.ts";

const FLOAT64_BOUND = 1e-9;
const FLOAT32_BOUND = 1e-6;

const fallback = fileURLToPath(new URL("../../../shared/fixtures/peers.json", import.meta.url));
const found = readCaseFile(fallback);
let compared = 0;

function compute(text: string, inputs: Case): Outcome {
  const key = new Key(text);
  const call = functions[key.name];
  if (call === undefined) throw new Error(`unknown key ${text}`);
  const outcome = call(key, inputs);
  key.finish();
  return outcome;
}

type Visit = (path: string, expected: number[], actual: number[], index: number[]) => void;

// Walks over what the file expects; everything in it must have been computed.
function walk(
  path: string,
  expected: Expected,
  actual: Results | FloatArray | number | undefined,
  mask: Uint8Array,
  visit: Visit,
): void {
  if (actual === undefined) throw new Error(`${path}: in the file, but not computed`);
  if (Array.isArray(expected)) {
    const values = flatten(expected, path);
    if (!ArrayBuffer.isView(actual) || actual.length !== values.length)
      throw new Error(`${path}: another shape`);
    if (values.length !== mask.length) throw new Error(`${path}: not one value per token`);
    const index = values.flatMap((_, i) => (mask[i] === 1 ? [i] : []));
    visit(
      path,
      index.map((i) => values[i]!),
      index.map((i) => actual[i]!),
      index,
    );
  } else if (typeof expected === "object") {
    for (const [name, value] of Object.entries(expected)) {
      walk(`${path}.${name}`, value, (actual as Results)[name], mask, visit);
    }
  } else {
    visit(path, [decodeNumber(expected, path)], [actual as number], [0]);
  }
}

function numbers(expected: Expected, { results }: Outcome, mask: Uint8Array): number[] {
  const all: number[] = [];
  walk("", expected, results, mask, (_, __, actual) => all.push(...actual));
  return all;
}

function expectWithin(path: string, actual: number, expected: number, allowed: number): void {
  compared++;
  if (Object.is(actual, expected) || actual === expected) return;
  if (Number.isNaN(actual) && Number.isNaN(expected)) return;
  const error = Math.abs(actual - expected);
  if (!(error <= allowed))
    expect.fail(`${path}: got ${actual}, the peer has ${expected} (off by ${error}, allowed ${allowed})`);
}

function testKey(raw: RawCase, key: string, expected: Expected): void {
  const exact = new Case(raw, "float64");
  const outcome = compute(key, exact);
  let position = 0;
  walk(key, expected, outcome.results, exact.responseMask, (path, want, got, index) => {
    got.forEach((value, i) => {
      const at =
        want.length > 1
          ? `${path}[${Math.floor(index[i]! / exact.width)}, ${index[i]! % exact.width}]`
          : path;
      expectWithin(at, value, want[i]!, FLOAT64_BOUND * Math.max(1, Math.abs(want[i]!)));
    });
  });

  const rounded = numbers(expected, compute(key, new Case(raw, "rounded")), exact.responseMask);
  const reference = numbers(expected, outcome, exact.responseMask);
  const single = compute(key, new Case(raw, "float32"));
  const bound = FLOAT32_BOUND * (single.amplification ?? 1);
  walk(`${key} in float32`, expected, single.results, exact.responseMask, (path, want, got) => {
    got.forEach((value, i) => {
      const inputRounding = Math.abs(rounded[position]! - reference[position]!) || 0;
      expectWithin(path, value, want[i]!, bound * Math.max(1, Math.abs(want[i]!)) + inputRounding);
      position++;
    });
  });
}

if (found === undefined) {
  console.warn(`conformance with the peers skipped: ${fallback} is missing and MINFORM_PEERS is not set`);
  describe.skip("conformance with the peers (no case file)", () => it("runs", () => {}));
} else {
  const { path, file } = found;
  describe.each(file.cases.map((raw, i) => [`${i} ${raw.tag}`, raw] as const))("case %s", (_, raw) => {
    it.each(Object.entries(raw.out))("%s", (key, expected) => testKey(raw, key, expected));
  });

  afterAll(() => {
    console.info(`conformance: ${file.cases.length} cases of ${path}, ${compared} numbers compared`);
  });
}
