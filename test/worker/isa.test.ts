// tokenLogProbs and its gradient have the same bits on every instruction set. Runs the built library (npm run build).
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const script = fileURLToPath(new URL("./scripts/fingerprint.mjs", import.meta.url));

function fingerprint(level: string): { isa: string; prints: unknown[] } {
  const env = { ...process.env, MINFORM_ISA: level };
  return JSON.parse(execFileSync(process.execPath, [script], { env, encoding: "utf8" }));
}

it("instruction sets agree on every bit of log-probs, entropies and gradients", () => {
  const baseline = fingerprint("baseline");
  expect(baseline.isa).toBe("baseline");
  for (const level of ["avx2", "avx512"]) expect(fingerprint(level).prints).toEqual(baseline.prints);
});
