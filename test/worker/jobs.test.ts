// Long jobs and the ends of threads and processes: no abort, no hang. Each scenario is a process of its own, on the
// built library (npm run build).
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const script = fileURLToPath(new URL("./scripts/main.mjs", import.meta.url));
const built = fileURLToPath(new URL("../../dist/index.js", import.meta.url));

function run(scenario: string): Promise<{ code: number | null; signal: string | null; out: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, scenario], { timeout: 90_000 }, (error, out) => {
      const { code = 0, signal = null } = (error ?? {}) as { code?: number | null; signal?: string | null };
      resolve({ code, signal, out: out.trim() });
    });
  });
}

describe("native jobs", { timeout: 120_000 }, () => {
  it("the library is built", () => {
    expect(existsSync(built), `${built} is missing: npm run build`).toBe(true);
  });

  it.each([
    ["several", "main thread and workers give the same bits", 0, "same"],
    ["terminate", "a worker ended mid-work leaves the others working", 0, "survived"],
    ["terminateWaiting", "a worker's waiting jobs go with it, at once", 0, "worker,jobs"],
    ["workerExit", "process.exit() in a worker mid-work", 0, "3 survived"],
    ["exit", "process.exit() mid-work", 0, "leaving"],
    ["exitWithWorkers", "process.exit() with workers mid-work", 0, "leaving"],
    ["stayAlive", "a pending job keeps the process alive, a settled one does not", 0, "done"],
    ["uncaught", "an uncaught error mid-work ends the process as ever", 1, ""],
  ])("%s: %s", async (scenario, _, code, out) => {
    expect(await run(scenario)).toEqual({ code, signal: null, out });
  });
});
