import { BarChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, MarkLineComponent, TitleComponent } from "echarts/components";
import { type EChartsCoreOption, init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

/** @internal What a chart draws. */
export type ChartOption = EChartsCoreOption;

/**
 * @internal Colours that charts draw with. They stand for variables of the page, so that a chart follows its light or
 * dark scheme; the renderer takes hex codes only, so each variable has one of its own.
 */
export const INK = {
  text: "#010101",
  faint: "#010102",
  grid: "#010103",
  chosen: "#010104",
  sum: "#010105",
  right: "#010106",
  wrong: "#010107",
  violet: "#010108",
  teal: "#010109",
  rose: "#01010a",
  gold: "#01010b",
} as const;

/** @internal The page's variable that a colour stands for. */
export function variableOf(ink: string): string {
  return Object.keys(INK).find((name) => INK[name as keyof typeof INK] === ink) ?? "text";
}

/**
 * @internal A chart as SVG markup to put into a page: static, referring to nothing outside itself, the same
 * bytes for the same input.
 *
 * @param label - what the chart shows, for screen readers; plain text
 */
export function renderSvg(option: ChartOption, width: number, height: number, label: string): string {
  use([BarChart, LineChart, GridComponent, LegendComponent, MarkLineComponent, TitleComponent, SVGRenderer]);
  const chart = init(null, null, { renderer: "svg", ssr: true, width, height });
  try {
    chart.setOption({
      animation: false,
      textStyle: { color: INK.text, fontFamily: "sans-serif" },
      ...option,
    });
    return embed(chart.renderToSVGString(), width, height, label);
  } finally {
    chart.dispose();
  }
}

function embed(svg: string, width: number, height: number, label: string): string {
  const body = svg
    .slice(svg.indexOf(">") + 1)
    .replace(/<style[^>]*>.*?<\/style>/gs, "")
    .replace(/ (?:class|ecmeta_\w+)="[^"]*"/g, "")
    // Ids count up over the life of the process.
    .replace(/\bzr\d+-/g, `${label.toLowerCase().replace(/[^a-z]+/g, "-")}-`);
  const coloured = Object.entries(INK).reduce(
    (text, [name, ink]) => text.replaceAll(ink, `var(--${name})`),
    body,
  );
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${coloured}`;
}
