import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

/** A hub on 127.0.0.1 with one repository. */
export interface TestHub {
  url: string;
  /** Every request so far. */
  requests: string[];
  /** Files of the repository. */
  files: Map<string, Uint8Array>;
  /** The commit that `main` stands for. */
  commit: string;
  /** Wanted as a bearer token, when set. */
  token: string | undefined;
  /** Spoils the body of a file. */
  spoil: ((path: string, body: Uint8Array) => Uint8Array) | undefined;
  /** The connection breaks in the middle of this file. */
  cut: string | undefined;
  /** Called before a file is sent. */
  before: ((path: string) => void) | undefined;
}

export const hash = (algorithm: string, bytes: Uint8Array | string): string =>
  createHash(algorithm).update(bytes).digest("hex");

export async function startHub(
  name: string,
  files: Map<string, Uint8Array>,
  kind: "model" | "dataset" = "model",
): Promise<TestHub> {
  const hub: TestHub = {
    url: "",
    requests: [],
    files,
    commit: hash("sha1", "first"),
    token: undefined,
    spoil: undefined,
    cut: undefined,
    before: undefined,
  };
  const server = createServer((request, response) => answer(hub, { name, kind }, request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  hub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return hub;
}

interface Repository {
  name: string;
  kind: "model" | "dataset";
}

function answer(
  hub: TestHub,
  repository: Repository,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { pathname } = new URL(request.url!, "http://hub");
  hub.requests.push(pathname);
  const [status, found] = route(hub, repository, pathname, request.headers.authorization);
  if (typeof found === "string") {
    send(hub, found, hub.files.get(found)!, request, response);
  } else {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify(found));
  }
}

// A status with a JSON body, or with the name of a file.
function route(
  hub: TestHub,
  { name, kind }: Repository,
  pathname: string,
  authorization: string | undefined,
): [status: number, found: object | string] {
  if (hub.token !== undefined && authorization !== `Bearer ${hub.token}`) {
    return [401, { error: "token wanted" }];
  }
  for (const revision of ["main", "v1", hub.commit]) {
    if (pathname === `/api/${kind}s/${name}/revision/${revision}`) {
      return [200, { _id: "1", id: name, sha: hub.commit, lastModified: "2025-01-01T00:00:00.000Z" }];
    }
    if (pathname === `/api/${kind}s/${name}/tree/${revision}`) return [200, listing(hub.files)];
    const prefix = `${kind === "model" ? "" : "/datasets"}/${name}/resolve/${revision}/`;
    const path = decodeURIComponent(pathname.slice(prefix.length));
    if (pathname.startsWith(prefix) && hub.files.has(path)) return [200, path];
  }
  return [404, { error: "not found" }];
}

// Large files are listed with the hash of their content, as files in large-file storage are.
function listing(files: Map<string, Uint8Array>): object[] {
  return [...files].map(([path, body]) => ({
    type: "file",
    path,
    size: body.length,
    oid: hash("sha1", body),
    ...(path.endsWith(".safetensors")
      ? { lfs: { oid: hash("sha256", body), size: body.length, pointerSize: 100 } }
      : {}),
  }));
}

function send(
  hub: TestHub,
  path: string,
  body: Uint8Array,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const headers = { ETag: `"${hash("sha1", body)}"`, "Accept-Ranges": "bytes" };
  const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "");
  if (range !== null) {
    const [from, to] = [Number(range[1]), Math.min(Number(range[2]), body.length - 1)];
    response.writeHead(206, { ...headers, "Content-Range": `bytes ${from}-${to}/${body.length}` });
    response.end(body.subarray(from, to + 1));
    return;
  }
  hub.before?.(path);
  const sent = hub.spoil?.(path, body) ?? body;
  response.writeHead(200, headers);
  if (hub.cut === path) {
    response.write(sent.subarray(0, sent.length / 2), () => response.destroy());
    return;
  }
  response.end(sent);
}
