import { describe, expect, it } from "vitest";
import { verify } from "../../lib/verify/index.ts";
import { kinds } from "./kinds/index.ts";

describe.each(Object.entries(kinds))("%s", (_, { equal, different }) => {
  it.each(equal)("%s is %s", (prediction, reference) => {
    expect(verify(prediction, reference)).toMatchObject({ status: "equal" });
    expect(verify(reference, prediction)).toMatchObject({ status: "equal" });
  });

  it.each(different)("%s is not %s", (prediction, reference) => {
    expect(verify(prediction, reference).status).not.toBe("equal");
    expect(verify(reference, prediction).status).not.toBe("equal");
  });
});
