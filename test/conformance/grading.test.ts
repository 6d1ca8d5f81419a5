// Verdicts of the default grader on a file of pairs (MINFORM_GRADING, by default the shared one beside the repository),
// the same verdicts when the sides or the notation change, and the time they take.
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { normalizeAnswer, type Verdict, verify, verifyResponse } from "../../lib/verify/index.ts";
import { type GradingRow, readGradingFile } from "./grading-file.ts";

const fallback = fileURLToPath(new URL("../../../shared/grading/dev.jsonl", import.meta.url));
const found = readGradingFile(fallback);

interface Graded {
  readonly row: GradingRow;
  readonly verdict: Verdict;
  readonly ms: number;
}

function grade(row: GradingRow): Verdict {
  return (row.kind === "response" ? verifyResponse : verify)(row.prediction, row.reference);
}

function describeRows(name: string, graded: readonly Graded[]): string {
  const right = graded.filter(({ row, verdict }) => (verdict.status === "equal") === row.equal).length;
  const wrongly = graded.filter(({ row, verdict }) => verdict.status === "equal" && !row.equal).length;
  const none = graded.filter(({ verdict }) => !["equal", "different"].includes(verdict.status)).length;
  const times = graded.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (q: number): string =>
    `${times[Math.min(times.length - 1, Math.floor(q * times.length))]?.toFixed(3)} ms`;
  const share = ((100 * right) / Math.max(1, graded.length)).toFixed(1);
  return `${name}: ${right} of ${graded.length} right (${share} %), ${wrongly} wrongly equal, ${none} without a verdict, median ${at(0.5)}, p99 ${at(0.99)}`;
}

if (found === undefined) {
  console.warn(`grading skipped: ${fallback} is missing and MINFORM_GRADING is not set`);
  describe.skip("grading (no file)", () => it("runs", () => {}));
} else {
  const { path, rows } = found;
  verify("\\sqrt{2}x", "x\\sqrt{2}"); // loads the reader, which is not a pair's time
  const graded = rows.map((row): Graded => {
    const start = performance.now();
    const verdict = grade(row);
    return { row, verdict, ms: performance.now() - start };
  });
  const decided = graded.filter(({ row }) => !row.convention);
  const answers = graded.filter(({ row }) => row.kind === "answer");
  const miss = decided.filter(({ row, verdict }) => (verdict.status === "equal") !== row.equal);

  describe(`grading ${path}`, () => {
    it("is right on at least 98 % of the rows that are no convention, and calls at most one wrongly equal", () => {
      console.info(describeRows("rows", decided));
      console.info(
        describeRows(
          "conventions",
          graded.filter(({ row }) => row.convention),
        ),
      );
      if (process.env.MINFORM_GRADING_SHOW) {
        for (const { row, verdict } of graded.filter(
          ({ row, verdict }) => (verdict.status === "equal") !== row.equal,
        ))
          console.info(
            `${row.convention ? "convention " : ""}${row.category} ${verdict.status} (${verdict.by ?? verdict.detail}), right: ${row.equal ? "equal" : "different"}: ${row.prediction.slice(0, 200)} | ${row.reference}`,
          );
      }
      const wronglyEqual = miss.filter(({ row }) => !row.equal).map(({ row }) => row.id);
      const allowed =
        path === fallback ? 1 : Math.ceil(0.003 * decided.filter(({ row }) => !row.equal).length);
      expect(wronglyEqual.length, wronglyEqual.join(" ")).toBeLessThanOrEqual(allowed);
      expect(1 - miss.length / decided.length).toBeGreaterThanOrEqual(path === fallback ? 0.98 : 0.95);
    });

    it("answers every row in time", () => {
      const slow = graded.filter(({ ms }) => ms > 1200).map(({ row, ms }) => `${row.id}: ${ms} ms`);
      expect(slow).toEqual([]);
    });

    it("gives the same verdict with the sides swapped", () => {
      const changed = answers.filter(
        ({ row, verdict }) =>
          (verdict.status === "equal") !== (verify(row.reference, row.prediction).status === "equal"),
      );
      expect(changed.map(({ row }) => `${row.prediction} | ${row.reference}`)).toEqual([]);
    });

    it("normalises once and for all", () => {
      const changed = answers
        .flatMap(({ row }) => [row.prediction, row.reference])
        .filter((text) => normalizeAnswer(normalizeAnswer(text)) !== normalizeAnswer(text));
      expect(changed).toEqual([]);
    });

    const rewritings: readonly (readonly [string, (text: string) => string])[] = [
      ["blanks around it", (text) => `  ${text} \n`],
      ["blanks around operators", (text) => text.replace(/([=+])/g, " $1 ")],
      ["\\dfrac", (text) => text.replaceAll("\\frac", "\\dfrac")],
      ["\\left and \\right", sized],
      ["display style", (text) => `\\displaystyle ${text}`],
      ["dollar signs", (text) => (text.includes("$") ? text : `$${text}$`)],
    ];
    it.each(rewritings)("is not changed by %s", (_, rewrite) => {
      const changed = answers
        .filter(({ row }) => row.category !== "hostile" && row.category !== "malformed")
        .filter(({ row, verdict }) => {
          const again = verify(rewrite(row.prediction), row.reference).status;
          return (again === "equal") !== (verdict.status === "equal");
        });
      expect(changed.map(({ row }) => `${rewrite(row.prediction)} | ${row.reference}`)).toEqual([]);
    });
  });
}

// Only where the parentheses of the text pair up: \left without \right is another text.
function sized(text: string): string {
  let depth = 0;
  for (const c of text) {
    if (c === "(") depth++;
    if (c === ")" && --depth < 0) return text;
  }
  if (depth !== 0 || /\\left|\\[bB]ig|[[\]]/.test(text)) return text;
  return text.replaceAll("(", "\\left(").replaceAll(")", "\\right)");
}
