// Writes docs/guides/train-config.md from the schema of the config: npm run build:lib && node scripts/config-reference.mjs
import { writeFileSync } from "node:fs";
import { trainReference } from "../dist/train/config/train-reference.js";

writeFileSync(new URL("../docs/guides/train-config.md", import.meta.url), trainReference());
