import { expect, it } from "vitest";
import { ragged, repetitionScores } from "../../lib/index.ts";
import { errorCode } from "../support/compare.ts";

it.each<[string, () => unknown, string]>([
  ["a single string", () => repetitionScores("aa" as never), "ERR_ARGUMENT_TYPE"],
  ["a number among strings", () => repetitionScores(["a", 1] as never), "ERR_ARGUMENT_TYPE"],
  ["null", () => repetitionScores(null as never), "ERR_ARGUMENT_TYPE"],
  ["no texts", () => repetitionScores([]), "ERR_SHAPE"],
  ["no rows", () => repetitionScores(ragged([], "int32")), "ERR_SHAPE"],
  ["floats as ids", () => repetitionScores(ragged([[1]]) as never), "ERR_ARGUMENT_TYPE"],
  ["a negative id", () => repetitionScores(ragged([[1, -1]], "int32")), "ERR_ARGUMENT_VALUE"],
  [
    "offsets that fall",
    () => repetitionScores({ data: new Int32Array(2), offsets: Int32Array.of(0, 2, 1, 2) }),
    "ERR_SHAPE",
  ],
  [
    "shared memory",
    () => repetitionScores({ data: new Int32Array(new SharedArrayBuffer(4)), offsets: Int32Array.of(0, 1) }),
    "ERR_ARGUMENT_TYPE",
  ],
])("metrics: %s", (_, call, code) => {
  expect(errorCode(call)).toBe(code);
});
