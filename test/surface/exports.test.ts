// Every public function is under the property tests of its family; adding one without them fails here.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as minform from "../../lib/index.ts";

const root = new URL("../", import.meta.url);
// Functions that take no batch: they are covered by the example tests of their own folder.
const plain = new Set([
  "capabilities",
  "cuda",
  "cudaInfo",
  "getNumThreads",
  "setNumThreads",
  "raggedOffsets",
  "row",
]);

function propertyTests(): string {
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .flatMap(({ name }) =>
      readdirSync(new URL(`${name}/`, root)).map((file) => new URL(`${name}/${file}`, root)),
    )
    .filter(
      (file) =>
        /(properties|reference|linear|ragged).*\.test\.ts$|cases\.ts$/.test(file.pathname) &&
        existsSync(file),
    )
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
}

describe("public surface", () => {
  const functions = Object.entries(minform)
    .filter(([name, value]) => typeof value === "function" && !/^[A-Z]/.test(name) && !plain.has(name))
    .map(([name]) => name);
  const source = propertyTests();

  it.each(functions)("%s has property tests", (name) => {
    expect(new RegExp(`\\b${name}\\b`).test(source)).toBe(true);
  });
});
