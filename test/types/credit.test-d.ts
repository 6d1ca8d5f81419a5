import { describe, expectTypeOf, it } from "vitest";
import {
  type Credit,
  minForm,
  type MinFormCredit,
  ragged,
  type Ragged,
  strictMinForm,
} from "../../lib/index.ts";

describe("types", () => {
  it("the dtype of the result follows the input", () => {
    expectTypeOf(minForm(ragged([[1]], "float32"))).toExtend<MinFormCredit<Float32Array>>();
    expectTypeOf(minForm(ragged([[1]])).outcomes).toEqualTypeOf<Float64Array<ArrayBuffer>>();
    expectTypeOf(strictMinForm(ragged([[1]], "float32")).returns).toEqualTypeOf<
      Ragged<Float32Array<ArrayBuffer>>
    >();
    expectTypeOf(strictMinForm(ragged([[1]]))).not.toHaveProperty("weights");
    expectTypeOf<MinFormCredit<Float32Array>>().toExtend<Credit<Float32Array>>();
  });

  it("integers are no rewards", () => {
    // @ts-expect-error token ids are not rewards
    minForm(ragged([[1]], "int32"));
  });
});
