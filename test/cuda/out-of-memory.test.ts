// A device of 64 KiB: running out of memory is a typed error, after which everything is as before.
import { expect, it } from "vitest";
import { cuda, minForm, ragged, tokenLogProbs } from "../../lib/index.ts";
import { describeEmulated } from "./emulated.ts";

const SIZE = 65536;

describeEmulated(
  "out of memory",
  () => {
    it("at an upload, at an output and inside a call", async () => {
      const gpu = await cuda();
      const free = () => SIZE - gpu.memory().inUse;
      const full = expect.objectContaining({ name: "DeviceError", code: "ERR_DEVICE_MEMORY" });
      const held = gpu.zeros("float64", [4096]);
      const before = free();
      expect(() => gpu.upload(new Float64Array(8192))).toThrow(full);
      expect(free()).toBe(before);

      const rewards = gpu.upload({ data: new Float64Array(2000), offsets: Int32Array.of(0, 2000) });
      expect(() => minForm(rewards)).toThrow(full);
      held.dispose();

      // Room for the results and the ids, none for the scratch memory of the kernels.
      const logits = gpu.zeros("float32", [100, 60]);
      const filler = gpu.zeros("uint8", [free() - 3500]);
      const call = tokenLogProbs(logits, new Int32Array(100));
      await expect(call).rejects.toThrow(full);
      await expect(call).rejects.toThrow(/logprob.forward/);

      for (const tensor of [rewards.data, logits, filler]) tensor.dispose();
      await gpu.synchronize();
      const { outcomes } = minForm(gpu.upload(ragged([[1, 2]])));
      expect((await outcomes.download())[0]).toBeCloseTo(1, 3);
      expect(minForm(ragged([[1, 2]])).outcomes[0]).toBeCloseTo(1, 3);
    });
  },
  { MINFORM_SIMT_MEMORY: String(SIZE) },
);
