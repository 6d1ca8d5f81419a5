import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { InputError } from "../errors.ts";
import { type ModelConfig, parseConfig } from "./config.ts";
import { type HubOptions, hubId, locateSnapshot } from "../hub/hub.ts";
import { exists } from "../hub/cache.ts";
import { readSafetensorsHeader, type TensorEntry } from "./safetensors.ts";

/** A checkpoint folder, opened: nothing but headers has been read. */
export interface Checkpoint {
  /** The folder. */
  readonly path: string;
  /** What config.json says. */
  readonly config: ModelConfig;
  /** Every stored tensor by its name in the files. */
  readonly tensors: ReadonlyMap<string, TensorEntry>;
}

const SINGLE = "model.safetensors";
const INDEX = "model.safetensors.index.json";

/**
 * Opens a checkpoint in Hugging Face layout: config.json, and model.safetensors or an index with shards.
 *
 * @param dirOrHubId - a folder, or `owner/name` or `owner/name@revision` on the hub (fetched into the standard cache
 * once, offline after that)
 * @param options - of the hub
 * @throws {@link InputError} `ERR_INPUT` naming file, field or tensor: a missing folder, file or shard, a truncated
 * or lying header, an index that points outside its folder, an architecture that is not known
 */
export async function openCheckpoint(dirOrHubId: string, options: HubOptions = {}): Promise<Checkpoint> {
  const path = await locate(dirOrHubId, options);
  const config = parseConfig(await readJson(join(path, "config.json")), join(path, "config.json"));
  return { path, config, tensors: await readTensors(path) };
}

async function locate(dirOrHubId: string, options: HubOptions): Promise<string> {
  const found = await stat(dirOrHubId).catch(() => undefined);
  if (found?.isDirectory()) return dirOrHubId;
  const id = found === undefined ? hubId(dirOrHubId) : undefined;
  if (id !== undefined) return locateSnapshot(id, options);
  const what = found === undefined ? "no such folder, and not a hub id (owner/name)" : "not a folder";
  throw new InputError("ERR_INPUT", `${dirOrHubId}: ${what}`);
}

/** @internal A JSON file, or an error that names it. */
export async function readJson(file: string): Promise<unknown> {
  let text: string;
  try {
    // Opening a pipe would wait for its other end.
    if (!(await stat(file)).isFile()) throw new Error("not a file");
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${file}: cannot be read: ${(cause as Error).message}`, { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${file}: not JSON: ${(cause as Error).message}`, { cause });
  }
}

async function readTensors(path: string): Promise<Map<string, TensorEntry>> {
  if (await exists(join(path, SINGLE))) return readSafetensorsHeader(await realpath(join(path, SINGLE)));
  if (!(await exists(join(path, INDEX)))) {
    const pickled = await exists(join(path, "pytorch_model.bin"));
    const hint = pickled ? "; pytorch_model.bin is a pickle, which is not read: save it as safetensors" : "";
    throw new InputError("ERR_INPUT", `${path}: expected ${SINGLE} or ${INDEX}${hint}`);
  }
  return readShards(path);
}

async function readShards(path: string): Promise<Map<string, TensorEntry>> {
  const index = join(path, INDEX);
  const { weight_map: map } = ((await readJson(index)) ?? {}) as { weight_map?: unknown };
  if (map === null || typeof map !== "object" || Array.isArray(map)) {
    throw new InputError("ERR_INPUT", `${index}: weight_map: expected an object of tensor names and files`);
  }
  const names = new Map<string, string[]>();
  for (const [tensor, shard] of Object.entries(map)) {
    const listed = names.get(shard as string);
    if (listed === undefined) names.set(checkShard(index, path, tensor, shard), [tensor]);
    else listed.push(tensor);
  }
  const tensors = new Map<string, TensorEntry>();
  for (const [shard, expected] of names) {
    const file = join(path, shard);
    if (!(await exists(file))) throw new InputError("ERR_INPUT", `${file}: missing shard, named by ${index}`);
    const found = await readSafetensorsHeader(await realpath(file));
    for (const name of expected) {
      if (!found.has(name)) {
        throw new InputError("ERR_INPUT", `${file}: expected tensor ${name}, which ${index} places there`);
      }
    }
    for (const [name, entry] of found) {
      if (tensors.has(name)) {
        throw new InputError("ERR_INPUT", `${file}: tensor ${name} is also in ${tensors.get(name)!.file}`);
      }
      tensors.set(name, entry);
    }
  }
  if (tensors.size === 0)
    throw new InputError("ERR_INPUT", `${index}: weight_map: expected at least one tensor`);
  return tensors;
}

// The name itself must stay inside the folder; where a link inside the folder leads is the owner's business (the
// hub's cache links every file).
function checkShard(index: string, path: string, tensor: string, shard: unknown): string {
  if (typeof shard === "string" && shard !== "" && !isAbsolute(shard) && !shard.includes("\0")) {
    const inside = relative(path, join(path, shard));
    if (inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !shard.includes("\\"))
      return shard;
  }
  throw new InputError(
    "ERR_INPUT",
    `${index}: weight_map[${JSON.stringify(tensor)}]: expected a file inside the folder, got ${JSON.stringify(shard)}`,
  );
}
