// Device tensors in several threads, and processes and workers that end in the middle. Runs the built package.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { describeEmulated } from "./emulated.ts";

const main = fileURLToPath(new URL("./fixtures/main.mjs", import.meta.url));

async function run(job: string): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [main, job], { timeout: 40_000, killSignal: "SIGKILL" });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out, err };
}

describeEmulated("threads and ends", () => {
  it.each([
    ["workers", "1 20\n"],
    ["terminate", "1 true\n"],
    ["exit", ""],
    ["exit-with-busy-workers", ""],
  ])("%s", async (job, out) => {
    expect(await run(job)).toEqual({ code: 0, out, err: "" });
  });
});
