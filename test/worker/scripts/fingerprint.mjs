// Prints the bits of log-probs, entropies and gradients of every element type, at the instruction set of MINFORM_ISA.
import { capabilities, tokenLogProbs, tokenLogProbsBackward } from "../../../dist/index.js";

const [rows, vocabulary] = [3, 40_007];
const noise = Float32Array.from(
  { length: rows * vocabulary },
  (_, i) => 9 * Math.sin(i * 1.7) * Math.cos(i * 0.31),
);
const words = new Uint32Array(noise.buffer);
const tensors = {
  float32: noise,
  float64: Float64Array.from(noise),
  bfloat16: Uint16Array.from(words, (bits) => bits >>> 16),
  float16: Uint16Array.from(words, (_, i) => ((i * 7919) % 0x4c00) | ((i & 1) << 15)),
};
const targets = Int32Array.of(1, 20_000, vocabulary - 1);
const hex = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("hex");
const prints = [];
for (const [type, data] of Object.entries(tensors)) {
  const logits = { type, data, dims: [rows, vocabulary] };
  const forward = await tokenLogProbs(logits, targets, { temperature: 0.9, sumSquaredProbs: true });
  const Result = type === "float64" ? Float64Array : Float32Array;
  const gradients = { gradLogProbs: Result.of(1, -1, 0.5), gradEntropy: Result.of(0.1, 0, 2) };
  const { data: grad } = await tokenLogProbsBackward(logits, targets, forward, gradients, {
    temperature: 0.9,
  });
  let hash = 0;
  for (const byte of new Uint8Array(grad.buffer)) hash = (Math.imul(hash, 31) + byte) | 0;
  prints.push(...Object.values(forward).map(hex), hash);
}
console.log(JSON.stringify({ isa: capabilities().isaInUse, prints }));
