import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { datasetInfo, downloadFile, HubApiError, listFiles, modelInfo } from "@huggingface/hub";
import { InputError } from "../errors.ts";
import type { HubId, HubOptions } from "./hub.ts";
import { type CacheFolder, openCache, type RemoteFile, type RepositoryKind } from "./cache.ts";

/** @internal A commit of a repository, and how to get its files into the cache. */
export interface HubRepository {
  /** Its files. */
  readonly paths: readonly string[];
  /** The snapshot folder of the commit. */
  readonly folder: string;
  /** Fetches a file unless the cache has it. */
  get(path: string): Promise<void>;
  /** An error that names the repository. */
  missing(what: string): InputError;
}

/** @internal Which files of a repository are wanted. */
export interface SnapshotPlan {
  /** Whether a snapshot folder has them all. */
  isComplete(folder: string): Promise<boolean>;
  /** Gets them. */
  fetch(repository: HubRepository): Promise<void>;
}

/**
 * @internal A snapshot folder in the standard cache (`HF_HUB_CACHE`, `HF_HOME`) that has what the plan wants, fetched from
 * `HF_ENDPOINT` with `HF_TOKEN` unless it is there already. `HF_HUB_OFFLINE=1` never asks.
 *
 * @throws InputError `ERR_INPUT` naming the repository, and what failed
 */
export async function repositorySnapshot(
  id: HubId & { readonly kind: RepositoryKind },
  plan: SnapshotPlan,
  options: HubOptions,
): Promise<string> {
  const cache = openCache(cacheRoot(), id.name, id.kind);
  const cached = await cache.snapshot(id.revision);
  const complete = cached !== undefined && (await plan.isComplete(cached));
  const offline = /^(1|true|on|yes)$/i.test(process.env.HF_HUB_OFFLINE ?? "");
  if (complete && (offline || options.update !== true)) return cached;
  if (offline) {
    throw new InputError(
      "ERR_INPUT",
      `${id.name}: not complete in the cache ${cache.path}, and HF_HUB_OFFLINE is set`,
    );
  }
  try {
    const { repository, commit } = await openRepository(id, cache, options);
    await plan.fetch(repository);
    await cache.point(id.revision, commit);
    return repository.folder;
  } catch (cause) {
    options.signal?.throwIfAborted();
    if (cause instanceof InputError) throw cause;
    throw new InputError("ERR_INPUT", `${id.name}@${id.revision}: ${explain(cause)}`, { cause });
  }
}

async function openRepository(
  { name, revision, kind }: HubId & { readonly kind: RepositoryKind },
  cache: CacheFolder,
  options: HubOptions,
): Promise<{ repository: HubRepository; commit: string }> {
  const hub = await connection(options.signal);
  const missing = (what: string) => new InputError("ERR_INPUT", `${name}@${revision}: ${what}`);
  const query = { name, revision, ...hub };
  const { sha } =
    kind === "model"
      ? await modelInfo({ ...query, additionalFields: ["sha"] })
      : await datasetInfo({ ...query, additionalFields: ["sha"] });
  if (typeof sha !== "string" || !/^[0-9a-f]{40}$/.test(sha)) throw missing("the hub gave no commit for it");
  const repo = { type: kind, name } as const;
  const files = new Map<string, RemoteFile>();
  for await (const entry of listFiles({ repo, revision: sha, recursive: true, ...hub })) {
    if (entry.type !== "file") continue;
    files.set(entry.path, {
      path: entry.path,
      size: entry.size,
      oid: entry.oid ?? "",
      sha256: entry.lfs?.oid,
    });
  }
  const get = async (path: string) => {
    const file = files.get(path);
    if (file === undefined) throw missing(`has no ${path}`);
    await cache.store(
      sha,
      file,
      async () => {
        const blob = await downloadFile({ repo, path, revision: sha, ...hub }).catch((cause: unknown) => {
          // The repository is there, it has just listed the file.
          if (cause instanceof HubApiError && cause.statusCode === 404) return null;
          throw cause;
        });
        if (blob === null) throw missing(`${path} is gone`);
        return blob.stream();
      },
      options,
    );
  };
  return { repository: { paths: [...files.keys()], folder: cache.at(sha), get, missing }, commit: sha };
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
