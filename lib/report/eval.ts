import type { DatasetResult, EstimateAt, EvalResults } from "../verify/eval/index.ts";
import { axis, type Chart, HEIGHT, line, lineChart, WIDTH } from "./chart.ts";
import { problemsSection } from "./eval-problems.ts";
import { evalNotes, evalTables, interval, score } from "./eval-tables.ts";
import { html } from "./html.ts";
import { figure, renderPage, tableBlock, tiles } from "./page.ts";
import { INK, renderSvg } from "./svg.ts";

/**
 * @internal The results of an evaluation as one self-contained HTML page: the tables of the terminal, pass@k and
 * majority@k as charts, and each problem with its samples. The same results give the same bytes.
 */
export function renderEvalReport(results: EvalResults): string {
  const { generations, grader, datasets } = results;
  const notes = evalNotes(results);
  const drawn = datasets.map(chart).filter((found) => found !== undefined);
  return renderPage(
    `minform eval: ${generations}`,
    html`<h1>Evaluation</h1><p class="note">${generations}, verdicts by the rules "${grader}"</p>
${tiles(facts(results))}
${notes.length > 0 ? html`<section><h2>To be known</h2><ul>${notes.map((note) => html`<li>${note}</li>`)}</ul></section>` : undefined}
${drawn.length > 0 ? html`<section><h2>More samples</h2><div class="charts">${drawn.map(figure)}</div></section>` : undefined}
<section><h2>Numbers</h2>${evalTables(results).map((table) => tableBlock(table))}</section>
${datasets.map(problemsSection)}`,
  );
}

function facts({ datasets, average }: EvalResults): [string, string][] {
  const fact = (title: string, pass: readonly EstimateAt[]): [string, string][] => {
    const first = pass.find(({ k }) => k === 1);
    return first === undefined
      ? []
      : [[score(first.value), `${title}: pass@1 in %, 95 % ${interval(first)}`]];
  };
  return [
    ...datasets.flatMap(({ title, pass }) => fact(title, pass)),
    ...(average ? fact("average", average.pass) : []),
  ];
}

function chart({ title, samples, pass, majority }: DatasetResult): Chart | undefined {
  if (pass.length < 2) return undefined;
  const points = (list: readonly EstimateAt[]) => list.map(({ k, value }) => [k, 100 * value]);
  const first = pass.filter(({ k }) => k === 1);
  const what = "pass@k and majority@k";
  return {
    title: `${title}: ${what}`,
    caption: `Chance that one of k samples is right, and share of problems whose most frequent answer of k samples is; ${samples} samples per problem.`,
    svg: renderSvg(
      lineChart(
        axis("k", { type: "log", logBase: 2, min: 1, splitLine: { show: false } }),
        axis("%", { scale: true }),
        [
          line("pass@k", INK.chosen, points(pass)),
          line("majority@k", INK.sum, points([...first, ...majority])),
        ],
      ),
      WIDTH,
      HEIGHT,
      // A title may come from a file; a label goes into the markup as it is.
      `${what} of ${title.replace(/\W+/g, " ")}`,
    ),
  };
}
