import * as z from "zod";
import { describe } from "../../validate.ts";
import { orDidYouMean } from "./suggest.ts";

/** @internal An integer >= 1. */
export const count = () => z.int().min(1);

/** @internal An integer >= 0. */
export const whole = () => z.int().min(0);

/** @internal A number > 0. */
export const positive = () => z.number().gt(0);

/** @internal A number >= 0. */
export const nonNegative = () => z.number().min(0);

/** @internal A number in [0, 1]. */
export const share = () => z.number().min(0).max(1);

/** @internal A path or a name that is not empty. */
export const text = () => z.string().min(1);

/** @internal One of some names; another one is told what it may have meant. */
export const choice = <const Names extends readonly string[]>(names: Names) =>
  z.enum(names, {
    error: ({ input }) =>
      `expected one of ${names.map((name) => `"${name}"`).join(", ")}, got ${describe(input)}${orDidYouMean(input, names)}`,
  });

/** @internal What a forward pass keeps for the backward pass. */
export const keep = () =>
  choice(["activations", "inputs"])
    .default("activations")
    .describe(
      "What a forward pass keeps: everything, or the inputs of layers (less memory, more time, same bits).",
    );

/** @internal Size of a micro-batch. */
export const microBatchTokens = () =>
  count().default(8192).describe("Tokens that go through the model at a time; changes rounding only.");

/** @internal A section: an object that knows its keys and may be left out as a whole. */
export const section = <Shape extends z.ZodRawShape>(shape: Shape, description: string) =>
  z
    .strictObject(shape)
    .prefault({} as never)
    .describe(description);
