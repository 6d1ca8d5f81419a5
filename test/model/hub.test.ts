import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openCheckpoint } from "../../lib/model/checkpoint.ts";
import { hubId } from "../../lib/hub/hub.ts";
import { loadTokenizer } from "../../lib/model/tokenizer.ts";
import { backbone, shardName, temporaryFolder, writeCheckpoint } from "../support/checkpoint.ts";
import { expectSameBits } from "../support/compare.ts";
import { rejection } from "../support/errors.ts";
import { hash, startHub } from "../support/hub.ts";
import { ints, openSession, runAll } from "../support/model.ts";
import { writeTokenizer } from "../support/tokenizer.ts";

const CONFIG = {
  model_type: "llama",
  vocab_size: 300,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  max_position_embeddings: 64,
};
const NAME = "owner/tiny-prm";
const HEAD = { kind: "lm-rows", tokenIds: [3, 5] } as const;
const BATCH = { ids: ints([[1, 2, 3, 4]]), reads: ints([[1, 3]]) };

const root = await temporaryFolder();
const local = writeCheckpoint(join(root, "local"), CONFIG, backbone(CONFIG, "BF16"), 2);
writeTokenizer(local);
const content = () =>
  new Map(readdirSync(local).map((name) => [name, new Uint8Array(readFileSync(join(local, name)))]));
const hub = await startHub(NAME, content());

const saved = { ...process.env };
let counter = 0;
let home = "";
beforeEach(() => {
  home = join(root, `home${counter++}`);
  for (const name of Object.keys(process.env)) if (name.startsWith("HF_")) delete process.env[name];
  process.env.HF_HOME = home;
  process.env.HF_ENDPOINT = hub.url;
  hub.requests.length = 0;
  hub.files = content();
  hub.commit = hash("sha1", "first");
  hub.token = undefined;
  hub.spoil = undefined;
  hub.cut = undefined;
  hub.before = undefined;
});
afterEach(() => {
  process.env = { ...saved };
});

const repository = () => join(home, "hub", "models--owner--tiny-prm");
const leftovers = () =>
  readdirSync(join(repository(), "blobs")).filter((name) => name.includes("incomplete"));

describe("a repository on the hub", () => {
  test("is fetched into the standard cache, and opened", async () => {
    hub.files.set("pytorch_model.bin", new Uint8Array(1000));
    const seen = new Map<string, number>();
    const checkpoint = await openCheckpoint(NAME, {
      onProgress: ({ file, received, total }) => {
        expect(received).toBeLessThanOrEqual(total);
        seen.set(file, received / total);
      },
    });
    const snapshot = join(repository(), "snapshots", hub.commit);
    expect(checkpoint.path).toBe(snapshot);
    expect(readFileSync(join(repository(), "refs", "main"), "utf8")).toBe(hub.commit);
    const shard = join(snapshot, shardName(0, 2));
    expect(lstatSync(shard).isSymbolicLink()).toBe(true);
    const digest = hash("sha256", hub.files.get(shardName(0, 2))!);
    expect(readlinkSync(shard)).toBe(join("..", "..", "blobs", digest));
    expect(readdirSync(snapshot)).not.toContain("pytorch_model.bin");
    expect(seen.get(shardName(1, 2))).toBe(1);
    expect((await loadTokenizer(checkpoint)).hasChatTemplate).toBe(true);
    const [found, expected] = [await openSession(snapshot, HEAD), await openSession(local, HEAD)];
    expectSameBits(await runAll(found, BATCH), await runAll(expected, BATCH));
  });

  test("is not asked for again: offline after the first time", async () => {
    const first = await openCheckpoint(NAME);
    hub.requests.length = 0;
    process.env.HF_ENDPOINT = "http://127.0.0.1:1";
    expect((await openCheckpoint(NAME)).path).toBe(first.path);
    process.env.HF_HUB_OFFLINE = "1";
    expect((await openCheckpoint(`${NAME}@${hub.commit}`)).path).toBe(first.path);
    expect(hub.requests).toEqual([]);
  });

  test("at a revision; a newer commit comes on request and shares what has not changed", async () => {
    const first = await openCheckpoint(`${NAME}@v1`);
    expect(readFileSync(join(repository(), "refs", "v1"), "utf8")).toBe(hub.commit);
    hub.commit = hash("sha1", "second");
    hub.files.set("generation_config.json", Buffer.from("{}"));
    expect((await openCheckpoint(`${NAME}@v1`)).path).toBe(first.path);
    hub.requests.length = 0;
    const second = await openCheckpoint(`${NAME}@v1`, { update: true });
    expect(second.path).toBe(join(repository(), "snapshots", hub.commit));
    const fetched = hub.requests.filter((path) => path.includes("/resolve/"));
    expect(fetched.every((path) => path.endsWith("generation_config.json"))).toBe(true);
  });

  test("behind a token, which goes only to the hub", async () => {
    hub.token = "secret";
    const refused = await rejection(() => openCheckpoint(NAME));
    expect(refused).toMatchObject({ code: "ERR_INPUT", message: expect.stringMatching(/set HF_TOKEN/) });
    process.env.HF_TOKEN = "secret";
    expect((await openCheckpoint(NAME)).tensors.size).toBeGreaterThan(0);
  });

  test("honours HF_HUB_CACHE", async () => {
    process.env.HF_HUB_CACHE = join(home, "elsewhere");
    const { path } = await openCheckpoint(NAME);
    expect(path.startsWith(join(home, "elsewhere", "models--owner--tiny-prm", "snapshots"))).toBe(true);
  });
});

describe("what goes wrong is said, and leaves nothing half-written", () => {
  test("no such repository, no hub", async () => {
    expect((await rejection(() => openCheckpoint("owner/none"))).message).toMatch(/knows no such repository/);
    process.env.HF_ENDPOINT = "http://127.0.0.1:1";
    const found = await rejection(() => openCheckpoint(NAME));
    expect(found).toMatchObject({ code: "ERR_INPUT", message: expect.stringMatching(/download failed/) });
    process.env.HF_HUB_OFFLINE = "1";
    expect((await rejection(() => openCheckpoint(NAME))).message).toMatch(/HF_HUB_OFFLINE/);
  });

  test.each([
    ["too short", (body: Uint8Array) => body.subarray(0, body.length - 1)],
    ["altered", (body: Uint8Array) => body.map((byte, i) => (i === body.length - 1 ? byte ^ 1 : byte))],
  ])("a shard that arrives %s", async (_, change) => {
    hub.spoil = (path, body) => (path === shardName(1, 2) ? change(body) : body);
    const found = await rejection(() => openCheckpoint(NAME));
    expect(found.code).toBe("ERR_INPUT");
    expect(found.message).toMatch(/model-00002-of-00002\.safetensors: expected/);
    expect(leftovers()).toEqual([]);
    hub.spoil = undefined;
    expect((await openCheckpoint(NAME)).tensors.size).toBeGreaterThan(0);
  });

  test("a connection that breaks; the next call fetches what is missing and no more", async () => {
    hub.cut = shardName(1, 2);
    const found = await rejection(() => openCheckpoint(NAME));
    expect(found).toMatchObject({ code: "ERR_INPUT", message: expect.stringMatching(/download failed/) });
    expect(leftovers()).toEqual([]);
    process.env.HF_HUB_OFFLINE = "1";
    expect((await rejection(() => openCheckpoint(NAME))).message).toMatch(/not complete in the cache/);
    delete process.env.HF_HUB_OFFLINE;
    hub.cut = undefined;
    hub.requests.length = 0;
    expect((await openCheckpoint(NAME)).tensors.size).toBeGreaterThan(0);
    const fetched = hub.requests.filter((path) => path.includes("/resolve/"));
    expect(new Set(fetched.map((path) => path.split("/").at(-1)))).toEqual(new Set([shardName(1, 2)]));
  });

  test("an optional file that is listed and then gone", async () => {
    hub.before = (path) => {
      if (path === "config.json") hub.files.delete("tokenizer_config.json");
    };
    const found = await rejection(() => openCheckpoint(NAME));
    expect(found).toMatchObject({ code: "ERR_INPUT", message: expect.stringMatching(/tokenizer_config/) });
    expect(leftovers()).toEqual([]);
  });

  test("an aborted download", async () => {
    const controller = new AbortController();
    hub.before = (path) => {
      if (path === shardName(1, 2)) controller.abort(new Error("enough"));
    };
    const found = await rejection(() => openCheckpoint(NAME, { signal: controller.signal }));
    expect(found.message).toBe("enough");
    expect(leftovers()).toEqual([]);
  });

  test("a listing that points outside the repository", async () => {
    const map = { weight_map: { "lm_head.weight": "../../../../evil.safetensors" } };
    hub.files.set("model.safetensors.index.json", Buffer.from(JSON.stringify(map)));
    hub.files.set("../../../../evil.safetensors", new Uint8Array(8));
    const found = await rejection(() => openCheckpoint(NAME));
    expect(found).toMatchObject({ code: "ERR_INPUT", message: expect.stringMatching(/not inside/) });
  });

  test("a repository without weights", async () => {
    hub.files = new Map([["config.json", content().get("config.json")!]]);
    expect((await rejection(() => openCheckpoint(NAME))).message).toMatch(/expected model\.safetensors/);
  });
});

test("what is an id and what is not", () => {
  expect(hubId("a/b")).toEqual({ name: "a/b", revision: "main" });
  expect(hubId("Qwen/Qwen2.5-Math-PRM-7B@refs/pr/3")).toEqual({
    name: "Qwen/Qwen2.5-Math-PRM-7B",
    revision: "refs/pr/3",
  });
  for (const text of ["a", "./a/b", "/a/b", "a/b/c", "../a", "a/..", "a/b@../c", "a b/c", ""]) {
    expect(hubId(text)).toBeUndefined();
  }
});
