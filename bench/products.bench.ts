import { capabilities } from "../lib/index.ts";
import type { BenchCase } from "./case.ts";
import { Products } from "./native.ts";

// Linear layers of the two models of train.bench.ts, [rows, outputs, inputs]: 64 sequences of 48 tokens, or one token
// for each of 64 or 256. The same in bench/torch/products.py.
const LAYERS: readonly (readonly [rows: number, outputs: number, inputs: number])[] = [
  [3072, 384, 128],
  [3072, 128, 344],
  [3072, 1536, 512],
  [3072, 512, 1536],
];
const DECODED: typeof LAYERS = [
  [64, 1536, 512],
  [64, 512, 1536],
  [256, 1536, 512],
  [256, 512, 1536],
];

// Products of a request: the way to the other process and back must not count.
const TIMES = { trained: 8, decoded: 64 };

export default async (): Promise<BenchCase[]> => {
  const { isaInUse, threads } = capabilities();
  const products = await Products.start(process.cwd(), isaInUse, threads);
  const cases = [
    ...LAYERS.flatMap((layer) =>
      ["forward", "dx", "dw"].map((form) => [TIMES.trained, form, layer] as const),
    ),
    ...DECODED.map((layer) => [TIMES.decoded, "decode", layer] as const),
  ];
  return cases.map(([times, form, [rows, outputs, inputs]]) => ({
    family: "products",
    name: `${times} x ${form}: ${rows} rows, ${inputs} to ${outputs} (${((2 * rows * outputs * inputs) / 1e9).toFixed(2)} GFLOP)`,
    bytes: 4 * times * (rows * (outputs + inputs) + outputs * inputs),
    run: () => products.multiply(times, form, rows, outputs, inputs),
    torch: `${form}_${rows}_${outputs}_${inputs}`,
  }));
};
