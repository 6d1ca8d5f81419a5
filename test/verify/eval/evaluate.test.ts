// Numbers of whole evaluations, worked out by hand.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluate, type GeneratedSample, wilson } from "../../../lib/verify/eval/index.ts";
import { boxed, datasetOf, given, run, textGrader } from "./support.ts";

const values = (list: readonly { k: number; value: number }[]) => list.map(({ k, value }) => [k, value]);
const code = (work: Promise<unknown>) =>
  work.then(
    () => "none",
    (error) => error.code,
  );

describe("one sample per problem", () => {
  it("pass@1 is the share of right answers, with Wilson's interval", async () => {
    const { datasets, average } = await run([["1"], ["2"], ["9"], ["4"]], ["1", "2", "3", "4"]);
    const [set] = datasets;
    expect(set!.samples).toBe(1);
    expect(set!.pass).toHaveLength(1);
    expect(set!.pass[0]).toMatchObject({ k: 1, value: 0.75, problems: 4, ...wilson(3, 4) });
    expect(set!.majority).toEqual([]);
    expect(average).toBeUndefined();
    expect(set!.problems[2]).toMatchObject({
      right: 0,
      missing: 0,
      samples: [{ status: "different", answer: "9" }],
    });
    expect(set!.problems[0]!.vote).toBeUndefined();
  });
});

describe("several samples", () => {
  // right: 2 of 4, 4 of 4, 0 of 4
  const answers = [
    ["1", "7", "1", "7"],
    ["2", "2", "2", "2"],
    ["5", "6", "6", "5"],
  ];

  it("pass@k is unbiased, and its interval is over problems", async () => {
    const [set] = (await run(answers, ["1", "2", "3"])).datasets;
    // pass@2 of 2 in 4: 1 - C(2, 2) / C(4, 2) = 5 / 6
    expect(values(set!.pass)).toEqual([
      [1, 0.5],
      [2, expect.closeTo((5 / 6 + 1 + 0) / 3, 14)],
      [4, expect.closeTo(2 / 3, 14)],
    ]);
    // 0.5, 1, 0 about 0.5: sqrt(0.5 / 2 / 3)
    expect(set!.pass[0]!.standardError).toBeCloseTo(Math.sqrt(1 / 12), 14);
    expect(set!.pass[0]!.low).toBe(0);
    // pass@4 is a yes or no per problem
    expect(set!.pass[2]).toMatchObject(wilson(2, 3));
  });

  it("the majority is the answer given first among equally frequent ones", async () => {
    const [set] = (await run(answers, ["1", "2", "3"])).datasets;
    expect(values(set!.majority)).toEqual([
      [2, expect.closeTo(2 / 3, 14)],
      [4, expect.closeTo(2 / 3, 14)],
    ]);
    expect(set!.problems.map(({ vote }) => vote)).toEqual([
      { answer: "1", count: 2, right: true },
      { answer: "2", count: 4, right: true },
      { answer: "5", count: 2, right: false },
    ]);
    const [turned] = (await run([["7", "1", "1", "7"]], ["1"])).datasets;
    expect(turned!.problems[0]!.vote).toEqual({ answer: "7", count: 2, right: false });
    expect(values(turned!.majority)).toEqual([
      [2, 0],
      [4, 0],
    ]);
  });

  it("wrong answers that are the same are counted together; a right one never is with a wrong one", async () => {
    const [set] = (await run([["1", "1/2", "0.5", "1", "0.5"]], ["1"])).datasets;
    expect(set!.problems[0]!.vote).toEqual({ answer: "1/2", count: 3, right: false });
    const [other] = (await run([["0.5", "1/2", "1/2"]], ["0.5"])).datasets;
    expect(other!.problems[0]!.vote).toEqual({ answer: "1/2", count: 2, right: false });
  });

  it("samples without an answer do not vote", async () => {
    const samples = ["", "nothing", boxed("3")].map((response) => ({ index: 0, response }));
    const { datasets } = await evaluate(given(samples), { grader: textGrader, datasets: [datasetOf(["3"])] });
    expect(datasets[0]!.problems[0]!.vote).toEqual({ answer: "3", count: 1, right: true });
    expect(values(datasets[0]!.majority)).toEqual([
      [2, 0],
      [3, 1],
    ]);
  });

  it("takes the k that are asked for, and none above n", async () => {
    const [set] = (await run(answers, ["1", "2", "3"], { k: [1, 3] })).datasets;
    expect(set!.pass.map(({ k }) => k)).toEqual([1, 3]);
    expect(set!.majority.map(({ k }) => k)).toEqual([3]);
    await expect(run(answers, ["1", "2", "3"], { k: [5] })).rejects.toThrow(
      /k: expected at most the 4 samples per problem of set, got 5/,
    );
    for (const bad of [0, 1.5, Number.NaN]) {
      expect(await code(run(answers, ["1", "2", "3"], { k: [bad] }))).toBe("ERR_ARGUMENT_VALUE");
      expect(await code(run(answers, ["1", "2", "3"], { samples: bad }))).toBe("ERR_ARGUMENT_VALUE");
    }
  });

  it("does not depend on the order of samples with numbers", async () => {
    const samples: GeneratedSample[] = answers.flatMap((list, index) =>
      list.map((answer, sample) => ({ index, sample, response: boxed(answer) })),
    );
    const of = async (list: readonly GeneratedSample[]) =>
      (await evaluate(given(list), { grader: textGrader, datasets: [datasetOf(["1", "2", "3"])] })).datasets;
    const expected = await of(samples);
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(samples, { minLength: samples.length }), async (shuffled) => {
        expect(await of(shuffled)).toEqual(expected);
      }),
      { seed: 1, numRuns: 30 },
    );
  });

  it("pass@1 is the mean over samples, pass@k rises with k", async () => {
    const table = fc.array(fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(table, async (rights) => {
        const [set] = (
          await run(
            rights.map((row) => row.map((right) => (right ? "1" : "0"))),
            rights.map(() => "1"),
          )
        ).datasets;
        const all = rights.flat();
        expect(set!.pass[0]!.value).toBeCloseTo(all.filter(Boolean).length / all.length, 12);
        for (const [i, { value, low, high }] of set!.pass.entries()) {
          if (i > 0) expect(value).toBeGreaterThanOrEqual(set!.pass[i - 1]!.value - 1e-12);
          if (rights.length > 1) {
            expect(low).toBeLessThanOrEqual(value + 1e-12);
            expect(high).toBeGreaterThanOrEqual(value - 1e-12);
          }
        }
        // A right majority has a right member.
        expect(set!.majority.at(-1)!.value).toBeLessThanOrEqual(set!.pass.at(-1)!.value);
      }),
      { seed: 1, numRuns: 60 },
    );
  });
});

describe("counts", () => {
  it("tell every verdict, the empty and the truncated", async () => {
    const responses = [
      boxed("1"),
      boxed("2"),
      boxed("timeout"),
      boxed("unparsed"),
      boxed("badReference"),
      "no box",
      " \n<|im_end|>\\boxed{1}",
    ];
    const samples = responses.map((response, index) => ({ index, response, truncated: index > 4 }));
    const { datasets } = await evaluate(given(samples), {
      grader: textGrader,
      datasets: [datasetOf(responses.map(() => "1"))],
    });
    expect(datasets[0]!.counts).toEqual({
      graded: 7,
      missing: 0,
      equal: 1,
      different: 1,
      timeout: 1,
      unparsed: 1,
      badReference: 1,
      noAnswer: 2,
      empty: 1,
      truncated: 2,
    });
    expect(datasets[0]!.pass[0]!.value).toBeCloseTo(1 / 7, 14);
  });

  it("responses end at the first stop string", async () => {
    const samples = [{ index: 0, response: `${boxed("1")}</s>${boxed("2")}<|im_end|>` }];
    const options = { grader: textGrader, datasets: [datasetOf(["1"])], keepResponses: true };
    const [sample] = (await evaluate(given(samples), options)).datasets[0]!.problems[0]!.samples;
    expect(sample).toMatchObject({ status: "equal", response: boxed("1") });
  });
});

describe("accuracy by type", () => {
  it("splits by each key that has more than one value", async () => {
    const types = [
      { subject: "Algebra", level: "10" },
      { subject: "Algebra", level: "2" },
      { subject: "Geometry", level: "2" },
    ].map((one) => ({ ...one, type: "all" }));
    const set = datasetOf(["1", "2", "3"]);
    const problems = set.problems.map((problem, i) => ({ ...problem, types: types[i]! }));
    const samples = ["1", "0", "3"].map((answer, index) => ({ index, response: boxed(answer) }));
    const { datasets } = await evaluate(given(samples), {
      grader: textGrader,
      datasets: [{ ...set, problems }],
    });
    expect(datasets[0]!.types.map(({ key, value, pass }) => [key, value, pass.value, pass.problems])).toEqual(
      [
        ["subject", "Algebra", 0.5, 2],
        ["subject", "Geometry", 1, 1],
        ["level", "2", 0.5, 2],
        ["level", "10", 1, 1],
      ],
    );
  });
});

describe("several datasets", () => {
  it("the average weighs them alike, for the k that all have", async () => {
    const datasets = [datasetOf(["1", "1", "1", "1"], "large"), datasetOf(["2"], "small")];
    const samples = [
      ...["1", "0", "0", "0"].map((answer, index) => ({ dataset: "large", index, response: boxed(answer) })),
      ...["2", "2"].map((answer) => ({ dataset: "small", index: 0, response: boxed(answer) })),
    ];
    const { average } = await evaluate(given(samples), { grader: textGrader, datasets });
    expect(values(average!.pass)).toEqual([[1, 0.625]]);
    expect(average!.majority).toEqual([]);
  });

  it("of one name are refused", async () => {
    const datasets = [datasetOf(["1"]), datasetOf(["2"])];
    await expect(evaluate(given([]), { grader: textGrader, datasets })).rejects.toThrow(
      /datasets: expected different names, got set twice/,
    );
  });
});

describe("the generator", () => {
  it("is asked with the prompts of all datasets and the settings", async () => {
    const asked: unknown[] = [];
    const generator = {
      name: "engine",
      async *generate(request: unknown) {
        asked.push(request);
        yield { dataset: "set", id: "0", response: boxed("1") };
      },
    };
    await evaluate(generator, {
      grader: textGrader,
      datasets: [datasetOf(["1"])],
      template: (text) => `<${text}>`,
    });
    expect(asked).toMatchObject([
      {
        prompts: [{ dataset: "set", id: "0", prompt: "<Question 0?>" }],
        sampling: { temperature: 0, topP: 1, n: 1, seed: 42, maxTokens: 3000 },
      },
    ]);
  });

  it("can be cancelled between samples", async () => {
    const controller = new AbortController();
    let seen = 0;
    const generator = {
      name: "endless",
      async *generate() {
        for (;;) {
          if (++seen === 300) controller.abort(new Error("enough"));
          yield { index: 0, sample: seen, response: boxed("1") };
        }
      },
    };
    const options = { grader: textGrader, datasets: [datasetOf(["1"])], signal: controller.signal };
    await expect(evaluate(generator, options)).rejects.toThrow("enough");
    expect(seen).toBe(300);
  });

  it("a grader that loses verdicts is an error", async () => {
    const grader = { ...textGrader, grade: async () => [] };
    await expect(run([["1"]], ["1"], { grader })).rejects.toThrow(/grader text: expected 1 verdicts, got 0/);
  });
});
