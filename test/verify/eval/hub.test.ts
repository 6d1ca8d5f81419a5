// Datasets from a hub on this machine.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadDataset } from "../../../lib/verify/eval/index.ts";
import { rejection } from "../../support/errors.ts";
import { startHub } from "../../support/hub.ts";
import { parquetBytes } from "./parquet.ts";

const NAME = "tester/MATH-500";
const rows = (answer: string) => Buffer.from(`${JSON.stringify({ problem: "q", answer, id: "a" })}\n`);
const content = () =>
  new Map<string, Uint8Array>([
    ["README.md", Buffer.from("about")],
    ["test.jsonl", rows("1")],
  ]);
const hub = await startHub(NAME, content(), "dataset");
const environment = { ...process.env };
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "minform-hub-"));
  for (const name of Object.keys(process.env)) if (name.startsWith("HF_")) delete process.env[name];
  process.env.HF_HOME = home;
  process.env.HF_ENDPOINT = hub.url;
  hub.files.clear();
  for (const [path, bytes] of content()) hub.files.set(path, bytes);
  hub.requests.length = 0;
});

afterEach(() => {
  process.env = { ...environment };
  rmSync(home, { recursive: true, force: true });
});

const reference = async (source: string) => (await loadDataset(source)).problems[0]!.reference;
const failure = (source: string) => rejection(() => loadDataset(source));

describe("a dataset on the hub", () => {
  test("the only data file, with the conventions that its name speaks of", async () => {
    const { name, source, problems } = await loadDataset(NAME);
    expect({ name, source }).toEqual({ name: "math500", source: NAME });
    expect(problems).toMatchObject([{ id: "a", reference: "1" }]);
    expect(hub.requests.some((path) => path.endsWith("README.md"))).toBe(false);
  });

  test("of several files the one for the test split, a named one, at a revision", async () => {
    hub.files.set("data/train-00000-of-00001.jsonl", rows("2"));
    hub.files.set("olympiadbench/set.parquet", parquetBytes("olympiad"));
    expect(await reference(NAME)).toBe("1");
    expect(await reference(`${NAME}@v1#data/train-00000-of-00001.jsonl`)).toBe("2");
    expect((await loadDataset(`${NAME}#olympiadbench/set.parquet`)).problems[0]!.id).toBe("1606");
  });

  test("no certain choice lists what there is", async () => {
    hub.files.delete("test.jsonl");
    expect((await failure(NAME)).message).toMatch(/found none/);
    hub.files.set("a.jsonl", rows("1"));
    hub.files.set("b.parquet", rows("2"));
    const error = await failure(NAME);
    expect(error.code).toBe("ERR_INPUT");
    expect(error.message).toMatch(
      /expected one data file, or one for the test split, found a\.jsonl, b\.parquet/,
    );
    expect((await failure(`${NAME}#c.jsonl`)).message).toMatch(
      /expected c\.jsonl, found a\.jsonl, b\.parquet/,
    );
    expect((await failure("tester/none")).message).toMatch(/no such repository/);
  });

  test("a named file is not asked for again, and is there without a hub", async () => {
    await reference(`${NAME}#test.jsonl`);
    const before = hub.requests.length;
    process.env.HF_ENDPOINT = "http://127.0.0.1:1";
    expect(await reference(`${NAME}#test.jsonl`)).toBe("1");
    process.env.HF_HUB_OFFLINE = "1";
    expect(await reference(`${NAME}#test.jsonl`)).toBe("1");
    expect(hub.requests.length).toBe(before);
    expect((await failure(NAME)).message).toMatch(/HF_HUB_OFFLINE/);
  });

  test("a named file outside the repository's folder is not read", async () => {
    await reference(`${NAME}#test.jsonl`);
    writeFileSync(join(home, "hub", "secret.jsonl"), rows("3"));
    expect((await failure(`${NAME}#../../../secret.jsonl`)).message).toMatch(
      /expected a file of the repository/,
    );
  });
});
