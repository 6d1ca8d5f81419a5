// tsc never deletes: without this, modules removed from lib/ would stay in dist/ and in the package.
import { rmSync } from "node:fs";

rmSync(new URL("../dist", import.meta.url), { recursive: true, force: true });
