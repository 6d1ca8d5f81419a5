import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { openCheckpoint } from "../../lib/model/checkpoint.ts";
import { createRunner, type RunnerOptions } from "../../lib/model/runner.ts";
import type { Head, HeadRunner } from "../../lib/model/types.ts";
import { backbone, random, temporaryFolder, writeCheckpoint } from "../support/checkpoint.ts";
import { expectClose, expectSameBits } from "../support/compare.ts";
import { rejection } from "../support/errors.ts";
import { ints, openSession, runAll } from "../support/model.ts";

const CONFIG = {
  model_type: "llama",
  vocab_size: 50,
  hidden_size: 64,
  intermediate_size: 256,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 2048,
};
const HEAD: Head = { kind: "lm-rows", tokenIds: [4, 7] };
const root = await temporaryFolder();
const path = writeCheckpoint(join(root, "model"), CONFIG, backbone(CONFIG, "BF16"));
const uniform = random(2);
const row = (n: number) => Array.from({ length: n }, () => Math.floor(uniform() * 50));
const rows = [row(20), row(5), row(40), row(1)];
const BATCH = { ids: ints(rows), reads: ints([[19, 3], [4], [], [0]]) };
const BIG = { ids: ints(Array.from({ length: 8 }, () => row(2000))), reads: ints(Array(8).fill([1999])) };

async function open(options: RunnerOptions = {}, head: Head = HEAD): Promise<HeadRunner> {
  const runner = await createRunner(await openCheckpoint(path), head, { threads: 1, ...options });
  afterAll(() => runner.close());
  return runner;
}

const worker = join(import.meta.dirname, "..", "..", "dist", "model", "runner-worker.js");

describe.runIf(existsSync(worker))("a model in its own thread", () => {
  test("gives what the session gives, in any number of passes", async () => {
    const session = await openSession(path, HEAD);
    const expected = await runAll(session, BATCH);
    const whole = await open();
    expect([whole.outputs, whole.maxLength]).toEqual([2, 2048]);
    expectSameBits(await whole.run(BATCH), expected);
    const split = await open({ maxTokens: 25 });
    expectClose(await split.run(BATCH), expected, 1e-5);
  });

  test("keeps the caller's arrays and its event loop", async () => {
    const runner = await open();
    const before = BIG.ids.data.slice();
    let [ticks, worst, last] = [0, 0, performance.now()];
    const timer = setInterval(() => {
      const now = performance.now();
      worst = Math.max(worst, now - last);
      last = now;
      ticks++;
    }, 5);
    await runner.run(BIG);
    clearInterval(timer);
    expectSameBits(BIG.ids.data, before);
    expect(ticks).toBeGreaterThan(3);
    expect(worst).toBeLessThan(1000);
  });

  test("runs calls that overlap, each to its own result", async () => {
    const runner = await open();
    const single = rows.map((r) => ({ ids: ints([r]), reads: ints([[r.length - 1]]) }));
    const expected = [];
    for (const batch of single) expected.push(await runner.run(batch));
    const together = await Promise.all(single.map((batch) => runner.run(batch)));
    for (const [i, values] of together.entries()) expectSameBits(values, expected[i]!);
  });

  test("a batch without reads needs no pass", async () => {
    const runner = await open();
    expect(await runner.run({ ids: ints([[1, 2]]), reads: ints([[]]) })).toHaveLength(0);
  });

  test("an aborted run rejects with the reason, and the next one is served", async () => {
    const runner = await open({ maxTokens: 2000 });
    const controller = new AbortController();
    const reason = new Error("enough");
    const running = rejection(() => runner.run(BIG, { signal: controller.signal }));
    setTimeout(() => controller.abort(reason), 20);
    expect((await running).message).toBe("enough");
    expect((await rejection(() => runner.run(BATCH, { signal: controller.signal }))).message).toBe("enough");
    expect(await runner.run(BATCH)).toHaveLength(8);
  });

  test("close waits for the thread, rejects what comes later, and may be called again", async () => {
    const runner = await open();
    const pending = runner.run(BATCH);
    await runner.close();
    expect(await pending).toHaveLength(8);
    expect(await rejection(() => runner.run(BATCH))).toMatchObject({ code: "ERR_CLOSED" });
    await runner.close();
  });

  test("several models at once", async () => {
    const runners = await Promise.all([open(), open({ weights: "float32" }), open({ threads: 2 })]);
    const results = await Promise.all(runners.map((runner) => runner.run(BATCH)));
    for (const values of results) expectClose(values, results[0]!, 1e-5);
  });

  test("a wrong batch is refused, naming row and position", async () => {
    const runner = await open();
    const cases: [batch: object, code: string, message: RegExp][] = [
      [
        { ...BATCH, ids: ints([[1], [50]]), reads: ints([[0], [0]]) },
        "ERR_ARGUMENT_VALUE",
        /ids:.*row 1, position 0, got 50/,
      ],
      [{ ...BATCH, ids: ints([[-1]]), reads: ints([[0]]) }, "ERR_ARGUMENT_VALUE", /ids:.*got -1/],
      [{ ids: ints([[1, 2]]), reads: ints([[2]]) }, "ERR_ARGUMENT_VALUE", /reads:.*\[0, 2\).*got 2/],
      [{ ids: ints([[1, 2]]), reads: ints([[0], [0]]) }, "ERR_SHAPE", /reads: expected the 1 rows/],
      [{ ids: ints([row(2049)]), reads: ints([[0]]) }, "ERR_ARGUMENT_VALUE", /at most 2048 tokens.*got 2049/],
      [{ ...BATCH, targets: BATCH.reads }, "ERR_ARGUMENT_VALUE", /targets: expected none/],
      [{ ids: [[1]], reads: ints([[0]]) }, "ERR_ARGUMENT_TYPE", /ids/],
      [{ ids: ints([]), reads: ints([]) }, "ERR_SHAPE", /at least one row/],
    ];
    for (const [batch, code, message] of cases) {
      const found = await rejection(() => runner.run(batch as typeof BATCH));
      expect(found.message).toMatch(message);
      expect(found.code).toBe(code);
    }
    const tree = (positions: number[], branch: number[], trunkVisible: number[]) => ({
      ids: ints([[1, 2, 3]]),
      reads: ints([[2]]),
      tree: {
        positions: Int32Array.from(positions),
        branch: Int32Array.from(branch),
        trunkVisible: Int32Array.from(trunkVisible),
      },
    });
    const trees: [batch: ReturnType<typeof tree>, message: RegExp][] = [
      [tree([0, 1], [0, 0], [0, 0]), /tree\.positions: expected 3 values/],
      [tree([0, 0, 1], [0, 0, 1], [0, 0, 2]), /tree\.positions: expected rising.*position 1, got 0/],
      [tree([0, 1, 2048], [0, 0, 1], [0, 0, 2]), /tree\.positions:.*got 2048/],
      [tree([0, 1, 2], [0, 0, -1], [0, 0, 2]), /tree\.branch:.*got -1/],
      [tree([0, 1, 2], [0, 0, 1], [0, 0, 3]), /tree\.trunkVisible:.*2 trunk tokens.*got 3/],
    ];
    for (const [batch, message] of trees) {
      expect((await rejection(() => runner.run(batch))).message).toMatch(message);
    }
  });

  test("an LM head wants targets", async () => {
    const runner = await open({}, { kind: "lm" });
    expect((await rejection(() => runner.run(BATCH))).message).toMatch(
      /targets: expected one target per read/,
    );
    const targets = ints([[1, 2], [3], [], [49]]);
    expect(await runner.run({ ...BATCH, targets })).toHaveLength(4);
  });

  test("the runtime is told to report nothing, unless the user said otherwise", async () => {
    const script = `import { createRunner, openCheckpoint } from ${JSON.stringify(new URL("../../dist/model/index.js", import.meta.url).href)};
      const runner = await createRunner(await openCheckpoint(${JSON.stringify(path)}), ${JSON.stringify(HEAD)}, { threads: 1 });
      console.log(process.env.ORT_DISABLE_TELEMETRY);
      await runner.close();`;
    const { ORT_DISABLE_TELEMETRY: _, ...unset } = process.env;
    for (const [env, expected] of [
      [unset, "1"],
      [{ ...unset, ORT_DISABLE_TELEMETRY: "0" }, "0"],
    ] as const) {
      const args = ["--input-type=module", "--eval", script];
      const { stdout } = await promisify(execFile)(process.execPath, args, { env });
      expect(stdout.trim()).toBe(expected);
    }
  });

  test("starts under flags of the engine", async () => {
    const file = join(root, "flags.mjs");
    writeFileSync(
      file,
      `import { createRunner, openCheckpoint } from ${JSON.stringify(new URL("../../dist/model/index.js", import.meta.url).href)};
      const runner = await createRunner(await openCheckpoint(${JSON.stringify(path)}), ${JSON.stringify(HEAD)}, { threads: 1 });
      console.log(runner.outputs);
      await runner.close();`,
    );
    const flags = ["--expose-gc", "--max-old-space-size=512", file];
    const { stdout } = await promisify(execFile)(process.execPath, flags);
    expect(stdout.trim()).toBe("2");
  });

  test("load errors keep their class and code across the thread", async () => {
    const checkpoint = await openCheckpoint(path);
    const found = await rejection(() => createRunner(checkpoint, { kind: "value" }));
    expect(found).toMatchObject({ code: "ERR_INPUT", message: expect.stringMatching(/v_head/) });
    expect(await rejection(() => createRunner(checkpoint, HEAD, { threads: -1 }))).toMatchObject({
      code: "ERR_ARGUMENT_VALUE",
    });
    const lost = new Map(
      [...checkpoint.tensors].map(([name, entry]) => [name, { ...entry, file: join(root, "gone") }]),
    );
    const gone = await rejection(() => createRunner({ ...checkpoint, tensors: lost }, { kind: "lm" }));
    expect(gone).toMatchObject({ code: "ERR_RUNTIME" });
  });

  const run = (script: string, ...flags: string[]) =>
    promisify(execFile)(process.execPath, [...flags, "--input-type=module", "-e", script], {
      timeout: 30000,
    });
  const index = JSON.stringify(join(worker, "..", "index.js"));
  const prelude = `import { openCheckpoint, createRunner } from ${index};
    const checkpoint = await openCheckpoint(${JSON.stringify(path)});
    const head = { kind: "lm-rows", tokenIds: [4, 7] };
    const batch = { ids: { data: Int32Array.of(1, 2), offsets: Int32Array.of(0, 2) },
      reads: { data: Int32Array.of(1), offsets: Int32Array.of(0, 1) } };`;

  test("without onnxruntime-node: an error that names the command", async () => {
    const hook = join(root, "hide.cjs");
    writeFileSync(
      hook,
      `const Module = require("node:module"); const resolve = Module._resolveFilename;
       Module._resolveFilename = function (name, ...rest) {
         if (name === "onnxruntime-node") throw Object.assign(new Error("Cannot find module"), { code: "MODULE_NOT_FOUND" });
         return resolve.call(this, name, ...rest);
       };`,
    );
    const script = `${prelude}
      await createRunner(checkpoint, head).catch((e) => console.log(e.name, e.code, e.message));`;
    const { stdout } = await run(script, "--require", hook);
    expect(stdout).toMatch(/ModelError ERR_DEPENDENCY .*npm install onnxruntime-node@/);
  });

  test("a model that is not closed does not keep the process; ending in mid-run is clean", async () => {
    const idle = `${prelude} const r = await createRunner(checkpoint, head); console.log((await r.run(batch)).length);`;
    expect((await run(idle)).stdout.trim()).toBe("2");
    const busy = `${prelude} const r = await createRunner(checkpoint, head); r.run(batch); process.exit(0);`;
    expect((await run(busy)).stderr).toBe("");
  });
});
