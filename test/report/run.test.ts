import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { comparisonTable, renderComparison, renderRunReport } from "../../lib/report/index.ts";
import { significant } from "../../lib/report/run/numbers.ts";
import { combined, deviationOf, type Point, thinned } from "../../lib/report/run/series.ts";
import { CHARTS } from "../../lib/report/run/specs.ts";
import { temporaryFolder } from "../support/rollouts.ts";
import { writeRun } from "../support/run-folder.ts";
import { EVIL, REACHES_OUT, unbalanced } from "./page.ts";

const root = temporaryFolder();
const plain = writeRun(join(root, "plain"), { steps: 40 });
let copies = 0;
const copy = (of = plain) => {
  const folder = join(root, `copy-${copies++}`);
  cpSync(of, folder, { recursive: true });
  return folder;
};
const titles = (page: string) => [...page.matchAll(/<figure><h3>(.*?)<\/h3>/g)].map(([, title]) => title!);

describe("the report of a run", () => {
  it("is one whole page that loads and runs nothing", async () => {
    const page = await renderRunReport(plain);
    expect(REACHES_OUT.exec(page)).toBeNull();
    expect(unbalanced(page)).toEqual([]);
    expect(page).not.toMatch(/NaN|undefined|Infinity|\[object|#01010[\da-f]/);
    const used = [...page.matchAll(/var\(--(\w\w+)\)/g)].map(([, variable]) => variable);
    for (const variable of used) expect(page).toContain(`--${variable}:#`);
    expect(await renderRunReport(plain)).toBe(page);
  });

  it("has every chart that there are numbers for, and those that it does not know under what else was logged", async () => {
    const page = await renderRunReport(plain);
    const expected = CHARTS.map(({ title }) => title).filter((title) => title !== "Value function");
    expect(expected.length).toBeGreaterThanOrEqual(20);
    expect(titles(page)).toEqual([
      ...expected,
      "Seconds per step",
      "Milliseconds per token",
      "groups/verifiable",
      "online/f1",
    ]);
    const chart = page.slice(page.indexOf("PRM score and pass@1"), page.indexOf("Right answers while"));
    for (const label of ["pass@1, greedy", "pass@1, sampled", "PRM score"])
      expect(chart).toContain(`>${label}</text>`);
  });

  it("tells first, last, lowest and highest of every metric", async () => {
    const folder = copy();
    const rows = [3, 1, 7, 4].map((value, step) => ({
      step,
      phase: "rl",
      seconds: step,
      metrics: { "a/b": value },
    }));
    writeFileSync(join(folder, "metrics.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const page = await renderRunReport(folder);
    const row = /<tr><td>a\/b<\/td>.*?<\/tr>/.exec(page)![0];
    expect([...row.matchAll(/<td>([^<]+)<\/td>/g)].map(([, cell]) => cell)).toEqual([
      "a/b",
      "4",
      "3",
      "4",
      "1",
      "7",
    ]);
  });

  it("shows responses of the first, the last and some steps, with reward, weight and advantage", async () => {
    const page = await renderRunReport(plain);
    const steps = [...page.matchAll(/<b>Step (\d+)<\/b>/g)].map(([, step]) => Number(step));
    expect(steps).toEqual([1, 7, 12, 18, 23, 29, 34, 40]);
    const last = readFileSync(join(plain, "rollouts.jsonl"), "utf8").trimEnd().split("\n").at(-1)!;
    const { prompt, answer, step_rewards, weights, advantages } = JSON.parse(last);
    const article = page.slice(page.lastIndexOf("<article>"), page.lastIndexOf("</article>"));
    expect(article).toContain(`<h3 class="question">${prompt}</h3>`);
    expect(article).toContain(`Answer: <b>${answer}</b>`);
    for (const value of [step_rewards[0], weights[1], advantages[2]])
      expect(article).toContain(`>${value.toFixed(2)}</td>`);
    expect(article).toContain("truncated");
  });

  it("shows config and environment", async () => {
    const page = await renderRunReport(plain);
    expect(page).toContain('<td>creditTemperature</td><td class="value">0.1</td>');
    expect(page).toContain('<td>betas</td><td class="value">[0.9,0.95]</td>');
    expect(page).toContain('<td>separator</td><td class="value">&quot;\\n\\n&quot;</td>');
    expect(page).toContain('<td>isa</td><td class="value">avx2</td>');
  });

  it("shows text from the folder as text", async () => {
    const folder = writeRun(join(root, "evil"), {
      name: EVIL,
      steps: 2,
      config: { [EVIL]: { [EVIL]: EVIL } },
    });
    const rollout = { step: 1, id: EVIL, prompt: EVIL, answer: EVIL, steps: [EVIL], advantages: [1] };
    appendFileSync(join(folder, "rollouts.jsonl"), `${JSON.stringify(rollout)}\n`);
    const metrics = { step: 2, phase: EVIL, seconds: 1, metrics: { [`${EVIL}/mean`]: 1, [EVIL]: 2 } };
    appendFileSync(join(folder, "metrics.jsonl"), `${JSON.stringify(metrics)}\n`);
    for (const page of [
      await renderRunReport(folder),
      await renderComparison(EVIL, [
        { label: EVIL, folder },
        { label: "b", folder: plain },
      ]),
    ]) {
      expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
      expect(REACHES_OUT.exec(page)).toBeNull();
      expect(unbalanced(page)).toEqual([]);
    }
  });

  it("is whole for a run that has just begun, or logs little", async () => {
    const folder = join(root, "bare");
    mkdirSync(folder);
    writeFileSync(join(folder, "metrics.jsonl"), "");
    expect(unbalanced(await renderRunReport(folder))).toEqual([]);
    const row = { step: 1, phase: "sft", seconds: 0.5, metrics: { "sft/loss": 2, "sft/lr": null } };
    // The second line is being written.
    writeFileSync(join(folder, "metrics.jsonl"), `${JSON.stringify(row)}\n{"step": 2, "pha`);
    const page = await renderRunReport(folder);
    expect(titles(page)).toEqual(["sft/loss"]);
    expect(page).toContain("<h1>bare</h1>");
    expect(unbalanced(page)).toEqual([]);
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
  });

  it("keeps phases apart", async () => {
    const folder = copy();
    const rows = ["head", "all"].map((phase) => ({ step: 1, phase, seconds: 1, metrics: { "prm/loss": 1 } }));
    writeFileSync(join(folder, "metrics.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const page = await renderRunReport(folder);
    expect(page).toContain("<h2>Curves: head</h2>");
    expect(page).toContain("<h2>Curves: all</h2>");
  });

  it("names file and line of what is malformed", async () => {
    await expect(renderRunReport(join(root, "nowhere"))).rejects.toThrow(
      /no run here: there is no metrics\.jsonl/,
    );
    const folder = copy();
    rmSync(join(folder, "rollouts.jsonl"));
    appendFileSync(join(folder, "metrics.jsonl"), '{"step": 1}\n{"step": 2}\n');
    await expect(renderRunReport(folder)).rejects.toThrow(/metrics\.jsonl:42: .*phase/s);
    const other = copy();
    writeFileSync(join(other, "config.json"), "[]");
    await expect(renderRunReport(other)).rejects.toThrow(/config\.json: expected a JSON object/);
  });
});

describe("the comparison of runs", () => {
  const runs = [1, 2, 3].flatMap((seed) => [
    { label: "min", folder: writeRun(join(root, `min-${seed}`), { seed, steps: 20 }) },
    {
      label: "sum",
      folder: writeRun(join(root, `sum-${seed}`), {
        seed,
        steps: 20,
        hacking: 0.8,
        config: { reward: { credit: "sum" } },
      }),
    },
  ]);
  const lastOf = (label: string, metric: string) =>
    runs
      .filter((run) => run.label === label)
      .map(({ folder }) => {
        const last = readFileSync(join(folder, "metrics.jsonl"), "utf8").trimEnd().split("\n").at(-1)!;
        return (JSON.parse(last) as { metrics: Record<string, number> }).metrics[metric]!;
      });

  it("is one whole page that loads and runs nothing", async () => {
    const page = await renderComparison("a comparison", runs);
    expect(REACHES_OUT.exec(page)).toBeNull();
    expect(unbalanced(page)).toEqual([]);
    expect(page).not.toMatch(/NaN|undefined|Infinity|\[object|#01010[\da-f]/);
    expect(titles(page).slice(0, 4)).toEqual([
      "min",
      "sum",
      "Held-out pass@1, greedy",
      "Held-out pass@1, sampled",
    ]);
    expect(page).toMatch(/<h2>What differs.*<th>reward\.credit<\/th>/s);
    expect(await renderComparison("a comparison", runs)).toBe(page);
  });

  it("gives mean and deviation over seeds, under the numbers before training", async () => {
    const { head, rows } = await comparisonTable(runs);
    expect(head).toEqual([
      "",
      "runs",
      "pass@1 greedy",
      "pass@1 sampled",
      "PRM score",
      "steps",
      "tokens",
      "KL",
    ]);
    expect(rows.map(([label, count]) => [label, count])).toEqual([
      ["before training", ""],
      ["min", "3"],
      ["sum", "3"],
    ]);
    const values = lastOf("sum", "eval/pass@1/greedy");
    const mean = (values[0]! + values[1]! + values[2]!) / 3;
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 2);
    expect(deviation).toBeGreaterThan(1e-3);
    expect(rows[2]![2]).toBe(`${mean.toFixed(3)} ± ${deviation.toFixed(3)}`);
    const page = await renderComparison("a comparison", runs);
    expect(page).toContain(`<td>${rows[2]![2]}</td>`);
    for (const value of values) expect(page).toContain(`<td>${value.toFixed(3)}</td>`);
  });

  it("compares single runs without a deviation", async () => {
    const { rows } = await comparisonTable(runs.slice(0, 2));
    expect(rows[1]![2]).toMatch(/^0\.\d{3}$/);
    expect(rows[0]![2]).toMatch(/^0\.\d{3}$/);
    const page = await renderComparison("two", runs.slice(0, 2));
    expect(page).not.toContain("Run by run");
  });

  it("has all curves on one scale where the PRM's score stands beside pass@1", async () => {
    const page = await renderComparison("a comparison", runs);
    const section = page.slice(page.indexOf("<h2>PRM score and pass@1"), page.indexOf("<h2>Curves"));
    const [first, second] = section.split("<figure>").slice(1);
    const labels = (svg: string) => [...svg.matchAll(/>(-?[\d.]+)<\/text>/g)].map(([, text]) => text);
    expect(labels(first!)).toEqual(labels(second!));
  });
});

describe("curves", () => {
  const points = (count: number): Point[] => Array.from({ length: count }, (_, i) => [i, i % 7]);

  it("are thinned by means, which keep the mean", () => {
    expect(thinned(points(240))).toHaveLength(240);
    const few = thinned(points(960));
    expect(few).toHaveLength(240);
    const mean = (list: readonly Point[]) => list.reduce((sum, [, value]) => sum + value, 0) / list.length;
    expect(mean(few)).toBeCloseTo(mean(points(960)), 12);
  });

  it("of several runs have mean and range where all have a value", () => {
    expect(
      combined([
        [
          [0, 1],
          [1, 2],
          [2, 9],
        ],
        [
          [0, 3],
          [1, 6],
        ],
      ]),
    ).toEqual({
      mean: [
        [0, 2],
        [1, 4],
      ],
      low: [
        [0, 1],
        [1, 2],
      ],
      high: [
        [0, 3],
        [1, 6],
      ],
    });
    expect([deviationOf([1]), deviationOf([1, 3])]).toEqual([0, Math.SQRT2]);
  });

  it("have numbers of any size", () => {
    expect(
      [0, 1e-6, 0.00012346, 123.456, 3e9, Number.NaN, undefined].map((value) => significant(value)),
    ).toEqual(["0", "1.00e-6", "0.0001235", "123.5", "3.00e+9", "-", "-"]);
  });
});
