// What is wrong with models and data is said when they are loaded, by the key that names them.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { trainRl } from "../../../lib/train/rl/index.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { rejection } from "../../support/errors.ts";
import { freshPolicy, parityScorer, tiny } from "./support.ts";

const root = await temporaryFolder();
const base = await freshPolicy(root);
const CONTEXT = 128;
let runs = 0;

function lines(name: string, rows: readonly object[]): string {
  const path = join(root, `${name}-${runs++}.jsonl`);
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return path;
}

const prompts = (count: number, more: (i: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, i) => ({ prompt: `${i}+1=`, ...more(i) }));
const answered = (count: number) => prompts(count, (i) => ({ answer: i + 1 }));
const long = (terms: number) => ({ prompt: `1${"+1-1".repeat(terms)}=`, answer: 1 });

async function start(more: Parameters<typeof tiny>[1]) {
  const warnings: string[] = [];
  const config = tiny(base, { steps: 1, ...more });
  const hooks = { scorer: parityScorer, onWarning: (message: string) => warnings.push(message) };
  const run = () => trainRl(config, { folder: join(root, `run-${runs++}`), hooks });
  return { run, warnings };
}

async function faultOf(more: Parameters<typeof tiny>[1]): Promise<string> {
  const { message, code } = await rejection((await start(more)).run);
  return `${code} ${message}`;
}

async function warningsOf(more: Parameters<typeof tiny>[1]): Promise<string[]> {
  const { run, warnings } = await start(more);
  await run();
  return warnings;
}

const evaluated = { before: true, every: 0 };

describe("answers", () => {
  it.each(["vr", "prm+vr"])("mode %s refuses training data without any", async (mode) => {
    const train = lines(
      "none",
      prompts(5, () => ({ answer: 1 })),
    );
    const data = { train, answerKey: "anwser" };
    expect(await faultOf({ reward: { mode }, data })).toBe(
      `ERR_INPUT data.train: ${train}: expected answers for reward.mode "${mode}", ` +
        "0 of 5 prompts have an answer at data.answerKey = anwser",
    );
  });

  it("names the usual keys where none is asked for", async () => {
    const fault = await faultOf({ reward: { mode: "vr" }, data: { train: lines("none", prompts(5)) } });
    expect(fault).toContain(
      "data.answerKey (by default answer, final_answer, gt, reward_model.ground_truth)",
    );
  });

  it("that some prompts lack are counted, and none are needed for process rewards", async () => {
    const train = lines("some", [...answered(4), { prompt: "8+1=" }]);
    expect(await warningsOf({ reward: { mode: "vr" }, data: { train } })).toContainEqual(
      expect.stringMatching(
        /some.*: 4 of 5 prompts have an answer at data\.answerKey .*no verifiable reward$/,
      ),
    );
    expect((await warningsOf({ reward: { mode: "prm" }, data: { train } })).join()).not.toContain("answer");
  });

  it("that no held-out prompt has are a warning", async () => {
    const data = { eval: lines("held", prompts(3)) };
    expect(await warningsOf({ reward: { mode: "vr" }, data, eval: evaluated })).toContainEqual(
      expect.stringMatching(/held.*: 0 of 3 prompts have an answer .*: no eval\/pass@1$/),
    );
  });
});

describe("prompts too long for the model's context", () => {
  it("are left out, in training and in evaluation", async () => {
    const rows = [...answered(4), long(31)]; // 127 tokens
    const data = { train: lines("train", rows), eval: lines("held", rows) };
    const why = `are longer than ${CONTEXT - 10} tokens, what rollout.maxTokens = 10 leaves of the model's context of ${CONTEXT} tokens, and left out`;
    const warnings = await warningsOf({ reward: { mode: "vr" }, data, eval: { ...evaluated, prompts: 9 } });
    expect(warnings).toContainEqual(`${data.train}: 1 of 5 prompts ${why}`);
    expect(warnings).toContainEqual(`${data.eval}: 1 of 5 prompts ${why}`);
  });

  it("may fill it to the last token", async () => {
    const train = lines("train", [...answered(2), long(29)]); // 119 tokens
    const warnings = await warningsOf({
      reward: { mode: "vr" },
      data: { train },
      rollout: { maxTokens: CONTEXT - 119 },
    });
    expect(warnings.join()).not.toContain("left out");
  });

  it("are not the fault of data.maxPromptTokens where that is less", async () => {
    const data = { train: lines("train", [...answered(4), long(5)]), maxPromptTokens: 10 };
    expect(await warningsOf({ reward: { mode: "vr" }, data })).toContainEqual(
      `${data.train}: 1 of 5 prompts are longer than 10 tokens, and left out`,
    );
  });

  it("say so when too few are left", async () => {
    const data = { train: lines("train", answered(5)) };
    expect(await faultOf({ reward: { mode: "vr" }, data, rollout: { maxTokens: CONTEXT - 1 } })).toMatch(
      /expected at least rollout\.prompts = 3 prompts of at most 1 tokens, what rollout\.maxTokens = 127 leaves .*, got 0$/,
    );
  });

  it("rollout.maxTokens leaves room for one", async () => {
    expect(await faultOf({ reward: { mode: "vr" }, rollout: { maxTokens: CONTEXT } })).toBe(
      `ERR_INPUT rollout.maxTokens: expected less than the model's context of ${CONTEXT} tokens, got ${CONTEXT}, which leaves none for prompts`,
    );
  });
});

describe("a checkpoint that is not there", () => {
  const nowhere = join(root, "nowhere");

  it.each([
    ["model.path", { model: { path: nowhere } }],
    ["kl.reference", { kl: { reference: nowhere } }],
    ["critic.path", { critic: { path: nowhere }, algorithm: { estimator: "gae" } }],
  ])("is named by %s", async (key, more) => {
    expect(await faultOf({ reward: { mode: "vr" }, ...more })).toContain(
      `ERR_INPUT ${key}: ${nowhere}: no such folder`,
    );
  });

  it.each([{}, { online: { enabled: true } }])("is named by reward.prm: %j", async (more) => {
    const config = tiny(base, { reward: { mode: "prm", prm: nowhere }, ...more });
    const { message } = await rejection(() => trainRl(config, { folder: join(root, `run-${runs++}`) }));
    expect(message).toContain(`reward.prm: ${nowhere}: no such folder`);
  });

  it("or has no tokenizer", async () => {
    const other = join(root, "other");
    mkdirSync(other);
    const path = await freshPolicy(other);
    rmSync(join(path, "tokenizer.json"));
    rmSync(join(path, "tokenizer_config.json"), { force: true });
    expect(await faultOf({ reward: { mode: "vr" }, model: { path } })).toBe(
      `ERR_INPUT model.path: ${path}: has no tokenizer.json`,
    );
  });
});
