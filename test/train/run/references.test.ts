import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { prmReference, sftReference } from "../../../lib/train/config/phase-references.ts";

it.each([
  ["sft-config", sftReference()],
  ["prm-config", prmReference()],
])("docs/guides/%s.md is what the schema says (node scripts/config-reference.mjs)", (page, text) => {
  const file = new URL(`../../../docs/guides/${page}.md`, import.meta.url);
  expect(readFileSync(file, "utf8")).toBe(text);
  expect(text).not.toMatch(/^\| `.*\| *\|$/m); // every key says what it is
});
