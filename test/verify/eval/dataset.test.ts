// Layouts of the five benchmarks, other sets, and files that are none.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  benchmarkOf,
  benchmarks,
  buildPrompts,
  type LoadDatasetOptions,
  loadDataset,
  promptTemplates,
} from "../../../lib/verify/eval/index.ts";
import { sharedPath } from "../../support/checkpoints.ts";
import { temporaryFolder, writeLines } from "../../support/rollouts.ts";
import { parquetBytes, writeParquet } from "./parquet.ts";

const folder = temporaryFolder();
let files = 0;

const write = (rows: readonly (object | string)[], name = `set${files++}.jsonl`) =>
  writeLines(folder, rows, name);
const load = (rows: readonly (object | string)[], options: LoadDatasetOptions = {}) =>
  loadDataset(write(rows), options);
const message = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => new Error("it did not throw"),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ code: "ERR_INPUT" });
  return error.message;
};

describe("benchmarks", () => {
  it("are those of PURE's table, under the names that files give them", () => {
    expect(benchmarks.map(({ name, size }) => [name, size])).toEqual([
      ["math500", 500],
      ["minerva_math", 272],
      ["olympiadbench", 675],
      ["aime24", 30],
      ["amc23", 40],
    ]);
    for (const name of ["MATH-500", "math500"]) expect(benchmarkOf(name)?.name).toBe("math500");
    for (const name of ["aime_2024", "AIME24"]) expect(benchmarkOf(name)?.name).toBe("aime24");
    expect(benchmarkOf("math")).toBeUndefined();
    expect(benchmarkOf("my-math500-copy")).toBeUndefined();
  });
});

describe("layouts", () => {
  it("MATH500: the boxed text of the solution, not the answer column", async () => {
    const row = {
      problem: "What is it?",
      solution: "First \\boxed{1}, then $\\boxed{\\frac{1}{2}}$.",
      answer: "0.5",
      subject: "Algebra",
      level: 3,
      unique_id: "test/algebra/1.json",
    };
    const { name, title, units, problems } = await loadDataset(write([row], "MATH-500.jsonl"));
    expect({ name, title, units }).toEqual({ name: "math500", title: "MATH500", units: "dropped" });
    expect(problems).toEqual([
      {
        id: "test/algebra/1.json",
        index: 0,
        question: "What is it?",
        reference: "\\frac{1}{2}",
        types: { subject: "Algebra", level: "3" },
      },
    ]);
  });

  it("Minerva: boxed text with its units, idx and type", async () => {
    const row = {
      problem: "How fast?",
      solution: "It is $\\boxed{4.5e33}$ erg/s",
      type: "Introduction to Astronomy (8.282J Spring 2006)",
      idx: 7,
    };
    const { units, problems } = await load([row], { benchmark: "minerva_math" });
    expect(units).toBe("kept");
    expect(problems[0]).toMatchObject({ id: "7", index: 7, reference: "4.5e33", types: { type: row.type } });
  });

  it("OlympiadBench: dollars go; all elements, or the first as Qwen's evaluation", async () => {
    const row = {
      id: 1606,
      question: "Solve.",
      final_answer: ["$(1,2)$", " $3$ "],
      is_multiple_answer: true,
      subject: "Math",
      subfield: "Algebra",
    };
    const of = async (options: LoadDatasetOptions) =>
      (await load([row], { benchmark: "olympiadbench", ...options })).problems[0];
    expect(await of({})).toMatchObject({ id: "1606", index: 0, reference: "(1,2), 3" });
    expect(await of({ elements: "first" })).toMatchObject({ reference: "(1,2)" });
  });

  it("AMC23: floats that are integers; AIME24: leading zeros stay; keys in any case", async () => {
    const amc = await load(['{"id": 0, "problem": "a", "answer": 27.0}'], { benchmark: "amc23" });
    expect(amc.problems[0]).toMatchObject({ id: "0", reference: "27" });
    const aime = await load([{ ID: "2024-I-1", Problem: "b", Answer: "025" }], { benchmark: "aime24" });
    expect(aime.problems[0]).toMatchObject({ id: "2024-I-1", question: "b", reference: "025" });
  });

  it("any other set: question and answer, named after its file", async () => {
    const path = write(
      [
        { question: "q", answer: "1" },
        { question: "r", answer: "2" },
      ],
      "mine.jsonl",
    );
    const { name, title, size, problems } = await loadDataset(path);
    expect({ name, title, size }).toEqual({ name: "mine", title: "mine", size: undefined });
    expect(problems.map(({ id, reference }) => [id, reference])).toEqual([
      ["0", "1"],
      ["1", "2"],
    ]);
  });

  it("a JSON array, and parquet with lists and 64-bit integers", async () => {
    const array = join(folder, "array.json");
    writeFileSync(array, JSON.stringify([{ question: "q", answer: "1" }], null, 2));
    expect((await loadDataset(array)).problems).toHaveLength(1);
    const { name, problems } = await loadDataset(
      writeParquet(folder, "olympiadbench", parquetBytes("olympiad")),
    );
    expect(name).toBe("olympiadbench");
    expect(problems.map(({ id, reference, types }) => [id, reference, types.subfield])).toEqual([
      ["1606", "2, -2", "Algebra"],
      ["1099511627776", "5", "Number Theory"],
    ]);
  });
});

describe("bad files", () => {
  it("an unknown layout names file, row and the keys that were expected", async () => {
    const good = { question: "q", answer: "1" };
    expect(await message(load([good, { question: "q", gold: "1" }]))).toMatch(
      /set\d+\.jsonl: row 2: expected an answer in final_answer or answer or solution, got question, gold/,
    );
    expect(await message(load([{ text: "q", answer: "1" }]))).toMatch(
      /row 1: expected a question in question or problem or input, got text, answer/,
    );
    expect(
      await message(load([{ question: "q", solution: "\\boxed{1" }], { benchmark: "minerva_math" })),
    ).toMatch(/row 1: expected a complete \\boxed\{\} in solution, got "\\\\boxed\{1"/);
    expect(await message(load([{ question: "q", final_answer: [] }]))).toMatch(
      /a list of answers in final_answer/,
    );
    expect(await message(load([{ question: "q", final_answer: ["$$"] }]))).toMatch(/a list of answers/);
  });

  it("answers that are no answers", async () => {
    for (const answer of ["  ", true, ["1"], { a: 1 }])
      expect(await message(load([{ question: "q", answer }]))).toMatch(
        /row 1: expected an answer in answer, got/,
      );
    expect(await message(load(['{"question": "q", "answer": 1e999}']))).toMatch(/got Infinity/);
    const nan = writeParquet(folder, "nan", parquetBytes("nan"));
    expect(await message(loadDataset(nan))).toMatch(
      /nan\.parquet: row 2: expected an answer in answer, got NaN/,
    );
  });

  it("two rows of one id or idx", async () => {
    const row = { question: "q", answer: "1" };
    expect(
      await message(
        load([
          { ...row, id: "a" },
          { ...row, id: "b" },
          { ...row, id: "a" },
        ]),
      ),
    ).toMatch(/rows 1 and 3 have the same id, "a"/);
    expect(
      await message(
        load([
          { ...row, idx: 4, id: "a" },
          { ...row, idx: 4, id: "b" },
        ]),
      ),
    ).toMatch(/rows 1 and 2 have the same idx, 4/);
    expect(await message(load([{ ...row, idx: -1 }]))).toMatch(
      /row 1: expected an integer >= 0 in idx, got -1/,
    );
  });

  it("rows that are no objects, no rows, no JSON, no file", async () => {
    expect(await message(load(["[1, 2]"]))).toMatch(/row 1: expected an object, got 1/);
    expect(await message(load([]))).toMatch(/has no rows/);
    expect(await message(load([{ question: "q", answer: "1" }, "{"]))).toMatch(/set\d+\.jsonl:2: no JSON/);
    expect(await message(loadDataset(join(folder, "none.jsonl")))).toMatch(
      /none\.jsonl: no such file, and no hub id/,
    );
    expect(await message(loadDataset("owner/none.jsonl"))).toMatch(/no such file/);
  });

  it("parquet that is cut, spoilt, of another kind or compressed in a way that is not known", async () => {
    const bytes = parquetBytes("olympiad");
    for (const [name, part] of Object.entries({
      empty: bytes.subarray(0, 0),
      cut: bytes.subarray(0, bytes.length - 40),
      headless: bytes.subarray(60),
      other: Buffer.from("PAR1 this is something else PAR1"),
      zstd: parquetBytes("zstd"),
    }))
      expect(await message(loadDataset(writeParquet(folder, name, part)))).toMatch(
        new RegExp(`${name}\\.parquet: cannot be read as parquet: `),
      );
  });

  it("parquet with any byte changed is read or refused, never anything else", async () => {
    const bytes = parquetBytes("olympiad");
    let refused = 0;
    for (let i = 0; i < bytes.length; i += 7) {
      const spoilt = Buffer.from(bytes);
      spoilt[i]! ^= 0xff;
      const error = await loadDataset(writeParquet(folder, "spoilt", spoilt)).then(
        () => undefined,
        (thrown) => thrown,
      );
      if (error === undefined) continue;
      refused++;
      expect(error).toMatchObject({ code: "ERR_INPUT" });
    }
    expect(refused).toBeGreaterThan(20);
  }, 30_000);
});

describe("prompts", () => {
  it("are PURE's, with two line ends between the quotes, and a hint for answers of two words", async () => {
    const dataset = await load([
      { question: "What is 1 + 1?", answer: "2" },
      { question: "Is it so?", answer: "Yes" },
      { question: "Is 1 = 2?", answer: "false" },
    ]);
    const prompts = buildPrompts(dataset);
    expect(prompts[0]).toEqual({
      dataset: dataset.name,
      id: "0",
      prompt:
        'What is 1 + 1?\n\nPlease reason step by step with steps separated by "\n\n", and put your final answer within \\boxed{}.',
    });
    expect(prompts[1]!.prompt).toContain("Is it so? (Yes or No)\n\n");
    expect(prompts[2]!.prompt).toContain("Is 1 = 2? (True or False)\n\n");
    expect(buildPrompts(dataset, (question) => `<${question}>`)[0]!.prompt).toBe("<What is 1 + 1?>");
    expect(promptTemplates["qwen25-math-cot"]("q")).toMatch(
      /^<\|im_start\|>system\n.*<\|im_start\|>assistant\n$/s,
    );
    expect(() => buildPrompts(dataset, "none" as "qwen25-math-cot")).toThrow(/template: expected one of/);
  });
});

describe("real files", () => {
  const [math500, aime2024] = ["math500", "aime2024"].map((name) => {
    const path = sharedPath("data", `${name}.parquet`);
    if (path === undefined) console.warn(`skipped: ../shared/data/${name}.parquet is not there`);
    return path;
  });

  it.skipIf(math500 === undefined)("MATH500", async () => {
    const { name, size, problems } = await loadDataset(math500!);
    expect({ name, problems: problems.length }).toEqual({ name: "math500", problems: size });
    expect(problems[1]).toMatchObject({ id: "1", reference: "p - q" });
  });

  it.skipIf(aime2024 === undefined)("AIME24", async () => {
    const { name, size, problems } = await loadDataset(aime2024!);
    expect({ name, problems: problems.length }).toEqual({ name: "aime24", problems: size });
    for (const { reference } of problems) expect(reference).toMatch(/^\d{1,3}$/);
  });
});
