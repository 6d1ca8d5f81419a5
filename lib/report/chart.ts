import { type ChartOption, INK } from "./svg.ts";

/** @internal A chart with the words around it. */
export interface Chart {
  readonly title: string;
  readonly caption: string;
  readonly svg: string;
}

/** @internal Width of a chart. */
export const WIDTH = 560;
/** @internal Height of a chart. */
export const HEIGHT = 320;

/** @internal A value axis; `more` goes over it. */
export function axis(name: string, more: object = {}): object {
  return {
    type: "value",
    name,
    nameLocation: "middle",
    nameGap: 30,
    nameTextStyle: { color: INK.text },
    axisLabel: { color: INK.faint },
    axisLine: { lineStyle: { color: INK.faint } },
    splitLine: { lineStyle: { color: INK.grid } },
    ...more,
  };
}

/** @internal Where the plot lies in the picture. */
export const GRID = { left: 58, right: 18, top: 40, bottom: 48 };
/** @internal A legend on top. */
export const LEGEND = {
  top: 4,
  textStyle: { color: INK.text },
  itemWidth: 26,
  itemHeight: 10,
  itemGap: 18,
  inactiveColor: INK.faint,
};

/** @internal A line through points. */
export function line(
  name: string,
  color: string,
  data: readonly (readonly number[])[],
  type: "solid" | "dashed" = "solid",
): object {
  return {
    type: "line",
    name,
    data,
    symbol: "circle",
    symbolSize: 5,
    showSymbol: data.length <= 40,
    lineStyle: { color, width: 2, type },
    itemStyle: { color },
  };
}

/** @internal A chart of lines. */
export function lineChart(x: object, y: object, series: object[]): ChartOption {
  return { grid: GRID, legend: LEGEND, xAxis: x, yAxis: y, series };
}
