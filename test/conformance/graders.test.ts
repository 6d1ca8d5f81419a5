// The peers' graders against the verdicts that they gave when they were run (the grading file's `peers`).
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type GraderName, graders } from "../../lib/verify/index.ts";
import { type GradingRow, type Peer, readGradingFile } from "./grading-file.ts";

const fallback = fileURLToPath(new URL("../../../shared/grading/dev.jsonl", import.meta.url));
const found = readGradingFile(fallback);

// What a string and an evaluation other than sympy's reach; docs/guides/verify.md tells what differs.
const peers: readonly (readonly [GraderName, Peer, number])[] = [
  ["hendrycks", "hendrycks_pure", 0.995],
  ["prime", "prime_verl", 0.93],
  ["qwen", "qwen", 0.96],
];

function agrees(name: GraderName, row: GradingRow, verdict: boolean): boolean {
  const grader = name === "qwen" && row.dataset === "minerva_math" ? "qwen-minerva" : name;
  const { prediction, reference } = row;
  const pair = row.kind === "response" ? { response: prediction, reference } : { prediction, reference };
  return (graders[grader](pair).status === "equal") === verdict;
}

if (found === undefined) {
  describe.skip("graders (no file)", () => it("runs", () => {}));
} else {
  it.each(peers)("%s agrees with its peer", (name, peer, bound) => {
    const rows = found.rows.filter((row) => typeof row.peers?.[peer] === "boolean");
    const other = rows.filter((row) => !agrees(name, row, row.peers[peer] as boolean));
    console.info(`${name}: ${rows.length - other.length} of ${rows.length} verdicts are the peer's`);
    if (process.env.MINFORM_GRADING_SHOW) {
      for (const row of other)
        console.info(
          `${row.id} ${row.category}, ${peer} says ${row.peers[peer]}: ${row.prediction.slice(0, 100)} | ${row.reference}`,
        );
    }
    expect(1 - other.length / rows.length).toBeGreaterThanOrEqual(
      bound - (found.path === fallback ? 0 : 0.05),
    );
  });
}
