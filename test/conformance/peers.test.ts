// Every key of a file of cases, computed with the presets and compared with what the peer's own function gave, in
// float64 and in float32 (agreement.ts states the bounds). The file is the one MINFORM_PEERS names, by default the
// shared fixture beside the repository. A key that is not known, or an argument of it, fails.
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { expectAgreement } from "./agreement.ts";
import { Case, type RawCase, readCaseFile } from "./case-file.ts";
import { functions, type Outcome } from "./functions.ts";
import { Key } from "./key.ts";
import { expectedOf, logitsOutcome } from "./logits.ts";

const fallback = fileURLToPath(new URL("../../../shared/fixtures/peers.json", import.meta.url));
const found = readCaseFile(fallback);
let compared = 0;

function compute(text: string, inputs: Case): Outcome {
  const key = new Key(text);
  const call = functions[key.name];
  if (call === undefined) throw new Error(`unknown key ${text}`);
  const outcome = call(key, inputs);
  key.finish();
  return outcome;
}

function computeAll(text: string, raw: RawCase) {
  const [exact, rounded, single] = (["float64", "rounded", "float32"] as const).map((kind) =>
    compute(text, new Case(raw, kind)),
  );
  return { exact: exact!, rounded: rounded!, single: single! };
}

if (found === undefined) {
  console.warn(`conformance with the peers skipped: ${fallback} is missing and MINFORM_PEERS is not set`);
  describe.skip("conformance with the peers (no case file)", () => it("runs", () => {}));
} else {
  const { path, file } = found;
  describe.each(file.cases.map((raw, i) => [`${i} ${raw.tag}`, raw] as const))("case %s", (_, raw) => {
    it.each(Object.entries(raw.out))("%s", (key, expected) => {
      const { responseMask, width } = new Case(raw, "float64");
      compared += expectAgreement(key, expected, computeAll(key, raw), responseMask, width);
    });
  });

  describe.each(file.logits.map((entry, i) => [`${i}`, entry] as const))("logits %s", (_, entry) => {
    it("log-probs, entropy and gradient", async () => {
      const [exact, rounded, single] = await Promise.all(
        (["float64", "rounded", "float32"] as const).map((kind) => logitsOutcome(entry, kind)),
      );
      const runs = { exact: exact!, rounded: rounded!, single: single! };
      compared += expectAgreement(
        "logits",
        expectedOf(entry),
        runs,
        undefined,
        (entry.logits as unknown[][])[0]!.length,
      );
    });
  });

  afterAll(() => {
    console.info(
      `conformance: ${file.cases.length} cases, ${file.logits.length} logits, ${compared} numbers of ${path}`,
    );
  });
}

describe("the reader of case files", () => {
  const raw: RawCase = {
    tag: "tiny",
    inputs: { response_mask: [[1, 1]], group: ["a"], token_rewards: [[0, 1]] },
    out: {},
  };
  const inputs = new Case(raw, "float64");

  it.each([
    ["verl.no_such_function", /unknown key/],
    ["verl.rloo[surprise]", /unknown arguments surprise/],
    ["verl.reinforce_plus_plus[gamma=0.9,lam=1]", /unknown arguments lam/],
    ["verl.reinforce_plus_plus", /parameter gamma is missing/],
    ["verl.policy_loss[dppo,token-mean]", /unknown argument dppo/],
    ["pure_verl.rloo[max_form_0.1,sum,norm=False]", /unknown rewards/],
  ])("refuses %s", (key, message) => {
    expect(() => compute(key, inputs)).toThrow(message);
  });

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it("lacks the default file quietly, and the file it was told to read with an error", () => {
    vi.stubEnv("MINFORM_PEERS", "");
    expect(readCaseFile("no-such-file.json")).toBeUndefined();
    vi.stubEnv("MINFORM_PEERS", "no-such-file.json");
    expect(() => readCaseFile(fallback)).toThrow(/no-such-file/);
  });

  it("fails for a value it did not compute, another shape, another number and a missing NaN", () => {
    const results = { advantages: Float64Array.of(1, 2) };
    const run = (expected: Parameters<typeof expectAgreement>[1]) => () =>
      expectAgreement(
        "key",
        expected,
        { exact: { results }, rounded: { results }, single: { results } },
        inputs.responseMask,
        2,
      );
    expect(run({ advantages: [[1, 2]] })()).toBe(4);
    expect(run({ returns: [[1, 2]] })).toThrow(/not computed/);
    expect(run({ advantages: [[1, 2, 3]] })).toThrow(/one value per token/);
    expect(run({ advantages: [[1, 2.00001]] })).toThrow(/off by/);
    expect(run({ advantages: [["NaN", 2]] })).toThrow(/off by/);
    expect(run({ advantages: [["Infinity", 2]] })).toThrow(/off by/);
  });
});
