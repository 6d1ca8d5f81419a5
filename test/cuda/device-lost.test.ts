// A device that fails after some operations: every later use is a typed error, and the host goes on.
import { expect, it } from "vitest";
import { cuda, minForm, ragged } from "../../lib/index.ts";
import { describeEmulated } from "./emulated.ts";

describeEmulated(
  "device lost",
  () => {
    it("is said by whatever touches the device", async () => {
      const gpu = await cuda();
      const tensor = gpu.upload(Float64Array.of(1, 2));
      const lost = expect.objectContaining({ name: "DeviceError", code: "ERR_DEVICE_LOST" });
      await expect(
        (async () => {
          for (let i = 0; i < 100; i++) await tensor.download();
        })(),
      ).rejects.toThrow(lost);
      await expect(tensor.download()).rejects.toThrow(lost);
      await expect(gpu.synchronize()).rejects.toThrow(lost);
      expect(() => gpu.upload(Float64Array.of(1))).toThrow(lost);
      tensor.dispose();
      expect(minForm(ragged([[1, 2]])).outcomes[0]).toBeCloseTo(1, 3);
    });
  },
  { MINFORM_SIMT_LOST_AFTER: "20" },
);
