import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reflectionScores, stepCounts } from "../../lib/index.ts";
import { errorCode } from "../support/compare.ts";

describe("reflectionScores", () => {
  it.each([
    ["", 0],
    ["Wait, that is wrong. wait, again", 2],
    ["wait that is no pause", 0],
    ["However, let's verify. Let's check; try again. Alternatively, rethink this and recheck, retry it", 8],
    ["rechecked and retrying", 0],
  ])("%j has %d", (text, score) => {
    expect(reflectionScores([text])).toEqual(Float64Array.of(score));
  });

  it("adds up over texts that are put together with a blank line", () => {
    const part = fc.constantFrom("wait,", "so ", "recheck ", "try again", "x", "However, ");
    fc.assert(
      fc.property(fc.array(part), fc.array(part), (a, b) => {
        const [x, y] = [a.join(""), b.join("")];
        const [apart, together] = [reflectionScores([x, y]), reflectionScores([`${x}|\n\n${y}`])];
        expect(together[0]).toBe(apart[0]! + apart[1]!);
      }),
      { seed: 1 },
    );
  });

  it("refuses anything but strings", () => {
    expect(errorCode(() => reflectionScores([1] as never))).toBe("ERR_ARGUMENT_TYPE");
  });
});

describe("stepCounts", () => {
  it("counts the parts that were joined", () => {
    const step = fc.string().map((text) => text.replaceAll("\n", ""));
    fc.assert(
      fc.property(fc.array(step, { minLength: 1 }), (steps) => {
        expect(stepCounts([steps.join("\n\n")])).toEqual(Float64Array.of(steps.length));
        expect(stepCounts([steps.map((text) => text.replaceAll("#", "")).join("#")], "#")[0]).toBe(
          steps.length,
        );
      }),
      { seed: 1 },
    );
  });

  it("refuses anything but strings and an empty separator", () => {
    expect(errorCode(() => stepCounts([null] as never))).toBe("ERR_ARGUMENT_TYPE");
    expect(errorCode(() => stepCounts(["a"], ""))).toBe("ERR_ARGUMENT_VALUE");
  });
});
