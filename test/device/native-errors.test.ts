// The glue checks again what memory safety rests on, and whatever it throws is typed.
import { describe, expect, it } from "vitest";
import { AddonError } from "../../lib/index.ts";
import { addon } from "../../lib/load.ts";

const { credit } = addon();
const data = new Float64Array(2);
const out = new Float64Array(2);

describe("native errors", () => {
  it.each([
    [
      "an array of another length",
      () => credit.returns(data, Int32Array.of(0, 2), null, 1, new Float64Array(1)),
    ],
    [
      "an array of another kind",
      () => credit.returns(data, Int32Array.of(0, 2), null, 1, new Float32Array(2)),
    ],
    ["offsets that fall", () => credit.returns(data, Int32Array.of(0, 3, 2), null, 1, out)],
    ["offsets past the data", () => credit.returns(data, Int32Array.of(0, 3), null, 1, out)],
    ["no array at all", () => credit.returns("data" as never, Int32Array.of(0, 2), null, 1, out)],
    ["a missing argument", () => (credit.returns as (...args: unknown[]) => unknown)(data)],
    [
      "step ends outside their row",
      () =>
        credit.placeSteps(
          data,
          Int32Array.of(0, 2),
          Int32Array.of(0, 9),
          Int32Array.of(0, 2),
          0,
          null,
          null,
          out,
        ),
    ],
  ])("%s", (_, call) => {
    expect(call).toThrow(AddonError);
    expect(call).toThrow(/^native credit\.\w+ failed: native argument \d+ /);
  });
});
