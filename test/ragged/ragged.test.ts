import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromPadded, paddedLayout, ragged, raggedOffsets, row, toPadded } from "../../lib/index.ts";
import { errorCode, expectSameBits } from "../support/compare.ts";
import { seeded } from "../support/generators.ts";

// A padded batch: response mask with left padding, right padding, holes and rows without any token.
const paddedBatch = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 8 }))
  .chain(([rows, width]) =>
    fc.record({
      rows: fc.constant(rows),
      width: fc.constant(width),
      mask: fc.array(fc.constantFrom(0, 1), { minLength: rows * width, maxLength: rows * width }),
    }),
  );

describe("ragged", () => {
  it("keeps rows of every length, empty ones too", () => {
    const values = ragged([[1, 2], [], [3]]);
    expect([...values.offsets]).toEqual([0, 2, 2, 3]);
    expect([...row(values, 0)]).toEqual([1, 2]);
    expect([...row(values, 1)]).toEqual([]);
    expect(values.data).toBeInstanceOf(Float64Array);
    expect(ragged([[1]], "int32").data).toBeInstanceOf(Int32Array);
  });

  it("from and to padded: tokens survive with their holes, padding is never read", () => {
    fc.assert(
      fc.property(paddedBatch, ({ rows, width, mask }) => {
        const layout = paddedLayout(mask, rows, width);
        const data = Float64Array.from(mask, (kept, i) => (kept ? i + 1 : Number.NaN));
        const values = fromPadded(data, layout);
        expectSameBits(
          [...values.data].filter((_, i) => layout.mask[i] === 1),
          [...data].filter((value) => !Number.isNaN(value)),
        );
        expect(layout.dense).toBe(layout.mask.every((kept) => kept === 1));
        const back = toPadded(values, layout, -1);
        mask.forEach((kept, i) => {
          if (kept) expect(back[i]).toBe(i + 1);
        });
      }),
      seeded,
    );
  });

  it("rows start and end at a valid token", () => {
    const layout = paddedLayout([0, 1, 0, 1, 0, 0, 0, 0, 0, 0], 2, 5);
    expect([...layout.starts]).toEqual([1, 0]);
    expect([...layout.offsets]).toEqual([0, 3, 3]);
    expect([...layout.mask]).toEqual([1, 0, 1]);
    expect(layout.dense).toBe(false);
  });

  it("never mutates its input", () => {
    const data = Float32Array.of(1, 2, 3, 4);
    const layout = paddedLayout([1, 0, 1, 1], 2, 2);
    fromPadded(data, layout).data.fill(9);
    expect([...data]).toEqual([1, 2, 3, 4]);
  });

  it.each([
    ["a row that is no array", () => ragged([1] as never), "ERR_ARGUMENT_TYPE"],
    ["an unknown element type", () => ragged([[1]], "int8" as never), "ERR_ARGUMENT_VALUE"],
    ["a negative length", () => raggedOffsets([-1]), "ERR_ARGUMENT_VALUE"],
    ["more than 2^31 - 1 elements", () => raggedOffsets([0x7fffffff, 1]), "ERR_SHAPE"],
    ["a row that is not there", () => row(ragged([[1]]), 1), "ERR_ARGUMENT_VALUE"],
    ["a mask of another size", () => paddedLayout([1, 1, 1], 2, 2), "ERR_SHAPE"],
    ["a mask value that is no bit", () => paddedLayout([1, 0.5], 1, 2), "ERR_ARGUMENT_VALUE"],
    [
      "padded data of another size",
      () => fromPadded(new Float32Array(3), paddedLayout([1, 1], 1, 2)),
      "ERR_SHAPE",
    ],
    ["values of another layout", () => toPadded(ragged([[1]]), paddedLayout([1, 1], 1, 2)), "ERR_SHAPE"],
    [
      "plain numbers as padded data",
      () => fromPadded([1, 2] as never, paddedLayout([1, 1], 1, 2)),
      "ERR_ARGUMENT_TYPE",
    ],
  ])("%s", (_, call, code) => {
    expect(errorCode(call)).toBe(code);
  });
});
