import type {
  FormSummary,
  HistogramBin,
  RolloutSummary,
  SpreadSummary,
  StepCountSummary,
} from "../rollouts/index.ts";
import { decimal, percent } from "./numbers.ts";
import { axis, type Chart, GRID, HEIGHT, LEGEND, line, lineChart, WIDTH } from "./chart.ts";
import { INK, renderSvg } from "./svg.ts";

// A mean over fewer rollouts says little.
const FEWEST = 3;

/** @internal The charts that there is data for. */
export function charts(summary: RolloutSummary): Chart[] {
  return [
    stepsChart(summary),
    errorChart(summary),
    rocChart(summary),
    ...histograms(summary),
    modelChart(summary),
  ].filter((chart) => chart !== undefined);
}

function stepsChart({ forms }: RolloutSummary): Chart | undefined {
  const points = (form: FormSummary, pick: (entry: StepCountSummary) => SpreadSummary) =>
    form.bySteps
      .filter((entry) => pick(entry).count >= FEWEST)
      .map((entry) => [entry.steps, pick(entry).mean]);
  const series = forms.flatMap((form, f) => {
    const color = f === 0 ? INK.chosen : INK.sum;
    return [
      line(
        `${form.form}, sound`,
        color,
        points(form, ({ sound }) => sound),
      ),
      line(
        `${form.form}, faulty`,
        color,
        points(form, ({ faulty }) => faulty),
        "dashed",
      ),
    ];
  });
  if (forms[0].bySteps.every(({ sound, faulty }) => sound.count < FEWEST && faulty.count < FEWEST))
    return undefined;
  return {
    title: "What another step is worth",
    caption: `Mean process outcome of solutions with the same number of steps (at least ${FEWEST}), without a wrong step (sound) and with one (faulty). One more step adds ${decimal(forms[0].outcomePerStep, 3)} to a sound solution under ${forms[0].form} and ${decimal(forms[1].outcomePerStep, 3)} under ${forms[1].form}.`,
    svg: renderSvg(
      lineChart(axis("steps", { minInterval: 1 }), axis("mean outcome"), series),
      WIDTH,
      HEIGHT,
      "Mean outcome by number of steps",
    ),
  };
}

function errorChart({ forms }: RolloutSummary): Chart | undefined {
  if (forms[0].aroundError.length === 0) return undefined;
  const series = forms.map((form, f) =>
    line(
      form.form,
      f === 0 ? INK.chosen : INK.sum,
      form.aroundError.map(({ offset, advantage }) => [offset, advantage.mean]),
    ),
  );
  return {
    title: "Advantage around the first wrong step",
    caption: "Mean advantage of the steps at each distance from the first wrong step (0) of their solution.",
    svg: renderSvg(
      lineChart(axis("steps from the first wrong one", { minInterval: 1 }), axis("mean advantage"), series),
      WIDTH,
      HEIGHT,
      "Mean advantage around the first wrong step",
    ),
  };
}

function rocChart({ forms }: RolloutSummary): Chart | undefined {
  if (forms[0].roc.length === 0) return undefined;
  const series = forms.map((form, f) => ({
    ...line(`${form.form}, AUC ${decimal(form.area, 3)}`, f === 0 ? INK.chosen : INK.sum, form.roc),
    showSymbol: false,
  }));
  const share = { min: 0, max: 1 };
  const diagonal = {
    ...line(
      "chance",
      INK.faint,
      [
        [0, 0],
        [1, 1],
      ],
      "dashed",
    ),
    showSymbol: false,
  };
  return {
    title: "Does a higher outcome mean a right answer?",
    caption:
      "ROC curve: solutions taken from the highest process outcome down; share of the right answers taken against share of the wrong ones.",
    svg: renderSvg(
      lineChart(axis("wrong answers taken", share), axis("right answers taken", share), [
        ...series,
        diagonal,
      ]),
      WIDTH,
      HEIGHT,
      "ROC curves",
    ),
  };
}

function histograms({ forms }: RolloutSummary): Chart[] {
  return forms.flatMap(({ form, histogram }) => {
    if (histogram.length === 0) return [];
    const bars = (name: string, color: string, pick: (bin: HistogramBin) => number) => ({
      type: "bar",
      name,
      stack: "all",
      barCategoryGap: "12%",
      itemStyle: { color },
      data: histogram.map(pick),
    });
    const option = {
      grid: GRID,
      legend: LEGEND,
      xAxis: axis("process outcome", {
        type: "category",
        data: histogram.map(({ from, to }) => decimal((from + to) / 2, 1)),
        splitLine: { show: false },
      }),
      yAxis: axis("solutions"),
      series: [
        bars("wrong answer", INK.wrong, ({ wrong }) => wrong),
        bars("right answer", INK.right, ({ right }) => right),
      ],
    };
    return {
      title: `Outcomes under ${form}`,
      caption: "Solutions by process outcome.",
      svg: renderSvg(option, WIDTH, HEIGHT, `Outcomes under ${form}`),
    };
  });
}

const SHOWN_MODELS = 15;

function modelChart({ forms, generators }: RolloutSummary): Chart | undefined {
  const rate = ({ right, known }: { right: number; known: number }) => (known > 0 ? right / known : 0);
  // A category axis starts at the bottom: the highest rate comes out on top.
  const models = generators.slice(0, SHOWN_MODELS).sort((a, b) => rate(a) - rate(b));
  if (models.length < 2) return undefined;
  const height = 90 + 30 * models.length;
  const panel = { top: 46, bottom: 24 };
  const category = {
    type: "category",
    data: models.map(({ name, right, known }) => `${short(name)}  ${percent(right / known)}`),
  };
  const option = {
    title: forms.map(({ form }, f) => ({
      text: form,
      left: f === 0 ? "55%" : "86%",
      textAlign: "center",
      textStyle: { color: INK.text, fontSize: 13 },
    })),
    grid: [
      { ...panel, left: "42%", right: "32%" },
      { ...panel, left: "76%", right: "3%" },
    ],
    xAxis: forms.map((_, gridIndex) => axis("", { gridIndex, splitNumber: 2 })),
    yAxis: forms.map((_, gridIndex) =>
      axis("", {
        ...category,
        gridIndex,
        axisLabel: { show: gridIndex === 0, color: INK.text },
        axisLine: { show: false, onZero: false },
        axisTick: { show: false },
      }),
    ),
    series: forms.map((_, f) => ({
      type: "bar",
      xAxisIndex: f,
      yAxisIndex: f,
      barWidth: "60%",
      itemStyle: { color: f === 0 ? INK.chosen : INK.sum },
      data: models.map((model) => model.forms[f]!.advantage),
    })),
  };
  return {
    title: "Which model each form reinforces",
    caption: "Mean advantage per step; models by their share of right answers, highest on top.",
    svg: renderSvg(option, WIDTH, Math.max(200, height), "Mean advantage by model"),
  };
}

function short(name: string): string {
  return name.length <= 26 ? name : `${name.slice(0, 25)}…`;
}
