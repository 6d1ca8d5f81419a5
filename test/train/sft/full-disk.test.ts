// A limit on the size of files stands for a disk that is full: the write fails in the middle of a checkpoint.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { type SftConfig, trainSft } from "../../../lib/train/sft/train.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { expectSameRun, runPhase } from "../support.ts";

const root = await temporaryFolder();
const MAIN = new URL("../../../dist/cli/main.js", import.meta.url).pathname;
const config: SftConfig = {
  model: "arithmetic",
  data: "arithmetic",
  rows: 60,
  steps: 6,
  batch: 8,
  learningRate: 4e-3,
  checkpointEvery: 2,
};

it("ends the run with the file's name, and the last checkpoint stays good", async () => {
  const [folder, whole] = [join(root, "full"), join(root, "whole")];
  const stopped = new AbortController();
  await trainSft(config, {
    folder,
    signal: stopped.signal,
    onProgress: ({ step }) => step === 2 && stopped.abort(),
  }).catch(() => undefined);
  expect(readdirSync(join(folder, "checkpoints"))).toEqual(["step-000002"]);

  writeFileSync(`${folder}.yaml`, stringify(config));
  // The weights fit into 600 KiB, the moments do not.
  const command = `ulimit -f 600 && exec "$0" "$@"`;
  const args = [process.execPath, MAIN, "sft", `${folder}.yaml`, "--out-dir", folder, "--quiet", "--resume"];
  const failed = await promisify(execFile)("bash", ["-c", command, ...args]).catch((error: unknown) => error);
  expect(failed).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^minform: .*optimizer\.safetensors: cannot be written: EFBIG/),
  });
  expect(readdirSync(join(folder, "checkpoints"))).toEqual(["step-000002"]);
  expect(JSON.parse(readFileSync(join(folder, "latest.json"), "utf8")).step).toBe(2);

  await runPhase("sft", config, folder, { resume: true });
  await trainSft(config, { folder: whole });
  expectSameRun(folder, whole);
});
