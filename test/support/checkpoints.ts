import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadTokenizer, type Tokenizer } from "../../lib/model/index.ts";

const shared = fileURLToPath(new URL("../../../shared/", import.meta.url));

/** Folder of shared data, undefined where this checkout stands alone. */
export function sharedPath(...parts: string[]): string | undefined {
  const path = join(shared, ...parts);
  return existsSync(path) ? path : undefined;
}

const tokenizers = new Map<string, Promise<Tokenizer>>();

/** Tokenizer of a folder, loaded once per test file. */
export function tokenizerOf(folder: string): Promise<Tokenizer> {
  let found = tokenizers.get(folder);
  if (found === undefined) {
    found = loadTokenizer({ path: folder });
    tokenizers.set(folder, found);
  }
  return found;
}
