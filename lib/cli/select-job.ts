import { readRows } from "../files/lines.ts";
import { writeWhole } from "../atomic-file.ts";
import { selectRows } from "../prm/files/select-rows.ts";
import type { SelectFlags } from "./select.ts";
import { checkPaths } from "./streams.ts";

/** @internal Runs `minform select`. */
export async function runSelect(flags: SelectFlags): Promise<void> {
  const { in: input, out, correct, ...options } = flags;
  checkPaths(input, out);
  const selections = await selectRows(await readRows(input), options);
  const lines = selections.map(({ row, group, n, score, votes }) =>
    JSON.stringify({
      ...row,
      selection: { method: options.method, group, n, chosen: row !== undefined, score, votes },
    }),
  );
  const text = lines.map((line) => `${line}\n`).join("");
  if (out === "-") process.stdout.write(text);
  else writeWhole(out, text);
  const chosen = selections.filter(({ row }) => row !== undefined);
  let report = `${selections.length} problems, ${chosen.length} with a choice`;
  if (correct !== undefined) {
    const right = chosen.filter(({ row }) => Boolean(row![correct])).length;
    report += `, ${right} right (${((100 * right) / Math.max(1, selections.length)).toFixed(2)} %)`;
  }
  process.stderr.write(`${report}\n`);
}
