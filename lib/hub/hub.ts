import { join } from "node:path";
import { exists, readJsonIn } from "./cache.ts";
import { type HubRepository, repositorySnapshot } from "./repository.ts";

/** How far a download is. */
export interface DownloadProgress {
  /** Name of the file inside the repository. */
  readonly file: string;
  /** Bytes of this file that have arrived. */
  readonly received: number;
  /** Bytes of this file. */
  readonly total: number;
}

/** Options for checkpoints that come from a hub. The environment is read as the hub's own tools do. */
export interface HubOptions {
  /** Called as bytes arrive. */
  onProgress?: (progress: DownloadProgress) => void;
  /** Ask the hub for a newer commit even when the cache has a complete one. Default false: offline after the first time. */
  update?: boolean;
  /** Ends the download; what has arrived of a file is dropped. */
  signal?: AbortSignal;
}

/** @internal A repository on the hub, at a branch, tag or commit. */
export interface HubId {
  readonly name: string;
  readonly revision: string;
}

/** @internal `owner/name` or `owner/name@revision`; `undefined` for anything else, such as a path. */
export function hubId(text: string): HubId | undefined {
  const match = /^([A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*)(?:@([\w][\w./-]*))?$/.exec(text);
  if (match === null || text.includes("..")) return undefined;
  return { name: match[1]!, revision: match[2] ?? "main" };
}

// What scoring needs; the weights come last, so that a snapshot with weights is complete.
const SMALL = [
  "config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "chat_template.jinja",
  "chat_template.json",
  "generation_config.json",
];
const SINGLE = "model.safetensors";
const INDEX = "model.safetensors.index.json";

/**
 * @internal The snapshot folder of a model in the standard cache (`HF_HUB_CACHE`, `HF_HOME`), fetched from
 * `HF_ENDPOINT` with `HF_TOKEN` unless a complete one is there already. `HF_HUB_OFFLINE=1` never asks.
 *
 * @throws InputError `ERR_INPUT` naming the repository, and what failed
 */
export function locateSnapshot(id: HubId, options: HubOptions = {}): Promise<string> {
  return repositorySnapshot({ ...id, kind: "model" }, { isComplete, fetch: fetchModel }, options);
}

async function fetchModel({ paths, folder, get, missing }: HubRepository): Promise<void> {
  for (const name of SMALL) if (paths.includes(name)) await get(name);
  if (paths.includes(SINGLE)) {
    await get(SINGLE);
  } else if (paths.includes(INDEX)) {
    await get(INDEX);
    for (const shard of await shardNames(folder)) await get(shard);
  } else {
    throw missing(`expected ${SINGLE} or ${INDEX}, found neither`);
  }
}

async function shardNames(folder: string): Promise<string[]> {
  const index = (await readJsonIn(folder, INDEX)) as { weight_map?: unknown } | null;
  const map = index?.weight_map;
  return map !== null && typeof map === "object" ? [...new Set(Object.values(map).map(String))] : [];
}

async function isComplete(folder: string): Promise<boolean> {
  if (!(await exists(join(folder, "config.json")))) return false;
  if (await exists(join(folder, SINGLE))) return true;
  if (!(await exists(join(folder, INDEX)))) return false;
  const shards = await shardNames(folder).catch(() => []);
  const found = await Promise.all(shards.map((shard) => exists(join(folder, shard))));
  return shards.length > 0 && found.every(Boolean);
}
