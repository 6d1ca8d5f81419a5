import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Html, html } from "../../lib/report/html.ts";
import { renderReport } from "../../lib/report/index.ts";
import { count, decimal, percent } from "../../lib/report/numbers.ts";
import { type AdvantagesResults, runAdvantages } from "../../lib/rollouts/index.ts";
import { EVIL, REACHES_OUT, unbalanced } from "./page.ts";
import { hasRealFile, manyRows, REAL_FILE, rowOf, temporaryFolder, writeLines } from "../support/rollouts.ts";

const folder = temporaryFolder();
const output = join(folder, "out.jsonl");
const run = (rows: (object | string)[], more: object = {}): Promise<AdvantagesResults> =>
  runAdvantages({ input: writeLines(folder, rows), output, ...more });

describe("a report", () => {
  it("shows text from the file as text", async () => {
    const rows = manyRows(1, 4, (i) => ({
      id: `${EVIL}${i}`,
      group: EVIL,
      question: EVIL,
      answer: EVIL,
      generator: `${i % 2}${EVIL}`,
      steps: [EVIL],
      step_rewards: [0.5],
    }));
    const results = await run([...rows, '{"group": "<script>alert(3)</script>", "steps": "<script>"}'], {
      onError: "skip",
      name: EVIL,
    });
    const page = renderReport(results);
    expect(results.examples).not.toEqual([]);
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(REACHES_OUT.exec(page)).toBeNull();
    expect(unbalanced(page)).toEqual([]);
  });

  it("loads nothing and runs nothing", async () => {
    const labelled = (i: number) => ({ first_error: i % 2 === 0 ? -1 : 0, generator: `m${i % 3}` });
    const page = renderReport(await run(manyRows(20, 4, labelled)));
    expect(REACHES_OUT.exec(page)).toBeNull();
    expect(page.match(/<svg /g)).toHaveLength(6);
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of page.matchAll(/url\(#([^)]+)\)/g)) expect(ids).toContain(id);
    expect(unbalanced(page)).toEqual([]);
    expect(page).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });

  it("is the same twice in one process", async () => {
    const results = await run(manyRows(10, 4, () => ({ generator: "m" })));
    expect(renderReport(results)).toBe(renderReport(results));
  });

  it("follows the colours of the page", async () => {
    const page = renderReport(await run(manyRows(10, 4)));
    expect(page).not.toMatch(/#01010[\da-f]/);
    expect(page).toContain("prefers-color-scheme:dark");
    const used = [...page.matchAll(/var\(--(\w\w+)\)/g)].map(([, variable]) => variable);
    expect(used).toContain("chosen");
    for (const variable of used) expect(page).toContain(`--${variable}:#`);
  });

  it("is whole for a single row about which little is known", async () => {
    const page = renderReport(await run([rowOf()]));
    expect(unbalanced(page)).toEqual([]);
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
  });

  it("shows steps, weights and both advantages of its examples", async () => {
    const results = await run(manyRows(3, 2, () => ({ question: "why?" })));
    const page = renderReport(results);
    expect(page).toContain("why?");
    const [chosen, sumForm] = results.examples[0]!.solutions[0]!.forms;
    for (const value of [chosen!.weights![0]!, chosen!.advantages[0]!, sumForm!.advantages[0]!]) {
      expect(page).toContain(`>${decimal(value)}</td>`);
    }
  });

  it.skipIf(!hasRealFile())("is complete for real solutions", async () => {
    const path = join(folder, "real.html");
    const results = await runAdvantages({ input: REAL_FILE, output, report: { path, render: renderReport } });
    const page = readFileSync(path, "utf8");
    expect(REACHES_OUT.exec(page)).toBeNull();
    expect(unbalanced(page)).toEqual([]);
    expect(page.length).toBeLessThan(500_000);
    expect(page).toContain(decimal(results.summary.forms[0].area, 3));
    for (const { name } of results.summary.generators) expect(page).toContain(name);
  });
});

describe("templates and numbers", () => {
  it("escape what is not markup", () => {
    expect(html`<p title="${`"'`}">${"<b>"}${new Html("<i>")}${undefined}${[1, "&"]}</p>`.markup).toBe(
      '<p title="&quot;&#39;">&lt;b&gt;<i>1&amp;</p>',
    );
  });

  it("print none as a dash and zero without a sign", () => {
    expect([decimal(-0.001), decimal(Number.NaN), decimal(undefined), decimal(1.04, 1)]).toEqual([
      "0.00",
      "-",
      "-",
      "1.0",
    ]);
    expect([percent(0.5), percent(Number.NaN)]).toEqual(["50 %", "-"]);
    expect([count(999), count(1234567)]).toEqual(["999", "1,234,567"]);
  });
});
