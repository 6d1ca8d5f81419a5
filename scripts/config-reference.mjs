// Writes the config references in docs/guides/ from their schemas: npm run build:lib && node scripts/config-reference.mjs
import { writeFileSync } from "node:fs";
import { trainReference } from "../dist/train/config/train-reference.js";
import { prmReference, sftReference } from "../dist/train/config/phase-references.js";

for (const [page, text] of [
  ["train-config", trainReference()],
  ["sft-config", sftReference()],
  ["prm-config", prmReference()],
]) {
  writeFileSync(new URL(`../docs/guides/${page}.md`, import.meta.url), text);
}
