import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { capabilities, cudaInfo, getNumThreads, setNumThreads } from "../../lib/index.ts";
import { errorCode } from "../support/compare.ts";

const root = new URL("../../", import.meta.url);

function inChild(script: string, env: Record<string, string>): string {
  return execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
}

describe("device", () => {
  it("reports a level that this machine has, under the cap of MINFORM_ISA", () => {
    const levels = ["baseline", "avx2", "avx512"];
    const { isaDetected, isaInUse, threads } = capabilities();
    const cap = process.env.MINFORM_ISA ? levels.indexOf(process.env.MINFORM_ISA) : levels.length;
    expect(levels.indexOf(isaInUse)).toBe(Math.min(cap, levels.indexOf(isaDetected)));
    expect(threads).toBe(getNumThreads());
  });

  it("caps the level in a fresh process", () => {
    const script = 'import { capabilities } from "./dist/index.js"; console.log(capabilities().isaInUse)';
    expect(inChild(script, { MINFORM_ISA: "baseline" }).trim()).toBe("baseline");
  });

  it("a MINFORM_ISA that names no level is an error, not ignored", () => {
    const script =
      'import { capabilities } from "./dist/index.js"; try { capabilities() } catch (e) { console.log(e.code, e.message) }';
    expect(inChild(script, { MINFORM_ISA: "sse9" })).toMatch(
      /^ERR_ADDON MINFORM_ISA: expected .* got "sse9"/,
    );
  });

  it("a missing addon is one typed error that says what to do; cudaInfo still answers", () => {
    const script = `import { cudaInfo, minForm, ragged } from "./dist/index.js";
      try { minForm(ragged([[1]])) } catch (e) { console.log(e.code, e.message) }
      console.log(cudaInfo().available)`;
    const printed = inChild(script, { MINFORM_ADDON_PATH: "/nowhere/minform.node" });
    expect(printed).toMatch(/^ERR_ADDON the native addon cannot be loaded from \/nowhere\/minform.node/);
    expect(printed.trim().endsWith("false")).toBe(true);
  });

  it("cudaInfo says why there is no device", () => {
    const info = cudaInfo();
    expect(info.available).toBe(info.devices > 0);
    expect(info.reason === "").toBe(info.available);
  });

  it("threads can be set and are checked", () => {
    const before = getNumThreads();
    setNumThreads(3);
    expect(getNumThreads()).toBe(3);
    setNumThreads(before);
    for (const wrong of [0, -1, 1.5, Number.NaN, 5000, "2"]) {
      expect(errorCode(() => setNumThreads(wrong as number))).toBe("ERR_ARGUMENT_VALUE");
    }
  });
});
