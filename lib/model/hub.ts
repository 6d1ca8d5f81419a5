import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { downloadFile, HubApiError, listFiles, modelInfo } from "@huggingface/hub";
import { InputError } from "../errors.ts";
import { type CacheFolder, exists, openCache, readJsonIn, type RemoteFile } from "./hub-cache.ts";

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
 * @internal The snapshot folder of a repository in the standard cache (`HF_HUB_CACHE`, `HF_HOME`), fetched from
 * `HF_ENDPOINT` with `HF_TOKEN` unless a complete one is there already. `HF_HUB_OFFLINE=1` never asks.
 *
 * @throws InputError `ERR_INPUT` naming the repository, and what failed
 */
export async function locateSnapshot(id: HubId, options: HubOptions = {}): Promise<string> {
  const cache = openCache(cacheRoot(), id.name);
  const cached = await cache.snapshot(id.revision);
  const complete = cached !== undefined && (await isComplete(cached));
  const offline = /^(1|true|on|yes)$/i.test(process.env.HF_HUB_OFFLINE ?? "");
  if (complete && (offline || options.update !== true)) return cached;
  if (offline) {
    throw new InputError(
      "ERR_INPUT",
      `${id.name}: not complete in the cache ${cache.path}, and HF_HUB_OFFLINE is set`,
    );
  }
  try {
    return await fetchSnapshot(id, cache, options);
  } catch (cause) {
    options.signal?.throwIfAborted();
    if (cause instanceof InputError) throw cause;
    throw new InputError("ERR_INPUT", `${id.name}@${id.revision}: ${explain(cause)}`, { cause });
  }
}

async function fetchSnapshot(id: HubId, cache: CacheFolder, options: HubOptions): Promise<string> {
  const hub = await connection(options.signal);
  const { sha } = await modelInfo({
    name: id.name,
    revision: id.revision,
    additionalFields: ["sha"],
    ...hub,
  });
  if (typeof sha !== "string" || !/^[0-9a-f]{40}$/.test(sha)) {
    throw new InputError("ERR_INPUT", `${id.name}: the hub gave no commit for ${id.revision}`);
  }
  const files = new Map<string, RemoteFile>();
  for await (const entry of listFiles({ repo: id.name, revision: sha, recursive: true, ...hub })) {
    if (entry.type !== "file") continue;
    files.set(entry.path, {
      path: entry.path,
      size: entry.size,
      oid: entry.oid ?? "",
      sha256: entry.lfs?.oid,
    });
  }
  const get = async (name: string) => {
    const file = files.get(name);
    if (file === undefined) throw new InputError("ERR_INPUT", `${id.name}@${id.revision}: has no ${name}`);
    await cache.store(
      sha,
      file,
      async () => {
        const blob = await downloadFile({ repo: id.name, path: name, revision: sha, ...hub }).catch(
          (cause: unknown) => {
            // The repository is there, it has just listed the file.
            if (cause instanceof HubApiError && cause.statusCode === 404) return null;
            throw cause;
          },
        );
        if (blob === null) throw new InputError("ERR_INPUT", `${id.name}: ${name} is gone`);
        return blob.stream();
      },
      options,
    );
  };
  for (const name of SMALL) if (files.has(name)) await get(name);
  if (files.has(SINGLE)) {
    await get(SINGLE);
  } else if (files.has(INDEX)) {
    await get(INDEX);
    for (const shard of await shardNames(cache.at(sha))) await get(shard);
  } else {
    throw new InputError(
      "ERR_INPUT",
      `${id.name}@${id.revision}: expected ${SINGLE} or ${INDEX}, found neither`,
    );
  }
  await cache.point(id.revision, sha);
  return cache.at(sha);
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

function home(): string {
  const { HF_HOME, XDG_CACHE_HOME } = process.env;
  return HF_HOME || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "huggingface");
}

function cacheRoot(): string {
  return process.env.HF_HUB_CACHE || process.env.HUGGINGFACE_HUB_CACHE || join(home(), "hub");
}

async function connection(signal: AbortSignal | undefined): Promise<{ hubUrl: string; fetch: typeof fetch }> {
  const hubUrl = (process.env.HF_ENDPOINT || "https://huggingface.co").replace(/\/+$/, "");
  const stored = () => readFile(join(home(), "token"), "utf8").catch(() => "");
  const token = (process.env.HF_TOKEN || (await stored())).trim();
  // The token goes to the hub alone, not to the storage that it redirects to.
  const authorised: typeof fetch = (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init.headers);
    if (token !== "" && url.origin === new URL(hubUrl).origin)
      headers.set("Authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers, ...(signal ? { signal } : {}) });
  };
  return { hubUrl, fetch: authorised };
}

function explain(cause: unknown): string {
  if (cause instanceof HubApiError) {
    const hints: Record<number, string> = {
      401: "the hub wants a token: set HF_TOKEN",
      403: "the token in HF_TOKEN does not open this repository",
      404: "the hub knows no such repository or revision (or it is private: set HF_TOKEN)",
    };
    return hints[cause.statusCode] ?? `the hub answered ${cause.statusCode}: ${cause.message}`;
  }
  const { message, cause: inner } = cause as Error;
  return `the download failed: ${inner instanceof Error ? `${message}: ${inner.message}` : message}`;
}
