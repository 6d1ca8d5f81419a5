import { afterEach, describe, expect, it } from "vitest";
import {
  createVerifier,
  type Pair,
  type Verifier,
  type VerifierOptions,
  verify,
} from "../../lib/verify/index.ts";
import { rejection } from "../support/errors.ts";
import { kinds } from "./kinds/index.ts";

const open: Verifier[] = [];
function verifierWith(options: VerifierOptions): Verifier {
  const verifier = createVerifier(options);
  open.push(verifier);
  return verifier;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((verifier) => verifier.close()));
});

const pairs: Pair[] = Object.values(kinds).flatMap(({ equal, different }) =>
  [...equal, ...different].map(([prediction, reference]) => ({ prediction, reference })),
);
/** Takes all the work that a pair may cost. */
const hard: Pair = {
  prediction: "\\sum_{a=1}^{2000}\\sum_{b=1}^{2000}\\sin(ab)",
  reference: "\\sqrt{2}",
};

describe("createVerifier", () => {
  it("gives each pair the verdict that verify gives it, in order, for any number of threads", async () => {
    const expected = pairs.map((pair) => verify((pair as { prediction: string }).prediction, pair.reference));
    for (const workers of [1, 3]) expect(await verifierWith({ workers }).verify(pairs)).toEqual(expected);
  });

  it("stops a pair at the time limit, answers the others, and is healthy afterwards", async () => {
    const verifier = verifierWith({ workers: 1, timeLimit: 1 });
    const simple: Pair = { prediction: "1", reference: "\\frac22" };
    const verdicts = await verifier.verify([simple, hard, simple, hard, simple]);
    expect(verdicts.map(({ status }) => status)).toEqual(["equal", "timeout", "equal", "timeout", "equal"]);
    expect((await verifierWith({ workers: 1 }).verify([pairs[0]!]))[0]!.status).toBe("equal");
  });

  it("stops a pair that takes too much memory, and is healthy afterwards", async () => {
    const verifier = verifierWith({ workers: 1, memoryLimit: 24, timeLimit: 20_000 });
    const simple: Pair = { prediction: "\\sqrt{8}", reference: "2\\sqrt2" };
    const greedy: Pair = { response: `\\boxed{${"{x".repeat(3_000_000)}}`, reference: "5" };
    const verdicts = await verifier.verify([simple, greedy, simple]);
    expect(verdicts).toMatchObject([
      { status: "equal" },
      { status: "timeout", detail: "too much memory" },
      { status: "equal" },
    ]);
  });

  it("reports progress up to the end", async () => {
    const seen: number[] = [];
    await verifierWith({ workers: 1 }).verify(pairs, {
      onProgress: ({ done, total }) => {
        expect(total).toBe(pairs.length);
        seen.push(done);
      },
    });
    expect(seen.at(-1)).toBe(pairs.length);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  it("ends a batch on a signal, and takes the next one", async () => {
    const verifier = verifierWith({ workers: 1 });
    const controller = new AbortController();
    const batch = verifier.verify(new Array<Pair>(200).fill(hard), { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 50);
    expect((await rejection(() => batch)).message).toBe("enough");
    expect((await rejection(() => verifier.verify([], { signal: controller.signal }))).message).toBe(
      "enough",
    );
    expect((await verifier.verify([{ prediction: "\\sqrt4", reference: "2" }]))[0]!.status).toBe("equal");
  });

  it("runs batches side by side", async () => {
    const verifier = verifierWith({ workers: 2 });
    const [a, b] = await Promise.all([
      verifier.verify(pairs.slice(0, 40)),
      verifier.verify(pairs.slice(40, 90)),
    ]);
    expect([a!.length, b!.length]).toEqual([40, 50]);
  });

  it("leaves the event loop free", async () => {
    const verifier = verifierWith({ workers: 1 });
    await verifier.verify(pairs.slice(0, 1));
    const batch: Pair[] = Array.from({ length: 20_000 }, (_, k) => ({
      prediction: `${k}/7`,
      reference: `\\frac{${k}}{7}`,
    }));
    // The loop's turns while the batch runs, of which a slow machine makes more and not fewer.
    let turns = 0;
    const watch = (): void => {
      turns++;
      timer = setImmediate(watch);
    };
    let timer = setImmediate(watch);
    await verifier.verify(batch);
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(20);
  });

  it("takes whole responses and named graders", async () => {
    const response = "so the roots are \\boxed{3} and \\boxed{-1}";
    const own = await verifierWith({ workers: 1 }).verify([{ response, reference: "-1,3" }]);
    expect(own).toEqual([{ status: "equal", by: "structure", answer: "3, -1" }]);
    const peer = await verifierWith({ workers: 1, grader: "hendrycks" }).verify([
      { response, reference: "-1" },
    ]);
    expect(peer).toMatchObject([{ status: "equal", answer: "-1" }]);
  });

  it("is closed once", async () => {
    const verifier = verifierWith({});
    await verifier.close();
    expect((await rejection(() => verifier.verify(pairs))).code).toBe("ERR_CLOSED");
  });

  it.each<[string, VerifierOptions]>([
    ["workers", { workers: -1 }],
    ["timeLimit", { timeLimit: 0 }],
    ["memoryLimit", { memoryLimit: 1 }],
    ["grader", { grader: "sympy" as never }],
    ["fallback", { fallback: "any" as never }],
  ])("names a bad option: %s", (name, options) => {
    expect(() => createVerifier(options)).toThrow(name);
  });
});
