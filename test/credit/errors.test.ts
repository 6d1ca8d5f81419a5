import { describe, expect, it } from "vitest";
import {
  findStepEnds,
  gammaDecay,
  minForm,
  minFormBackward,
  placeSteps,
  ragged,
  raggedOffsets,
  returns,
} from "../../lib/index.ts";
import { errorCode } from "../support/compare.ts";

const steps = ragged([[0.5, 0.25], [1]]);

describe("credit: bad input", () => {
  it("names the row and step of a NaN that counts", () => {
    expect(() => minForm(ragged([[0.5], [0.25, Number.NaN]]))).toThrow(
      /stepRewards: expected a finite number at row 1, position 1, got NaN/,
    );
    expect(errorCode(() => minForm(ragged([[Number.POSITIVE_INFINITY]])))).toBe("ERR_NOT_FINITE");
    expect(errorCode(() => returns(ragged([[Number.NaN]])))).toBe("ERR_NOT_FINITE");
    expect(errorCode(() => returns(ragged([[Infinity, -Infinity]])))).toBe("ERR_NOT_FINITE");
  });

  it.each([
    ["a plain array", () => minForm([[1, 2]] as never), "ERR_ARGUMENT_TYPE"],
    ["integers as rewards", () => minForm(ragged([[1]], "int32") as never), "ERR_ARGUMENT_TYPE"],
    ["no rows", () => minForm(ragged([])), "ERR_SHAPE"],
    [
      "offsets that fall",
      () => minForm({ data: new Float64Array(2), offsets: Int32Array.of(0, 2, 1, 2) }),
      "ERR_SHAPE",
    ],
    [
      "offsets past the data",
      () => minForm({ data: new Float64Array(2), offsets: Int32Array.of(0, 3) }),
      "ERR_SHAPE",
    ],
    [
      "offsets that start late",
      () => minForm({ data: new Float64Array(2), offsets: Int32Array.of(1, 2) }),
      "ERR_SHAPE",
    ],
    ["a temperature of 0", () => minForm(steps, { temperature: 0 }), "ERR_ARGUMENT_VALUE"],
    ["a NaN temperature", () => minForm(steps, { temperature: Number.NaN }), "ERR_ARGUMENT_VALUE"],
    ["a short mask", () => minForm(steps, { mask: new Uint8Array(1) }), "ERR_SHAPE"],
    ["a boolean mask", () => minForm(steps, { mask: [true, true, true] as never }), "ERR_ARGUMENT_TYPE"],
    ["gamma above 1", () => gammaDecay(steps, { gamma: 1.5 }), "ERR_ARGUMENT_VALUE"],
    ["no gradient", () => minFormBackward(steps, {}), "ERR_ARGUMENT_VALUE"],
    [
      "a gradient of another dtype",
      () => minFormBackward(steps, { outcomes: new Float32Array(2) as never }),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "step ends that fall",
      () => placeSteps(steps, ragged([[2, 1], [0]], "int32"), raggedOffsets([3, 1])),
      "ERR_SHAPE",
    ],
    [
      "step ends past the row",
      () => placeSteps(steps, ragged([[1, 3], [0]], "int32"), raggedOffsets([3, 1])),
      "ERR_SHAPE",
    ],
    [
      "step ends of other rows",
      () => placeSteps(steps, ragged([[1], [0]], "int32"), raggedOffsets([3, 1])),
      "ERR_SHAPE",
    ],
    [
      "an out of another length",
      () =>
        placeSteps(steps, ragged([[1, 2], [0]], "int32"), raggedOffsets([3, 1]), {
          out: new Float64Array(3),
        }),
      "ERR_SHAPE",
    ],
    [
      "a separator that is no id",
      () => findStepEnds(ragged([[1]], "int32"), { separators: [1.5] }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "shared memory",
      () => minForm({ data: new Float64Array(new SharedArrayBuffer(8)), offsets: Int32Array.of(0, 1) }),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "detached memory",
      () => {
        const data = new Float64Array(2);
        structuredClone(data.buffer, { transfer: [data.buffer] });
        return minForm({ data, offsets: Int32Array.of(0, 2) });
      },
      "ERR_ARGUMENT_TYPE",
    ],
  ])("%s", (_, call, code) => {
    expect(errorCode(call)).toBe(code);
  });
});
