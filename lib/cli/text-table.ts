import Table from "cli-table3";
import type { TextTable } from "../report/page.ts";
import { printable } from "./printable.ts";
import { STYLE } from "./table.ts";

/** @internal A table of a report for the terminal. */
export function textTable({ title, head, rows }: TextTable): string {
  const table = new Table({ ...STYLE, colAligns: head.map((_, i) => (i === 0 ? "left" : "right")) });
  table.push([title.toUpperCase(), ...head.slice(1)].map((cell) => printable(cell, 40)));
  table.push(...rows.map((row) => row.map((cell) => printable(cell, 40))));
  return table.toString().replace(/ +$/gm, "");
}
