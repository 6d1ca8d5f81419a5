import { MinformError } from "../errors.ts";
import type { QuantizeProgress } from "../model/index.ts";
import { parseRow, type TextLine } from "../files/lines.ts";
import { rowToItem } from "../prm/files/rows.ts";
import type { PrmItem } from "../prm/items.ts";
import { type LoadPrmOptions, loadPrm } from "../prm/load.ts";
import type { Prm } from "../prm/prm.ts";
import { compareScores, type ScoreDifference } from "../prm/quantization.ts";
import { type ModelFlags, toLoadOptions } from "./prm-options.ts";

/** @internal Rows on which the scores of quantised weights are held against those of the stored ones. */
export const COMPARED_ROWS = 8;

/**
 * @internal What `--quantize` does to the scores of the first rows, told on stderr; undefined without it, or when none of
 * the rows can be scored.
 */
export async function reportQuantization(
  prm: Prm,
  flags: ModelFlags,
  lines: readonly TextLine[],
): Promise<ScoreDifference | undefined> {
  const { quantize, ...rest } = flags;
  const items = quantize === undefined ? [] : lines.flatMap((line) => itemOf(prm, line));
  if (items.length === 0) return undefined;
  const stored = await loadPrm(flags.model, { ...toLoadOptions(rest), convention: prm.convention });
  try {
    const difference = await compareScores(prm, stored, items);
    const { steps, max, mean } = difference;
    process.stderr.write(
      `${quantize} weights change scores by ${mean.toPrecision(3)} on average, ${max.toPrecision(3)} at most (${steps} steps of the first ${items.length} rows)\n`,
    );
    return difference;
  } finally {
    await stored.close();
  }
}

/** @internal What commands load a PRM with besides their flags: Ctrl-C ends it, and a terminal shows how far it is. */
export function loadContext(signal: AbortSignal): LoadPrmOptions {
  return { signal, hub: { signal }, ...(process.stderr.isTTY ? { onQuantize: showQuantizing } : {}) };
}

function showQuantizing({ done, total }: QuantizeProgress): void {
  const text = done < total ? `quantising ${((100 * done) / total).toFixed(0)} %` : "";
  process.stderr.write(`\r\u001B[K${text}`);
}

function itemOf(prm: Prm, line: TextLine): PrmItem[] {
  try {
    const item = rowToItem(parseRow(line), prm.convention);
    prm.prepare(item);
    return [item];
  } catch (error) {
    if (error instanceof MinformError) return [];
    throw error;
  }
}
