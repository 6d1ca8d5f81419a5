import { createHash, randomBytes } from "node:crypto";
import { copyFile, mkdir, open, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { InputError } from "../errors.ts";
import type { HubOptions } from "./hub.ts";

/** @internal A file of a repository, as the hub lists it. */
export interface RemoteFile {
  readonly path: string;
  readonly size: number;
  /** Git object id. */
  readonly oid: string;
  /** SHA-256 of the content, for large files. */
  readonly sha256: string | undefined;
}

/** @internal What a repository holds. */
export type RepositoryKind = "model" | "dataset";

/** @internal The folder of one repository in the hub's cache layout: `blobs`, `refs`, `snapshots`. */
export interface CacheFolder {
  readonly path: string;
  /** The snapshot folder of a commit. */
  at(commit: string): string;
  /** The snapshot folder that a branch, tag or commit stands for here, if any. */
  snapshot(revision: string): Promise<string | undefined>;
  /** Puts a file into a snapshot, from the blobs or from `open`; checks size and hash before it becomes visible. */
  store(
    commit: string,
    file: RemoteFile,
    open: () => Promise<ReadableStream<Uint8Array>>,
    options: HubOptions,
  ): Promise<void>;
  /** Records what a branch or tag stands for. */
  point(revision: string, commit: string): Promise<void>;
}

/** @internal Whether a path is there, links followed. */
export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** @internal A JSON file of a folder. */
export const readJsonIn = async (folder: string, name: string): Promise<unknown> =>
  JSON.parse(await readFile(join(folder, name), "utf8"));

const COMMIT = /^[0-9a-f]{40}$/;

/** @internal The cache folder of a repository. Nothing is created before something is stored. */
export function openCache(root: string, name: string, kind: RepositoryKind): CacheFolder {
  const path = join(root, `${kind}s--${name.replaceAll("/", "--")}`);
  const at = (commit: string) => join(path, "snapshots", commit);
  return {
    path,
    at,
    async snapshot(revision) {
      const stored = await readFile(join(path, "refs", ...revision.split("/")), "utf8").catch(() => revision);
      const commit = stored.trim();
      return COMMIT.test(commit) && (await exists(at(commit))) ? at(commit) : undefined;
    },
    async store(commit, file, open, options) {
      const pointer = join(at(commit), checkPath(file.path));
      if (await exists(pointer)) return;
      const blob = join(path, "blobs", checkName(file.sha256 ?? file.oid));
      await mkdir(dirname(blob), { recursive: true });
      if (!(await exists(blob))) await download(blob, file, await open(), options);
      await mkdir(dirname(pointer), { recursive: true });
      await link(blob, pointer);
    },
    async point(revision, commit) {
      if (COMMIT.test(revision)) return;
      const ref = join(path, "refs", ...revision.split("/"));
      await mkdir(dirname(ref), { recursive: true });
      const temporary = `${ref}.${unique()}`;
      await writeFile(temporary, commit);
      await rename(temporary, ref);
    },
  };
}

const unique = () => `${process.pid}.${randomBytes(4).toString("hex")}`;

function checkPath(path: string): string {
  const inside = relative(".", path);
  if (isAbsolute(path) || path.includes("\\") || inside.split(sep)[0] === "..") {
    throw new InputError(
      "ERR_INPUT",
      `the hub lists ${JSON.stringify(path)}, which is not inside its repository`,
    );
  }
  return path;
}

function checkName(name: string): string {
  if (/^\w+$/.test(name)) return name;
  throw new InputError("ERR_INPUT", `the hub lists the object id ${JSON.stringify(name)}, expected a hash`);
}

// To a name of this process's own, flushed, checked, then renamed: a killed or parallel download leaves no blob that
// is not whole.
async function download(
  blob: string,
  file: RemoteFile,
  stream: ReadableStream<Uint8Array>,
  { onProgress, signal }: HubOptions,
): Promise<void> {
  const temporary = `${blob}.${unique()}.incomplete`;
  const hash = createHash("sha256");
  const handle = await open(temporary, "wx");
  let received = 0;
  try {
    for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
      signal?.throwIfAborted();
      await handle.writeFile(chunk);
      hash.update(chunk);
      received += chunk.byteLength;
      onProgress?.({ file: file.path, received, total: file.size });
    }
    await handle.sync();
    await handle.close();
    if (received !== file.size) {
      throw new InputError("ERR_INPUT", `${file.path}: expected ${file.size} bytes, got ${received}`);
    }
    const digest = hash.digest("hex");
    if (file.sha256 !== undefined && digest !== file.sha256) {
      throw new InputError("ERR_INPUT", `${file.path}: expected SHA-256 ${file.sha256}, got ${digest}`);
    }
    await rename(temporary, blob);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
}

async function link(blob: string, pointer: string): Promise<void> {
  try {
    await symlink(relative(dirname(pointer), blob), pointer);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "EPERM" && code !== "ENOTSUP") throw error;
    // A file system or account without links: a copy, as the hub's own tools make.
    const temporary = `${pointer}.${unique()}`;
    await copyFile(blob, temporary);
    await rename(temporary, pointer);
  }
}
