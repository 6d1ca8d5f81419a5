import { existsSync, readFileSync } from "node:fs";
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

/** Rows of a checkpoint's expected.json. */
export interface ExpectedRow {
  question?: string;
  steps?: string[];
  text?: string;
  prompt?: string;
  prompt_ids?: number[];
  response?: string;
  response_ids?: number[];
  step_end_token_index?: number[];
  prm_input_ids?: number[];
  conversation?: { role: string; content: string }[];
  input_ids?: number[];
  num_tokens?: number;
  read_positions?: number[];
  step_rewards?: number[];
  reward?: number;
}

export function expectedRows(folder: string): ExpectedRow[] {
  return JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) as ExpectedRow[];
}
