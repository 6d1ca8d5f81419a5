// The answers of MATH500: each is itself in any dress, and none is called another one.
import { describe, expect, it } from "vitest";
import { type EvalDataset, loadDataset, verify, verifyResponse } from "../../lib/verify/index.ts";
import { sharedPath } from "../support/checkpoints.ts";

const path = sharedPath("data", "math500.parquet");
if (path === undefined) console.warn("MATH500 skipped: ../shared/data/math500.parquet is not there");

const dresses: readonly (readonly [string, (answer: string) => string])[] = [
  ["as it stands", (answer) => answer],
  ["between dollar signs", (answer) => `$${answer}$`],
  ["with other fractions", (answer) => answer.replaceAll("\\frac", "\\dfrac")],
  ["in display style", (answer) => `\\displaystyle ${answer}.`],
];

/** Answers further down the list that each is compared with. */
const OTHERS = 40;

describe.skipIf(path === undefined)("MATH500", () => {
  const load = (): Promise<EvalDataset> => loadDataset(path!);

  it.each(dresses)("answers %s are equal", async (_, dress) => {
    const { problems } = await load();
    expect(problems).toHaveLength(500);
    const missed = problems.filter(
      ({ reference }) =>
        verify(dress(reference), reference).status !== "equal" ||
        verifyResponse(`So it is $\\boxed{${dress(reference)}}$.`, reference).status !== "equal",
    );
    expect(missed.map(({ id }) => id)).toEqual([]);
  });

  it("different answers are not called equal, units and degree signs aside", async () => {
    const { problems } = await load();
    const answers = [...new Set(problems.map(({ reference }) => reference))];
    const equal = answers.flatMap((answer, i) =>
      answers
        .slice(i + 1, i + 1 + OTHERS)
        .filter((other) => verify(answer, other).status === "equal")
        .map((other) => [answer, other] as const),
    );
    if (process.env.MINFORM_GRADING_SHOW) for (const pair of equal) console.info(pair.join(" | "));
    // Without signs, units and blanks they are the same, but for one of which a base is left out.
    expect(equal.filter(([a, b]) => bare(a) !== bare(b)).length).toBeLessThanOrEqual(1);
  });
});

function bare(answer: string): string {
  return answer.replace(/\^\\circ|\\mbox\{.*|\\[$!]|x=|[\s,{}]/g, "");
}
