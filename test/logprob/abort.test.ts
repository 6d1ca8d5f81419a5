// Long jobs stop when their signal fires, and only they.
import { describe, expect, it } from "vitest";
import { linearLogProbs, type LogProbs, tokenLogProbs, tokenLogProbsBackward } from "../../lib/index.ts";
import { expectSameBits } from "../support/compare.ts";
import { normals, rowTensor, someTargets, tensor } from "./support.ts";

// About a second of work.
const shape = [256, 256, 60_000] as const;
const long = {
  hidden: tensor("float64", [shape[0], shape[1]], normals(shape[0] * shape[1], 1)),
  weight: { type: "float64", dims: [shape[2], shape[1]], data: new Float64Array(shape[2] * shape[1]) },
} as const;
const longTargets = someTargets(shape[0], shape[2]);
const logits = rowTensor("float32", [1, 2, 3]);
const target = Int32Array.of(1);
const soon = () => new Promise((resolve) => setTimeout(resolve, 30));

describe("AbortSignal", () => {
  it("that has fired already: rejects with its reason and starts nothing", async () => {
    const reason = new Error("not wanted");
    const signal = AbortSignal.abort(reason);
    await expect(tokenLogProbs(logits, target, { signal })).rejects.toBe(reason);
    const out = new Float32Array(3).fill(7);
    const forward = await tokenLogProbs(logits, target);
    const grads = { gradLogProbs: Float32Array.of(1) };
    await expect(tokenLogProbsBackward(logits, target, forward, grads, { signal, out })).rejects.toBe(reason);
    expect([...out]).toEqual([7, 7, 7]);
  });

  it("that fires mid-work: rejects with its reason, long before the work would be done", async () => {
    const start = performance.now();
    await linearLogProbs(long, longTargets);
    const whole = performance.now() - start;
    const controller = new AbortController();
    const promise = linearLogProbs(long, longTargets, { signal: controller.signal });
    await soon();
    const fired = performance.now();
    controller.abort("enough");
    await expect(promise).rejects.toBe("enough");
    expect(performance.now() - fired).toBeLessThan(whole / 2);
  });

  it("of a job that waits: it need not wait for the one before it", async () => {
    const order: string[] = [];
    const first = linearLogProbs(long, longTargets).then(() => order.push("first"));
    const controller = new AbortController();
    const second = linearLogProbs(long, longTargets, { signal: controller.signal }).catch(() =>
      order.push("second"),
    );
    controller.abort();
    await Promise.all([first, second]);
    expect(order).toEqual(["second", "first"]);
  });

  it("that fires after the work is done changes nothing", async () => {
    const controller = new AbortController();
    const { logProbs } = await tokenLogProbs(logits, target, { signal: controller.signal });
    controller.abort();
    expect(logProbs[0]).toBeCloseTo(-1.4076, 4);
  });

  it("a timeout is a reason like any other", async () => {
    const promise = linearLogProbs(long, longTargets, { signal: AbortSignal.timeout(10) });
    await expect(promise).rejects.toMatchObject({ name: "TimeoutError" });
  });
});

describe("many jobs at once", () => {
  it("each gets its own result; the aborted ones and no others reject", async () => {
    const inputs = Array.from({ length: 60 }, (_, i) => tensor("float32", [2, 5000], normals(10_000, i)));
    const targets = Int32Array.of(5, 4999);
    const alone: LogProbs<"float32">[] = [];
    for (const input of inputs) alone.push(await tokenLogProbs(input, targets));
    const controller = new AbortController();
    const together = inputs.map((input, i) =>
      tokenLogProbs(input, targets, i % 3 === 2 ? { signal: controller.signal } : {}),
    );
    controller.abort("stop");
    const settled = await Promise.allSettled(together);
    settled.forEach((result, i) => {
      if (result.status === "fulfilled") expectSameBits(result.value.logProbs, alone[i]!.logProbs);
      else expect([i % 3, result.reason]).toEqual([2, "stop"]);
    });
    expect(settled.filter(({ status }) => status === "rejected").length).toBe(20);
  });
});
