import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { liveView } from "../../../lib/train/live/index.ts";
import { clock } from "../../../lib/train/live/phase.ts";
import { sparkline } from "../../../lib/train/live/sparkline.ts";
import { Screen } from "./screen.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => vi.useRealTimers());

const asStream = (stream: unknown) => stream as NodeJS.WriteStream;

function rl(view: ReturnType<typeof liveView>, steps: number, to = steps): void {
  for (let step = 0; step <= to; step++) {
    const metrics = {
      "critic/score/mean": step / steps,
      ...(step % 2 === 0 && { "eval/pass@1/greedy": 0.5 }),
    };
    view.update({ phase: "rl", step, steps, metrics });
    vi.advanceTimersByTime(1000);
  }
}

describe("on a terminal", () => {
  it("shows progress, time left and curves in place", () => {
    const screen = new Screen();
    const view = liveView({ stream: asStream(screen) });
    rl(view, 20, 10);
    view.update({ phase: "rl", step: 11, steps: 20, metrics: { "critic/score/mean": 0.55 } });
    expect(screen.cursor).toBe(false);
    view.stop();
    const [head, greedy, score, ...rest] = screen.text.split("\n");
    expect(head).toBe(`rl  ${"━".repeat(13)}${"┄".repeat(11)}  step 11 of 20, 11 s, 9 s left`);
    expect(greedy).toMatch(/^ {2}pass@1, greedy +▅{6} +0\.5$/);
    expect(score).toMatch(/^ {2}score +▁▂▂▃▄▄▅▅▆▆?▇?▇?█ +0\.55$/);
    expect(rest).toEqual([]);
    expect(screen.cursor).toBe(true);
  });

  it("keeps what a phase ended with, and notes above", () => {
    const screen = new Screen();
    const view = liveView({ stream: asStream(screen) });
    view.update({ phase: "sft", step: 1, steps: 2, metrics: { "sft/loss": 2 } });
    view.update({ phase: "sft", step: 2, steps: 2, metrics: { "sft/loss": 1 } });
    view.update({ phase: "rl", step: 1, steps: 2, metrics: {} });
    view.note("a note");
    view.stop();
    const lines = screen.text.split("\n").map((line) => line.replace(/ +/g, " "));
    expect(lines).toEqual([
      `sft ${"━".repeat(24)} step 2 of 2, 0 s`,
      " loss █▁ 1",
      "a note",
      `rl ${"━".repeat(12)}${"┄".repeat(12)} step 1 of 2, 0 s`,
    ]);
  });

  it.each([
    [30, 24],
    [80, 3],
    [200, 50],
  ])("fits %i columns and %i rows", (columns, rows) => {
    const screen = new Screen(columns, rows);
    const view = liveView({ stream: asStream(screen) });
    rl(view, 300);
    view.stop();
    expect(screen.widest).toBeLessThanOrEqual(columns);
    expect(screen.text.split("\n").length).toBeLessThan(rows);
  });

  it("does not draw more often than one can see", () => {
    const screen = new Screen();
    const write = vi.spyOn(screen, "write");
    const view = liveView({ stream: asStream(screen) });
    for (let step = 1; step <= 1000; step++) {
      view.update({ phase: "rl", step, steps: 1000, metrics: { "pass@1": 1 } });
      vi.advanceTimersByTime(1);
    }
    expect(write.mock.calls.filter(([text]) => String(text).includes("step"))).toHaveLength(10);
  });
});

describe("elsewhere", () => {
  const shown = async (use: (view: ReturnType<typeof liveView>) => void, quiet = false) => {
    const stream = new PassThrough();
    const view = liveView({ stream: asStream(stream), quiet });
    use(view);
    view.stop();
    return String(stream.read() ?? "");
  };

  it("writes a plain line now and then, and at the end of a phase", async () => {
    const text = await shown((view) => {
      rl(view, 25);
      view.note("a note");
      view.update({ phase: "eval", step: 1, steps: 1, metrics: { "eval/prm": Number.NaN } });
    });
    expect(text.split("\n")).toEqual([
      "rl  step 10 of 25, 10 s, 15 s left; pass@1, greedy 0.5; score 0.4",
      "rl  step 20 of 25, 20 s, 5 s left; pass@1, greedy 0.5; score 0.8",
      "a note",
      "rl  step 25 of 25, 25 s; pass@1, greedy 0.5; score 1",
      "eval  step 1 of 1, 1 s",
      "",
    ]);
  });

  it("counts what came before the first step, and tells the parts of a phase apart", async () => {
    const step = (view: ReturnType<typeof liveView>, phase: string, n: number, more: object) => {
      vi.advanceTimersByTime(2000);
      view.update({ phase, step: n, steps: 4, metrics: {}, ...more });
    };
    const text = await shown((view) => {
      vi.advanceTimersByTime(28_000);
      step(view, "prm", 1, { part: "head" });
      step(view, "prm", 2, { part: "head", metrics: { "eval/f1": 0.3, "prm/loss": 0.7 } });
      step(view, "prm", 3, { part: "all", metrics: { "prm/loss": 0.6 } });
      for (let i = 0; i < 4; i++) step(view, "prm", 3, { part: "all", metrics: { "prm/loss": 0.6 } });
      view.stop();
      vi.advanceTimersByTime(5000);
      step(view, "rl", 1, {});
      vi.advanceTimersByTime(10_000);
      step(view, "rl", 2, {});
    });
    expect(text.split("\n")).toEqual([
      "prm, head  step 2 of 4, 32 s, 4 s left; F1, held out 0.3; loss 0.7",
      "prm, all  step 3 of 4, 42 s; loss 0.6",
      "rl  step 2 of 4, 19 s, 24 s left",
      "",
    ]);
  });

  it("is silent when quiet, but for notes", async () => {
    expect(
      await shown((view) => {
        rl(view, 25);
        view.note("a note");
      }, true),
    ).toBe("a note\n");
  });
});

describe("words", () => {
  it("draws curves of any length", () => {
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8)).toBe("▁▂▃▄▅▆▇█");
    expect(sparkline([0, 0, 1, 1], 2)).toBe("▁█");
    expect(sparkline([], 5)).toBe("");
    expect([
      ...sparkline(
        Array.from({ length: 1000 }, (_, i) => i),
        31,
      ),
    ]).toHaveLength(31);
  });

  it("tells time", () => {
    expect([0, 59.4, 59.6, 3599, 3753].map(clock)).toEqual(["0 s", "59 s", "1:00", "59:59", "1:02:33"]);
  });
});
