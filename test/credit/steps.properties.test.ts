import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findStepEnds, placeSteps, ragged, returns, row } from "../../lib/index.ts";
import { expectSameBits, expectZeroWhereMasked } from "../support/compare.ts";
import { maskOf, masksFor, permutation, poison, seeded } from "../support/generators.ts";

const SEPARATOR = 1;
const EOS = 2;

// Token rows with separators and EOS mixed in, and a mask.
const tokenRows = fc
  .array(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 10 }), { minLength: 1, maxLength: 5 })
  .chain((rows) => fc.tuple(fc.constant(rows), masksFor(rows)));

describe("findStepEnds", () => {
  const find = (rows: number[][], mask: Uint8Array) =>
    findStepEnds(ragged(rows, "int32"), { separators: [SEPARATOR], eos: EOS, mask });

  it("steps rise, end at every counted separator or EOS and at the last counted token, and nowhere else", () => {
    fc.assert(
      fc.property(tokenRows, ([rows, masks]) => {
        const { stepEnds, separatorTokens } = find(rows, maskOf(masks));
        const flags = ragged(rows, "uint8");
        rows.forEach((tokens, i) => {
          const counted = tokens.map((_, t) => t).filter((t) => masks[i]![t] === 1);
          const closing = counted.filter((t) => tokens[t] === SEPARATOR || tokens[t] === EOS);
          const expected = [...new Set([...closing, ...counted.slice(-1)])].sort((a, b) => a - b);
          expect([...row(stepEnds, i)]).toEqual(expected);
          const found = [...separatorTokens.subarray(flags.offsets[i], flags.offsets[i + 1])];
          expect(found).toEqual(tokens.map((_, t) => (closing.includes(t) ? 1 : 0)));
        });
      }),
      seeded,
    );
  });

  it("masked-out tokens may be anything; rows are independent", () => {
    fc.assert(
      fc.property(
        tokenRows.chain(([rows, masks]) =>
          fc.tuple(fc.constant(rows), fc.constant(masks), permutation(rows.length)),
        ),
        ([rows, masks, order]) => {
          const { stepEnds } = find(rows, maskOf(masks));
          const junk = rows.map((tokens, i) =>
            tokens.map((token, t) => (masks[i]![t] === 1 ? token : SEPARATOR)),
          );
          expectSameBits(find(junk, maskOf(masks)).stepEnds.data, stepEnds.data);
          const permuted = find(
            order.map((i) => rows[i]!),
            maskOf(order.map((i) => masks[i]!)),
          ).stepEnds;
          for (const [to, from] of order.entries()) expectSameBits(row(permuted, to), row(stepEnds, from));
        },
      ),
      seeded,
    );
  });
});

describe("placeSteps", () => {
  const placed = tokenRows.map(([rows, masks]) => {
    const tokens = ragged(rows, "int32");
    const { stepEnds } = findStepEnds(tokens, { separators: [SEPARATOR], eos: EOS });
    const values = {
      data: Float64Array.from(stepEnds.data, (_, k) => Math.sin(k + 1)),
      offsets: stepEnds.offsets,
    };
    return { rows, mask: maskOf(masks), stepEnds, values, offsets: tokens.offsets };
  });

  it("rewards at the step ends have the step returns as reward-to-go on the whole step", () => {
    fc.assert(
      fc.property(placed, ({ values, stepEnds, offsets }) => {
        const onTokens = returns(placeSteps(values, stepEnds, offsets));
        const ofSteps = placeSteps(returns(values), stepEnds, offsets, { place: "span" });
        expectSameBits(onTokens.data, ofSteps.data);
      }),
      seeded,
    );
  });

  it("a step that lies under the mask reads nothing, and masked-out tokens are +0", () => {
    fc.assert(
      fc.property(placed, fc.constantFrom("end", "span"), ({ values, stepEnds, offsets, mask }, place) => {
        const whole = placeSteps(values, stepEnds, offsets, { place });
        const masked = placeSteps(values, stepEnds, offsets, { place, mask });
        expectZeroWhereMasked(masked.data, mask);
        masked.data.forEach((value, i) => {
          if (mask[i] === 1) expect(value).toBe(whole.data[i]);
        });
        const unused = Uint8Array.from(stepEnds.data, () => 0);
        const junk = placeSteps(poison(values, unused), stepEnds, offsets, {
          place,
          mask: new Uint8Array(mask.length),
        });
        expect(junk.data.every((value) => Object.is(value, 0))).toBe(true);
      }),
      seeded,
    );
  });

  it("float32 places the same values, and an out array is reused", () => {
    fc.assert(
      fc.property(placed, ({ values, stepEnds, offsets }) => {
        const single = { data: Float32Array.from(values.data), offsets: values.offsets };
        const out = new Float32Array(offsets[offsets.length - 1]!).fill(Number.NaN);
        const result = placeSteps(single, stepEnds, offsets, { place: "span", out });
        expect(result.data).toBe(out);
        expectSameBits(
          result.data,
          Float32Array.from(placeSteps(values, stepEnds, offsets, { place: "span" }).data),
        );
      }),
      seeded,
    );
  });
});
