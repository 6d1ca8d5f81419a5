import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { crc32c } from "../../../lib/train/sinks/crc32c.ts";
import { openSinks } from "../../../lib/train/sinks/index.ts";
import { WandbFile } from "../../../lib/train/sinks/wandb-file.ts";
import { temporaryFolder } from "../../support/rollouts.ts";
import { readEvents } from "./tfevents.ts";
import { readWandb } from "./wandb-log.ts";

const root = temporaryFolder();
let folders = 0;
const fresh = () => join(root, `run-${folders++}`);
const files = (folder: string) =>
  (readdirSync(folder, { recursive: true }) as string[])
    .filter((name) => /tfevents|\.wandb$/.test(name))
    .sort();

afterEach(() => vi.unstubAllEnvs());

describe("CRC-32C", () => {
  it("has the check values of RFC 3720", () => {
    expect(crc32c(Buffer.from("123456789"))).toBe(0xe3069283);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
  });
});

describe("TensorBoard", () => {
  it("has every scalar of every step, zero and NaN among them, in records whose checksums hold", async () => {
    const folder = fresh();
    const sink = openSinks(folder, { tensorboard: true });
    sink.log(0, { "critic/score/mean": 0, "actor/lr": 1e-6 });
    sink.log(7, { "critic/score/mean": Number.NaN, "eval/pass@1/greedy": -2.5 });
    await sink.close();
    const [name] = files(folder);
    const events = readEvents(readFileSync(join(folder, name!)));
    expect(events[0]).toMatchObject({ fileVersion: "brain.Event:2" });
    expect(events.slice(1).map(({ step, scalars }) => ({ step, scalars }))).toEqual([
      { step: 0, scalars: { "critic/score/mean": 0, "actor/lr": Math.fround(1e-6) } },
      { step: 7, scalars: { "critic/score/mean": Number.NaN, "eval/pass@1/greedy": -2.5 } },
    ]);
    for (const { wallTime } of events) expect(Math.abs(wallTime - Date.now() / 1000)).toBeLessThan(60);
  });

  it("is there after each step: a kill loses nothing", () => {
    const folder = fresh();
    openSinks(folder, { tensorboard: true }).log(1, { a: 1 });
    expect(readEvents(readFileSync(join(folder, files(folder)[0]!)))).toHaveLength(2);
  });

  it("takes back, where a run goes on, the steps that come again", async () => {
    const folder = fresh();
    for (const settings of [{}, { resumedAfter: 5 }]) {
      const sink = openSinks(folder, { tensorboard: true, ...settings });
      sink.log(6, { a: 1 });
      await sink.close();
    }
    const [first, second] = files(folder).map((name) => readEvents(readFileSync(join(folder, name))));
    expect(first!.map(({ restart }) => restart)).toEqual([false, false]);
    expect(second!.map(({ step, restart }) => [step, restart])).toEqual([
      [0, false],
      [6, true],
      [6, false],
    ]);
  });
});

describe("Weights & Biases", () => {
  it("has the run, its config, every step and a summary, whatever the length of a record", async () => {
    const folder = fresh();
    const sink = openSinks(folder, {
      wandb: "offline",
      name: "a run",
      project: "p",
      config: { seed: 1, actor: { loss: "ppo" } },
    });
    // Records that end at, just before and just after a block of 32 KiB, and one over several blocks.
    const lengths = [32000, 500, 32700, 0, 1, 100_000, 60];
    for (const [step, length] of lengths.entries())
      sink.log(step, { [`k${"x".repeat(length)}`]: step, a: -step });
    sink.log(9, { a: Number.NaN, b: Number.POSITIVE_INFINITY });
    await sink.close();
    const records = readWandb(readFileSync(join(folder, files(folder)[0]!)));
    expect(records.map(({ num }) => num)).toEqual(records.map((_, i) => i + 1));
    expect(records[1]!.run).toMatchObject({
      project: "p",
      displayName: "a run",
      config: { seed: 1, actor: { loss: "ppo" } },
    });
    const history = records.flatMap(({ history: row }) => (row === undefined ? [] : [row]));
    expect(history.map(({ _step, a }) => [_step, a])).toEqual([
      ...lengths.map((_, step) => [step, step === 0 ? 0 : -step]),
      [9, "NaN"],
    ]);
    expect(history[5]).toHaveProperty(`k${"x".repeat(100_000)}`, 5);
    expect(records.at(-2)!.summary).toMatchObject({ a: "NaN", b: "Infinity", _step: 9 });
    expect(records.at(-1)!.exit).toBe(true);
  });

  it("has records that begin at every distance from the end of a block", () => {
    for (let room = 0; room < 64; room++) {
      const path = join(fresh(), "run.wandb");
      const file = new WandbFile(path);
      file.write({ summary: { update: [{ key: "k".repeat(32670 + room), valueJson: "1" }] } });
      file.write({ summary: { update: [{ key: "second", valueJson: "2" }] } });
      file.close();
      const records = readWandb(readFileSync(path));
      expect(records.map(({ summary }) => Object.values(summary!))).toEqual([[1], [2]]);
    }
  });

  it("lies where the wandb command looks, and a run that goes on keeps its id", async () => {
    const folder = fresh();
    for (const settings of [{}, { resumedAfter: 1 }]) {
      const sink = openSinks(folder, { wandb: "offline", ...settings });
      sink.log(2, { a: 1 });
      await sink.close();
    }
    const found = files(folder);
    expect(found).toHaveLength(2);
    const pattern = /^wandb\/offline-run-\d{8}_\d{6}-(\w{8})\/run-\1\.wandb$/;
    const ids = found.map((name) => pattern.exec(name)?.[1]);
    expect(ids[0]).toMatch(/^\w{8}$/);
    expect(ids[1]).toBe(ids[0]);
    const runs = found.map((name) => readWandb(readFileSync(join(folder, name)))[1]!.run!);
    expect(runs.map(({ resumed }) => resumed)).toEqual([false, true]);
  });

  it("online: says before the run that the command is missing", () => {
    vi.stubEnv("PATH", root);
    expect(() => openSinks(fresh(), { wandb: "online" })).toThrow(/needs the wandb command/);
  });

  it.each([
    ["hands the folder to wandb sync", 0],
    ["tells where the run lies when that fails", 1],
  ])("online: %s", async (_, code) => {
    const bin = join(fresh(), "bin");
    mkdirSync(bin, { recursive: true });
    const script = `#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "$@" > ${bin}/called\necho no key >&2\nexit ${code}\n`;
    writeFileSync(join(bin, "wandb"), script);
    chmodSync(join(bin, "wandb"), 0o755);
    vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
    const folder = fresh();
    const sink = openSinks(folder, { wandb: "online" });
    const closed = await sink.close().catch((error: Error) => error.message);
    expect(readFileSync(join(bin, "called"), "utf8")).toMatch(
      new RegExp(`^sync ${folder}/wandb/offline-run-\\S+\n$`),
    );
    if (code === 0) expect(closed).toBeUndefined();
    else expect(closed).toMatch(/is complete in .*offline-run-.*: no key$/);
  });
});

describe("no sink", () => {
  it("writes nothing", async () => {
    const folder = fresh();
    const sink = openSinks(folder);
    sink.log(1, { a: 1 });
    await sink.close();
    expect(() => readdirSync(folder)).toThrow(/ENOENT/);
  });

  it("that cannot be written is an error with the path", () => {
    const folder = fresh();
    mkdirSync(folder);
    writeFileSync(join(folder, "tensorboard"), "a file");
    writeFileSync(join(folder, "wandb"), "a file");
    for (const settings of [{ tensorboard: true }, { wandb: "offline" }] as const)
      expect(() => openSinks(folder, settings)).toThrow(new RegExp(`^${folder}/.*: cannot be written: E`));
  });
});
