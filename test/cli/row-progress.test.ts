import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RowProgress } from "../../lib/cli/row-progress.ts";

describe("progress of rows", () => {
  const { isTTY } = process.stderr;
  let shown = "";
  beforeEach(() => {
    shown = "";
    process.stderr.isTTY = true;
    vi.useFakeTimers({ toFake: ["performance", "Date"] });
    vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      shown += text;
      return true;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
    process.stderr.isTTY = isTTY;
  });

  it("shows rows, tokens per second and the time left, and lets notes through", () => {
    const progress = new RowProgress(110);
    vi.advanceTimersByTime(2000);
    progress.update(10, 400);
    vi.advanceTimersByTime(2000);
    progress.update(30, 1200);
    expect(shown).toMatch(/30\/110 rows \| 300 tokens\/s \| 16 s left/);
    progress.note("in.jsonl:7: no JSON");
    expect(shown).toMatch(/in\.jsonl:7: no JSON\n$/);
    progress.stop();
  });

  it("a resumed job's time left is that of the rows of this run", () => {
    const progress = new RowProgress(1100);
    progress.update(1000, 0);
    vi.advanceTimersByTime(5000);
    progress.update(1050, 500);
    expect(shown).toMatch(/1050\/1100 rows \| 100 tokens\/s \| 5 s left/);
    progress.stop();
  });

  it("without a total, and without a terminal", () => {
    const progress = new RowProgress(undefined);
    vi.advanceTimersByTime(1000);
    progress.update(5, 50);
    expect(shown).toMatch(/5 rows \| 50 tokens\/s \| -/);
    progress.stop();
    process.stderr.isTTY = false;
    shown = "";
    const silent = new RowProgress(10);
    silent.update(5, 50);
    expect(shown).toBe("");
    expect(silent.speed(50)).toBeGreaterThan(0);
  });
});
