// The addon in several threads at once, and processes and workers that end while kernels run. Runs the built package:
// worker threads of Node 20 cannot load TypeScript.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { beforeAll, describe, expect, it } from "vitest";
import { getNumThreads, setNumThreads } from "../../lib/index.ts";

interface Computed {
  norm: number;
  digest: string;
}

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

async function inWorker<T>(workerData: { job: string; seed?: number }): Promise<T> {
  const worker = new Worker(fixture("worker.mjs"), { workerData });
  const [message] = (await once(worker, "message")) as [T];
  const [code] = await once(worker, "exit");
  expect(code).toBe(0);
  return message;
}

/** Runs fixtures/main.mjs; a hang is killed after 30 s and then shows as the signal. */
async function runMain(
  job: string,
): Promise<{ code: number | null; signal: string | null; out: string; err: string }> {
  const child = spawn(process.execPath, [fixture("main.mjs"), job], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 30_000,
    killSignal: "SIGKILL",
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { code, signal, out, err };
}

let expected: Computed;
beforeAll(async () => {
  if (!existsSync(fileURLToPath(new URL("../../dist/index.js", import.meta.url))))
    throw new Error("dist/ is missing: run `npm run build:lib` first");
  const { compute } = (await import(fixture("compute.mjs"))) as { compute(): Computed };
  expected = compute();
});

describe("worker threads", () => {
  it("main thread and workers give the same bits, at the same time", async () => {
    const results = await Promise.all(
      Array.from({ length: 4 }, () => inWorker<Computed>({ job: "compute" })),
    );
    for (const result of results) expect(result).toEqual(expected);
  });

  it("setNumThreads in several workers at once changes no result; it holds for the process", async () => {
    const before = getNumThreads();
    const all = await Promise.all(
      [0, 1, 2].map((seed) => inWorker<{ results: Computed[]; threads: number }>({ job: "threads", seed })),
    );
    for (const { results, threads } of all) {
      for (const result of results) expect(result).toEqual(expected);
      expect(threads).toBeGreaterThanOrEqual(1);
      expect(threads).toBeLessThanOrEqual(4);
    }
    setNumThreads(before);
    expect(getNumThreads()).toBe(before);
  });
});

describe("ending while kernels run", () => {
  it.each(["exit-with-busy-workers", "exit-right-after-a-kernel"])("%s: exit code 0", async (job) => {
    for (let round = 0; round < 3; round++) {
      expect(await runMain(job)).toEqual({ code: 0, signal: null, out: "", err: "" });
    }
  });

  it.each(["terminate-busy-workers", "start-and-terminate-again-and-again"])(
    "%s: the process goes on and computes the same",
    async (job) => {
      const ended = await runMain(job);
      expect(ended).toEqual({ code: 0, signal: null, out: `${expected.norm}\n`, err: "" });
    },
  );

  // Node unloads an addon with the last environment that uses it; the threads of the pool would then run into nothing.
  it.runIf(process.platform === "linux")("the addon stays mapped after the last worker", async () => {
    expect(await runMain("mapped-after-the-last-worker")).toMatchObject({ code: 0, out: "0 true\n" });
  });

  it("SIGTERM ends a process inside a kernel", async () => {
    const child = spawn(process.execPath, [fixture("main.mjs"), "wait-to-be-killed"]);
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    const [code, signal] = await once(child, "exit");
    expect([code, signal]).toEqual([null, "SIGTERM"]);
  });
});
