// Without a GPU, whether or not the addon was built for one.
import { describe, expect, it } from "vitest";
import { cuda, cudaInfo, DeviceError, minForm, ragged } from "../../lib/index.ts";

describe.skipIf(cudaInfo().available)("without a GPU", () => {
  it("cuda() says why, every time; the host works", async () => {
    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await cuda().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(DeviceError);
      expect((error as DeviceError).code).toBe("ERR_DEVICE_NONE");
      expect((error as DeviceError).message).toContain(cudaInfo().reason);
    }
    expect(minForm(ragged([[1, 2]])).outcomes[0]).toBeCloseTo(1, 3);
  });
});
