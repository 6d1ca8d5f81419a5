// A file of graded pairs: prediction and reference with the mathematically right verdict.
import { existsSync, readFileSync } from "node:fs";

/** One pair of a grading file. */
export interface GradingRow {
  readonly id: string;
  readonly prediction: string;
  readonly reference: string;
  readonly equal: boolean;
  readonly kind: "answer" | "response";
  readonly category: string;
  readonly convention?: boolean;
  readonly dataset?: string;
  readonly peers: Readonly<Record<Peer, boolean | null>>;
}

/** The graders whose verdicts a file records. */
export type Peer = "qwen" | "math_verify" | "hendrycks_pure" | "prime_verl";

/** The file that MINFORM_GRADING names, else the default; undefined when only the default is missing. */
export function readGradingFile(fallback: string): { path: string; rows: GradingRow[] } | undefined {
  const path = process.env.MINFORM_GRADING || fallback;
  if (!existsSync(path)) {
    if (process.env.MINFORM_GRADING) throw new Error(`MINFORM_GRADING: no such file: ${path}`);
    return undefined;
  }
  const lines = readFileSync(path, "utf8").split("\n");
  const rows = lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as GradingRow);
  if (rows.length === 0) throw new Error(`${path}: holds no row`);
  return { path, rows };
}
