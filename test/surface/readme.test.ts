// The README's example runs as it stands, against the built package.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../../", import.meta.url);

describe("README", () => {
  it("the example prints a finite loss, a gradient per token and a clip fraction", () => {
    const code = /```ts\n([\s\S]*?)```/.exec(readFileSync(new URL("README.md", root), "utf8"))?.[1];
    const script = code!
      .replace('from "minform"', 'from "./dist/index.js"')
      .replace(
        /console\.log\((.*)\);/,
        "console.log(JSON.stringify([loss, [...gradLogProbs.data], stats.clipFraction]));",
      );
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: root,
      encoding: "utf8",
    });
    const [loss, gradient, clipFraction] = JSON.parse(printed) as [number, number[], number];
    expect(Number.isFinite(loss)).toBe(true);
    expect(gradient).toHaveLength(14);
    expect(gradient.some((value) => value !== 0)).toBe(true);
    expect(clipFraction).toBe(0);
  });
});
