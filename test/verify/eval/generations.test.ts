// Which problem a generation answers, and what becomes of those that fit none.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type EvalDataset,
  type EvalResults,
  type EvaluateOptions,
  evaluate,
  fileGenerator,
} from "../../../lib/verify/eval/index.ts";
import { sharedPath } from "../../support/checkpoints.ts";
import { temporaryFolder, writeLines } from "../../support/rollouts.ts";
import { boxed, datasetOf, textGrader } from "./support.ts";

const folder = temporaryFolder();
let files = 0;

function evaluateRows(
  rows: readonly (object | string)[],
  datasets?: readonly EvalDataset[],
  options: Partial<EvaluateOptions> = {},
): Promise<EvalResults> {
  const path = writeLines(folder, rows, `rows${files++}.jsonl`);
  return evaluate(fileGenerator([{ path }]), {
    grader: textGrader,
    ...(datasets && { datasets }),
    ...options,
  });
}

const set = datasetOf(["1", "2"]);

describe("rows", () => {
  it("one sample a row, by id, idx or question", async () => {
    const { datasets, bad } = await evaluateRows(
      [
        { id: "0", response: boxed("1") },
        { id: 0, response: boxed("9"), sample: 1 },
        { idx: 1, response: boxed("2") },
        { question: " Question\n1? (Yes or No)", response: boxed("2") },
      ],
      [set],
    );
    expect(bad).toEqual([]);
    expect(datasets[0]!.problems.map(({ right, samples }) => [right, samples.length])).toEqual([
      [1, 2],
      [2, 2],
    ]);
  });

  it("all samples of a problem in one row, as Qwen's evaluation writes them, or in responses", async () => {
    const { datasets } = await evaluateRows(
      [
        { idx: 0, question: "Question 0?", gt: "1", code: [boxed("1"), boxed("3")], pred: ["1", "3"] },
        { idx: 1, responses: [boxed("2"), boxed("2")], finish_reason: ["stop", "length"] },
      ],
      [set],
    );
    expect(datasets[0]!.pass[0]!.value).toBe(0.75);
    expect(datasets[0]!.counts).toMatchObject({ graded: 4, truncated: 1 });
  });

  it("without a dataset each row brings its reference, and the file names the set", async () => {
    const path = writeLines(
      folder,
      [
        { id: "a", reference: "1", response: boxed("1"), level: 1 },
        { id: "b", gt: 2, response: boxed("3"), level: 5 },
      ],
      "test_t0.jsonl",
    );
    const { datasets } = await evaluate(fileGenerator([{ path }]), { grader: textGrader });
    expect(datasets).toMatchObject([{ name: "test_t0", samples: 1, pass: [{ value: 0.5 }] }]);
    expect(datasets[0]!.types.map(({ value }) => value)).toEqual(["1", "5"]);
    const named = await evaluate(fileGenerator([{ path, dataset: "minerva_math" }]), { grader: textGrader });
    expect(named.datasets).toMatchObject([{ name: "minerva_math", title: "Minerva Math" }]);
  });

  it("several files of several datasets, told apart by path, row or name", async () => {
    const sets = [datasetOf(["1"], "aime24"), datasetOf(["2"], "amc23")];
    const write = (name: string, row: object) => writeLines(folder, [row], name);
    const run = async (list: Parameters<typeof fileGenerator>[0]) =>
      (await evaluate(fileGenerator(list), { grader: textGrader, datasets: sets })).datasets.map(
        ({ pass }) => pass[0]!.value,
      );
    const aime = write("aime24.jsonl", { idx: 0, response: boxed("1") });
    const amc = write("AMC-2023_out.jsonl", { idx: 0, response: boxed("2") });
    expect(await run([{ path: aime }, { path: amc }])).toEqual([1, 1]);
    const other = write("x.jsonl", { idx: 0, response: boxed("2") });
    expect(await run([{ path: aime }, { path: other, dataset: "amc23" }])).toEqual([1, 1]);
    const row = write("y.jsonl", { dataset: "AMC_2023", idx: 0, response: boxed("2") });
    expect(await run([{ path: row }])).toEqual([0, 1]);
  });
});

describe("what fits no problem is reported", () => {
  const good = { idx: 0, response: boxed("1") };

  it.each<[string, object | string, RegExp]>([
    ["an unknown id", { id: "7", response: "x" }, /no problem has "id 7"/],
    [
      "an unknown idx and question",
      { idx: 7, question: "What?", response: "x" },
      /no problem has "index 7" or "quest/,
    ],
    [
      "another question",
      { idx: 1, question: "What?", response: "x" },
      /question: expected that of set 1, "Question 1/,
    ],
    ["another dataset", { dataset: "other", idx: 1, response: "x" }, /dataset: expected set, got other/],
    ["no name", { response: "x" }, /expected id, idx or question, got none/],
    ["no response", { idx: 1, answer: "2" }, /expected response or responses or code, got idx, answer/],
    ["a response that is no text", { idx: 1, response: 5 }, /response: expected a list of strings, got 5/],
    ["a list with something else", { idx: 1, code: ["a", null] }, /code\[1\]: expected strings, got null/],
    ["an idx that is none", { idx: -1, response: "x" }, /idx: expected an integer >= 0, got -1/],
    [
      "a sample number that is none",
      { idx: 1, sample: 0.5, response: "x" },
      /sample: expected an integer, got 0.5/,
    ],
    ["a broken line", '{"idx": 1, "response": "x', /no JSON/],
    ["a line that is no object", "[1]", /expected a JSON object/],
  ])("%s", async (_, row, expected) => {
    const { bad, datasets } = await evaluateRows([good, row], [set]);
    expect(bad).toHaveLength(1);
    expect(bad[0]!.place).toMatch(/rows\d+\.jsonl:2$/);
    expect(bad[0]!.message).toMatch(expected);
    expect(datasets[0]!.counts).toMatchObject({ graded: 1, missing: 1 });
  });

  it("a question that stands twice", async () => {
    const [first, second] = set.problems;
    const twice = { ...set, problems: [first!, { ...second!, question: first!.question }] };
    const { bad } = await evaluateRows([good, { question: "Question 0?", response: "x" }], [twice]);
    expect(bad[0]!.message).toMatch(/expected one problem, got set 0, set 1/);
  });

  it("an id that several datasets have", async () => {
    const sets = [datasetOf(["1"], "a"), datasetOf(["1"], "b")];
    const { bad } = await evaluateRows([{ dataset: "a", idx: 0, response: "x" }, good], sets);
    expect(bad[0]!.message).toMatch(/"index 0": expected one problem, got a 0, b 0/);
  });

  it("without a dataset: no reference, or two", async () => {
    const rows = [
      { id: "a", reference: "1", response: boxed("1") },
      { id: "a", reference: "2", response: boxed("2") },
      { id: "b", response: boxed("2") },
    ];
    const { bad, datasets } = await evaluateRows(rows);
    expect(bad.map(({ message }) => message)).toEqual([
      expect.stringMatching(/reference: expected "1" as in the samples of rows\d+ a before, got "2"/),
      expect.stringMatching(/reference: expected the right answer beside the response, or a dataset/),
    ]);
    expect(datasets[0]!.counts.graded).toBe(1);
  });

  it("nothing that fits is an error", async () => {
    await expect(evaluateRows([{ id: "7", response: "x" }], [set])).rejects.toMatchObject({
      code: "ERR_INPUT",
      message: expect.stringMatching(
        /no sample belongs to a problem: .*rows\d+\.jsonl:1: no problem has "id 7"/,
      ),
    });
    await expect(evaluateRows([], [set])).rejects.toThrow(/it gave nothing/);
    const path = join(folder, "none.jsonl");
    await expect(evaluate(fileGenerator([{ path }]), { grader: textGrader })).rejects.toThrow(
      /none\.jsonl: cannot be read/,
    );
  });
});

describe("missing and doubled samples", () => {
  const answer = (idx: number, text: string, more: object = {}) => ({ idx, response: boxed(text), ...more });

  it("missing ones count as wrong, or are left out", async () => {
    const rows = [answer(0, "1"), answer(0, "1"), answer(2, "3"), answer(2, "0"), answer(3, "4")];
    const four = datasetOf(["1", "2", "3", "4"]);
    const wrong = (await evaluateRows(rows, [four])).datasets[0]!;
    // of 2 samples each: 2, 0, 1 and 1 right
    expect(wrong.pass.map(({ value }) => value)).toEqual([4 / 8, 3 / 4]);
    expect(wrong.problems.map(({ missing }) => missing)).toEqual([0, 2, 0, 1]);
    expect(wrong.counts).toMatchObject({ graded: 5, missing: 3 });
    const skip = (await evaluateRows(rows, [four], { missing: "skip" })).datasets[0]!;
    // problem 1 is left out; pass@2 needs 2 samples, so problem 3 is too
    expect(skip.pass.map(({ value, problems }) => [value, problems])).toEqual([
      [(1 + 1 / 2 + 1) / 3, 3],
      [1, 2],
    ]);
    expect(skip.counts.missing).toBe(3);
  });

  it("a number that was there before, and samples past n, are surplus: the first count", async () => {
    const rows = [
      answer(0, "1", { sample: 0 }),
      answer(0, "9", { sample: 0 }),
      answer(1, "9"),
      answer(1, "2"),
    ];
    const { datasets } = await evaluateRows(rows, [set], { samples: 1 });
    expect(datasets[0]!.pass[0]!.value).toBe(0.5);
    expect(datasets[0]!.surplus).toEqual([
      { id: "0", sample: 0, place: expect.stringMatching(/:2$/) },
      { id: "1", sample: 1, place: expect.stringMatching(/:4$/) },
    ]);
  });

  it("n is what most problems have", async () => {
    const three = datasetOf(["1", "2", "3"]);
    const rows = [answer(0, "1"), answer(1, "2"), answer(2, "0"), answer(2, "3")];
    const { datasets } = await evaluateRows(rows, [three]);
    expect(datasets[0]).toMatchObject({ samples: 1, surplus: [{ id: "2", sample: 1 }] });
    expect(datasets[0]!.pass[0]!.value).toBeCloseTo(2 / 3, 14);
  });

  it("more samples than were numbered are missing ones", async () => {
    const { datasets } = await evaluateRows([answer(0, "1"), answer(1, "2")], [set], { samples: 4 });
    expect(datasets[0]!.counts.missing).toBe(6);
    expect(datasets[0]!.pass[0]!.value).toBe(0.25);
    expect(datasets[0]!.pass[2]!.value).toBe(1);
  });
});

describe("real generations", () => {
  const path = sharedPath("data", "qwen25math", "math_cot_100.jsonl");
  if (path === undefined) console.warn("skipped: ../shared/data/qwen25math is not there");

  it.skipIf(path === undefined)("100 problems with 8 samples, references beside them", async () => {
    const { datasets, bad } = await evaluate(fileGenerator([{ path: path! }]), { grader: textGrader });
    expect(bad).toEqual([]);
    expect(datasets[0]).toMatchObject({ samples: 8, counts: { graded: 800, missing: 0, empty: 0 } });
    expect(datasets[0]!.types.map(({ pass }) => pass.problems).reduce((a, b) => a + b)).toBe(100);
  });
});
