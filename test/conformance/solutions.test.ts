// Verdicts on real solutions against the labels that people, or another grader, gave them.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { verify, verifyResponse } from "../../lib/verify/index.ts";

const folder = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const lines = <T>(file: string): T[] =>
  readFileSync(`${folder}${file}`, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);

interface Solution {
  id: string;
  steps: string[];
  final_answer_correct: boolean;
}

describe.skipIf(!existsSync(folder))("real solutions", () => {
  it("ProcessBench: answers that were found agree with final_answer_correct", () => {
    const references = new Map(
      lines<{ id: string; answer: string }>("processbench/references.jsonl").map(({ id, answer }) => [
        id,
        answer,
      ]),
    );
    let [all, agreeing, answered, agreeingAnswered, missed, wronglyEqual] = [0, 0, 0, 0, 0, 0];
    for (const part of ["gsm8k", "math", "olympiadbench"]) {
      for (const { id, steps, final_answer_correct: correct } of JSON.parse(
        readFileSync(`${folder}processbench/${part}.json`, "utf8"),
      ) as Solution[]) {
        const reference = references.get(id);
        if (reference === undefined) continue;
        const { status, answer } = verifyResponse(steps.join("\n\n"), reference);
        const agrees = (status === "equal") === correct;
        all++;
        if (agrees) agreeing++;
        if (status === "noAnswer") continue;
        answered++;
        if (agrees) agreeingAnswered++;
        else if (correct) missed++;
        else wronglyEqual++;
        if (!agrees && process.env.MINFORM_GRADING_SHOW)
          console.info(`${id}, labelled ${correct ? "right" : "wrong"}: ${answer} | ${reference}`);
      }
    }
    const share = (a: number, b: number): string => `${a} of ${b} (${((100 * a) / b).toFixed(2)} %)`;
    console.info(
      `ProcessBench: agree on ${share(agreeing, all)}, with a box on ${share(agreeingAnswered, answered)}`,
    );
    console.info(`labelled right and not equal: ${missed}; labelled wrong and equal: ${wronglyEqual}`);
    expect(agreeingAnswered / answered).toBeGreaterThan(0.97);
    // Every one of them was looked at: the label is wrong.
    expect(wronglyEqual).toBeLessThanOrEqual(11);
  });

  it("qwen25math: answers agree with the scores of the grader that was used there", () => {
    let [all, agreeing] = [0, 0];
    for (const { gt, pred, score } of lines<{ gt: string; pred: string[]; score: boolean[] }>(
      "qwen25math/math_cot_100.jsonl",
    )) {
      pred.forEach((prediction, i) => {
        all++;
        if ((verify(prediction, gt).status === "equal") === score[i]) agreeing++;
      });
    }
    console.info(`qwen25math: ${agreeing} of ${all} agree`);
    expect(agreeing / all).toBeGreaterThan(0.99);
  });
});
