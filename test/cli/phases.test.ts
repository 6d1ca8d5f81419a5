import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../support/rollouts.ts";
import { run } from "./in-process.ts";

const root = temporaryFolder();
afterEach(() => vi.restoreAllMocks());

const write = (name: string, text: string) => {
  const path = join(root, name);
  writeFileSync(path, text);
  return path;
};
const SFT = write("sft.yaml", "{ model: arithmetic, data: arithmetic, rows: 8, steps: 1, batch: 4 }");
const TRAIN = write(
  "rl.yaml",
  `steps: 1
model: { path: sft/model }
data: { train: "arithmetic:train" }
rollout: { prompts: 1, n: 2, maxTokens: 4 }
reward: { mode: vr }
`,
);
const PRM = write(
  "prm.yaml",
  `{ model: sft/model, data: arithmetic, separator: "\\n\\n", samples: 8, heldOutSamples: 4, all: { epochs: 0 } }`,
);

describe("minform sft", () => {
  it("tells how many rows it trained on, and how many were too long", async () => {
    const rows = [
      { prompt: "1=", completion: "1" },
      { prompt: "1=", completion: "1".repeat(200) },
    ];
    write("rows.jsonl", rows.map((row) => JSON.stringify(row)).join("\n"));
    const { stdout } = await run("sft", SFT, "--set", "data=rows.jsonl", "--out-dir", join(root, "rows"));
    expect(stdout).toContain("1 steps\n1 rows, 1 left out as too long\nmodel ");
  });
});

describe("--resume", () => {
  it.each([
    ["sft", SFT],
    ["train-prm", PRM],
    ["train", TRAIN],
  ])("says that there is no run to go on with: %s", async (command, file) => {
    const folder = join(root, command === "sft" ? "sft" : `fresh-${command}`);
    const note = `no run in ${folder}: starting from the first step\n`;
    const first = await run(command, file, "--resume", "--out-dir", folder);
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining(note) });
    expect(existsSync(join(folder, "model"))).toBe(true);
    const again = await run(command, file, "--resume", "--out-dir", folder);
    expect(again.code).toBe(0);
    expect(again.stderr).not.toContain("first step");
    const quiet = await run(command, file, "--resume", "--quiet", "--out-dir", `${folder}-quiet`);
    expect(quiet.code).toBe(0);
    expect(quiet.stderr).not.toContain("no run");
  });
});

describe("a config of another command", () => {
  it.each([
    ["train", SFT, "rows: no such key", "minform sft"],
    ["sft", PRM, "separator: no such key", "minform train-prm"],
    ["train-prm", TRAIN, "rollout: no such key", "minform train"],
    ["experiment", TRAIN, "rollout: no such key", "minform train"],
    ["train", write("both.yaml", "{ model: m, data: d }"), "model: ", "minform sft or minform train-prm"],
  ])("is recognised: minform %s %s", async (command, file, fault, other) => {
    const { code, stderr } = await run(command, file);
    expect(code).toBe(1);
    expect(stderr).toContain(fault);
    expect(stderr).toContain(`this looks like a config of ${other}\n`);
  });

  it("is not what a wrong setting makes of one's own", async () => {
    const { stderr } = await run("sft", SFT, "--set", "batc=3");
    expect(stderr).toContain("batc: no such key; did you mean batch?\n");
  });
});
