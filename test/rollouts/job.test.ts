import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  combineRewards,
  klPenalty,
  minForm,
  placeSteps,
  ppoLoss,
  ragged,
  repetitionScores,
  rloo,
  strictMinForm,
  sum,
} from "../../lib/index.ts";
import { runAdvantages } from "../../lib/rollouts/index.ts";
import { expectClose } from "../support/compare.ts";
import {
  hasRealFile,
  manyRows,
  readRows,
  REAL_FILE,
  rowOf,
  temporaryFolder,
  writeLines,
} from "../support/rollouts.ts";

const folder = temporaryFolder();
const output = join(folder, "out.jsonl");

// A folder of its own, to see what a job leaves behind.
function emptyFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

describe.skipIf(!hasRealFile())("the job on real solutions", () => {
  it("gives the rows back as they came, in their order, with the library's numbers beside", async () => {
    const { summary } = await runAdvantages({ input: REAL_FILE, output });
    const [given, got] = [readRows(REAL_FILE), readRows(output)];
    expect(got.map(({ min_form, sum_form, ...row }) => row)).toEqual(given);
    for (const group of ["gsm8k-8", "math-0", given[500].group, given.at(-1).group]) {
      const rows = got.filter((row) => row.group === group);
      const stepRewards = ragged(rows.map((row) => row.step_rewards as number[]));
      const verifiable = Float64Array.from(rows, (row) => Number(row.final_answer_correct));
      if (rows.length === 0) continue;
      for (const [key, credit] of [
        ["min_form", minForm(stepRewards)],
        ["sum_form", sum(stepRewards)],
      ] as const) {
        const rewards = combineRewards({ process: credit.rewards, verifiable });
        const { advantages, returns } = rloo(
          rewards,
          rows.map(() => group),
        );
        expectClose(
          rows.map((row) => row[key].outcome),
          credit.outcomes,
          0,
        );
        expectClose(
          rows.flatMap((row) => row[key].rewards),
          credit.rewards.data,
          0,
        );
        expectClose(
          rows.flatMap((row) => row[key].returns),
          returns.data,
        );
        expectClose(
          rows.flatMap((row) => row[key].advantages),
          advantages.data,
        );
      }
      expectClose(
        rows.flatMap((row) => row.min_form.weights),
        minForm(stepRewards).weights.data,
        0,
      );
    }
    expect(summary.rollouts).toBe(851);
    expect(summary.groups).toBe(362);
    expect(summary.answers).toMatchObject({ known: 851, right: 444 });
    expect(summary.generators).toHaveLength(12);
  });

  it("tells right from wrong better by min-form, whose outcome does not grow with the steps", async () => {
    const { summary } = await runAdvantages({ input: REAL_FILE, output });
    const [min, sumForm] = summary.forms;
    expect(min.area).toBeGreaterThan(sumForm.area);
    expect(min.outcomePerStep).toBeCloseTo(0, 9);
    expect(sumForm.outcomePerStep).toBeCloseTo(1, 9);
  });

  it("sums up what a pass over the output by hand gives", async () => {
    const { summary } = await runAdvantages({ input: REAL_FILE, output });
    const rows = readRows(output);
    const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
    const groups = new Set(rows.map((row) => row.group));
    const solved = new Set(rows.filter((row) => row.final_answer_correct).map((row) => row.group));
    expect(summary.answers.passAtN).toBe(solved.size / groups.size);
    expect(summary.stepReward.mean).toBeCloseTo(mean(rows.flatMap((row) => row.step_rewards)), 12);
    expect(summary.steps).toMatchObject({ max: 47, min: 2 });
    for (const [f, key] of (["min_form", "sum_form"] as const).entries()) {
      const form = summary.forms[f]!;
      const advantages = rows.flatMap((row) => row[key].advantages as number[]);
      expect(form.advantages.mean).toBeCloseTo(mean(advantages), 12);
      expect(form.advantages.max).toBe(Math.max(...advantages));
      expect(form.advantages.min).toBe(Math.min(...advantages));
      expect(form.outcome.right.mean).toBeCloseTo(
        mean(rows.filter((row) => row.final_answer_correct).map((row) => row[key].outcome)),
        12,
      );
      expect(form.score.mean).toBeCloseTo(
        mean(rows.map((row) => row[key].outcome + Number(row.final_answer_correct) - 1)),
        9,
      );
    }
    const scores = repetitionScores(rows.map((row) => row.steps.join("\n\n")));
    expect(summary.repetition.all.mean).toBeCloseTo(mean([...scores]), 12);
  });
});

const withTokens = (i: number) => {
  const steps = 1 + (i % 3);
  const ids = Array.from({ length: 2 * steps + 1 }, (_, t) => t);
  return {
    token_ids: ids,
    step_ends: Array.from({ length: steps }, (_, k) => (k + 1 === steps ? ids.length - 1 : 2 * k + 1)),
    log_probs: ids.map((t) => -0.1 * t - 0.01 * (i % 7)),
    old_log_probs: ids.map((t) => -0.1 * t - 0.3 * ((i + 1) % 2)),
    ref_log_probs: ids.map((t) => -0.1 * t - 0.2),
  };
};

describe("the job", () => {
  it("places credit on tokens and adds up the PPO loss over batches", async () => {
    const rows = manyRows(400, 2, withTokens);
    const { summary, settings } = await runAdvantages({
      input: writeLines(folder, rows),
      output,
      clipRatio: 0.1,
    });
    const got = readRows(output);
    const column = (key: string) => ragged(got.map((row) => row[key] as number[]));
    const [logProbs, oldLogProbs, refLogProbs] = ["log_probs", "old_log_probs", "ref_log_probs"].map(
      column,
    ) as [ReturnType<typeof column>, ReturnType<typeof column>, ReturnType<typeof column>];
    const stepEnds = ragged(
      got.map((row) => row.step_ends as number[]),
      "int32",
    );
    const credit = minForm(column("step_rewards"));
    const rewards = combineRewards({
      process: placeSteps(credit.rewards, stepEnds, logProbs.offsets),
      verifiable: Float64Array.from(got, (row) => Number(row.final_answer_correct)),
    });
    const { advantages, returns } = rloo(
      rewards,
      got.map((row) => row.group as string),
    );
    expectClose(
      got.flatMap((row) => row.min_form.token_advantages),
      advantages.data,
    );
    expectClose(
      got.flatMap((row) => row.min_form.token_returns),
      returns.data,
    );
    const { loss, stats } = ppoLoss({ logProbs, oldLogProbs, advantages }, { clipRatio: settings.clipRatio });
    const policy = summary.forms[0].policy!;
    expect(summary.unit).toBe("token");
    expect(stats.clipFraction).toBeGreaterThan(0);
    expectClose(
      [
        policy.loss,
        policy.clipFraction,
        policy.meanRatio,
        policy.minRatio,
        policy.maxRatio,
        policy.approxKl,
        policy.approxKlK3,
      ],
      [
        loss,
        stats.clipFraction,
        stats.meanRatio,
        stats.minRatio,
        stats.maxRatio,
        stats.approxKl,
        stats.approxKlK3,
      ],
    );
    expectClose([policy.referenceKl!], [klPenalty({ logProbs, refLogProbs }).loss]);
    expect(policy.tokens).toBe(logProbs.data.length);
  });

  it("hands its settings to the library", async () => {
    const rows = manyRows(5, 3);
    const settings = {
      credit: "strict-min-form",
      baseline: "step",
      coefficient: 0.5,
      verifiableCoding: "zero-one",
    } as const;
    const { summary } = await runAdvantages({ input: writeLines(folder, rows), output, ...settings });
    const got = readRows(output);
    const stepRewards = ragged(got.map((row) => row.step_rewards as number[]));
    const rewards = combineRewards({
      process: strictMinForm(stepRewards).rewards,
      verifiable: Float64Array.from(got, (row) => Number(row.final_answer_correct)),
      coefficient: 0.5,
      verifiableCoding: "zero-one",
    });
    const { advantages } = rloo(
      rewards,
      got.map((row) => row.group as string),
      { baseline: "step" },
    );
    expectClose(
      got.flatMap((row) => row.strict_min_form.advantages),
      advantages.data,
    );
    expect(got[0].strict_min_form.weights).toBeUndefined();
    expect(summary.forms.map(({ form }) => form)).toEqual(["strict-min-form", "sum-form"]);
  });

  it.each([
    ["temperature", { temperature: 0 }],
    ["temperature", { temperature: Number.NaN }],
    ["coefficient", { coefficient: Number.POSITIVE_INFINITY }],
    ["clipRatio", { clipRatio: 2 }],
    ["baseline", { baseline: "none" as never }],
    ["credit", { credit: "sum-form" as never }],
    ["verifiableCoding", { verifiableCoding: "one" as never }],
  ])("rejects a bad %s", async (name, settings) => {
    const job = runAdvantages({ input: writeLines(folder, [rowOf()]), output, ...settings });
    await expect(job).rejects.toMatchObject({
      code: "ERR_ARGUMENT_VALUE",
      message: expect.stringContaining(name),
    });
  });

  it("keeps the order of the input when groups are interleaved, with the same numbers", async () => {
    const rows = manyRows(700, 2);
    const interleaved = [...rows.filter((_, i) => i % 2 === 0), ...rows.filter((_, i) => i % 2 === 1)];
    await runAdvantages({ input: writeLines(folder, rows), output });
    const expected = new Map(readRows(output).map((row) => [row.id, row]));
    await runAdvantages({ input: writeLines(folder, interleaved), output });
    const got = readRows(output);
    expect(got.map((row) => row.id)).toEqual(interleaved.map((row) => (row as { id: string }).id));
    for (const row of got) expect(row).toEqual(expected.get(row.id));
  });

  it("gives the same bytes again", async () => {
    const input = writeLines(folder, manyRows(600, 2, withTokens));
    await runAdvantages({ input, output });
    const first = readFileSync(output);
    await runAdvantages({ input, output });
    expect(readFileSync(output).equals(first)).toBe(true);
  });

  it("keeps every byte of a row, and replaces its own keys when output is input again", async () => {
    const line = '{ "seed":12345678901234567890 ,"group":"g","steps":["}"],"step_rewards":[1.0e0] }';
    const input = writeLines(folder, [line]);
    await runAdvantages({ input, output });
    expect(readFileSync(output, "utf8").startsWith(`${line.slice(0, -1)}, `)).toBe(true);
    const again = join(folder, "again.jsonl");
    await runAdvantages({ input: output, output: again });
    expect(readRows(again)).toEqual(readRows(output));
    expect(readFileSync(again, "utf8").match(/"min_form"/g)).toHaveLength(1);
  });

  it("leaves out bad lines on request, and counts them", async () => {
    const rows = manyRows(3);
    const lines = [...rows.slice(0, 2), "oops", ...rows.slice(2), rowOf({ step_rewards: [1] })];
    const { summary } = await runAdvantages({ input: writeLines(folder, lines), output, onError: "skip" });
    expect(summary.badLineCount).toBe(2);
    expect(summary.badLines.map(({ line }) => line)).toEqual([3, 8]);
    expect(readRows(output).map((row) => row.id)).toEqual(rows.map((row) => (row as { id: string }).id));
  });

  it("is defined for groups of one, solutions without steps and answers that are not known", async () => {
    const rows = [
      rowOf({ group: "alone", final_answer_correct: true }),
      rowOf({ group: "pair" }),
      rowOf({ group: "pair", steps: [], step_rewards: [] }),
    ];
    const { summary } = await runAdvantages({ input: writeLines(folder, rows), output });
    const got = readRows(output);
    expect(got[0].min_form.advantages).toEqual([0, 0]);
    expect(got[2].min_form).toMatchObject({ outcome: 0, advantages: [], weights: [] });
    expect(summary.groupStats.singletons).toBeGreaterThanOrEqual(1);
    expect(summary.answers).toMatchObject({ known: 1, right: 1, groups: 1, passAtN: 1 });
    expect(summary.forms[0].area).toBeNaN();
  });

  it("puts the rollouts of too many models together", async () => {
    const rows = manyRows(150, 2, (i) => ({ generator: `model ${i}` }));
    const { summary } = await runAdvantages({ input: writeLines(folder, rows), output });
    expect(summary.generators).toHaveLength(201);
    expect(summary.generators[0]).toMatchObject({ name: "(others)", rollouts: 100 });
  });

  it("picks solutions on which the forms disagree, whichever batch they are in", async () => {
    const rows = manyRows(600, 2, (i) => ({
      question: `${i}`,
      final_answer_correct: i % 2 === 0,
      steps: ["a"],
      step_rewards: [0],
    }));
    Object.assign(rows[1100]!, { steps: ["a"], step_rewards: [0.5] });
    Object.assign(rows[1101]!, { steps: ["a", "b", "c", "d"], step_rewards: [1, 1, 1, -1] });
    const { examples } = await runAdvantages({ input: writeLines(folder, rows), output });
    expect(examples.map(({ kind, group }) => [kind, group])).toEqual([
      ["disagree", "g550"],
      ["plain", "g0"],
    ]);
    expect(examples[0]!.solutions.map(({ correct }) => correct)).toEqual([true, false]);
  });
});

describe("a job that does not finish", () => {
  it("leaves nothing behind when a line is bad, and an older output as it was", async () => {
    const here = emptyFolder("bad");
    const old = join(here, "out.jsonl");
    writeFileSync(old, "old");
    const input = writeLines(folder, [...manyRows(2), "oops"]);
    await expect(runAdvantages({ input, output: old })).rejects.toThrow(/in\.jsonl:5: not JSON/);
    expect(readdirSync(here)).toEqual(["out.jsonl"]);
    expect(readFileSync(old, "utf8")).toBe("old");
  });

  it.each(["reading", "computing"] as const)(
    "leaves nothing behind when it is cancelled while %s",
    async (phase) => {
      const here = emptyFolder(`cancelled-${phase}`);
      const controller = new AbortController();
      const job = runAdvantages({
        input: writeLines(folder, manyRows(2000)),
        output: join(here, "out.jsonl"),
        report: { path: join(here, "report.html"), render: () => "report" },
        signal: controller.signal,
        onProgress: (progress) => {
          if (progress.phase === phase) controller.abort(new Error("enough"));
        },
      });
      await expect(job).rejects.toThrow();
      expect(readdirSync(here)).toEqual([]);
    },
  );

  it("leaves nothing behind when the report fails", async () => {
    const here = emptyFolder("report");
    const render = () => {
      throw new Error("no report");
    };
    const job = runAdvantages({
      input: writeLines(folder, manyRows(2)),
      output: join(here, "out.jsonl"),
      report: { path: join(here, "report.html"), render },
    });
    await expect(job).rejects.toThrow("no report");
    expect(readdirSync(here)).toEqual([]);
  });

  it("says which output cannot be written", async () => {
    const input = writeLines(folder, manyRows(2));
    const missing = join(folder, "missing", "out.jsonl");
    await expect(runAdvantages({ input, output: missing })).rejects.toMatchObject({
      code: "ERR_INPUT",
      message: expect.stringContaining(`${missing}: cannot be written`),
    });
    await expect(runAdvantages({ input, output: folder })).rejects.toThrow(/it is a folder/);
    const here = emptyFolder("unwritable-report");
    const report = { path: join(here, "missing", "r.html"), render: () => "" };
    await expect(runAdvantages({ input, output: join(here, "out.jsonl"), report })).rejects.toThrow(
      /cannot be written/,
    );
    expect(readdirSync(here)).toEqual([]);
  });

  it("refuses to write over its input, or two outputs to one file", async () => {
    const input = writeLines(folder, manyRows(2));
    await expect(runAdvantages({ input, output: join(folder, ".", "in.jsonl") })).rejects.toMatchObject({
      code: "ERR_ARGUMENT_VALUE",
    });
    const report = { path: output, render: () => "" };
    await expect(runAdvantages({ input, output, report })).rejects.toMatchObject({
      code: "ERR_ARGUMENT_VALUE",
    });
    expect(readRows(input)).toHaveLength(4);
  });
});
