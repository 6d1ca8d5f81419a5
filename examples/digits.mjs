// Trains on verl's digit completion:
//   node examples/digits.mjs CONFIG.yaml FOLDER --data DIGITS [--from MODEL] [--resume] [--set key=value]
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { digitHooks, readTrainConfig, trainRl } from "minform/train";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: "string" },
    from: { type: "string" },
    resume: { type: "boolean", default: false },
    set: { type: "string", multiple: true, default: [] },
  },
});
const [file, folder] = positionals;
if (folder === undefined || values.data === undefined) {
  console.error(
    "usage: node examples/digits.mjs CONFIG.yaml FOLDER --data DIGITS [--from MODEL] [--resume] [--set key=value]",
  );
  process.exit(2);
}
const data = resolve(values.data);
const config = await readTrainConfig(file, {
  set: [
    `model.path=${resolve(values.from ?? data)}`,
    `data.train=${resolve(data, "train.parquet")}`,
    `data.eval=${resolve(data, "test.parquet")}`,
    ...values.set,
  ],
});
const hooks = digitHooks({
  grow: { start: 2, by: 2, share: 0.4 },
  equalCharacters: true,
  seed: config.seed,
});
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

const began = performance.now();
const show = (value) => (value === undefined ? "" : value.toFixed(3));
console.log("step  seconds  reward  greedy  sampled  longest");
const result = await trainRl(config, {
  folder,
  hooks,
  resume: values.resume,
  signal: stop.signal,
  onProgress({ step, metrics }) {
    if (metrics["eval/reward/greedy"] === undefined) return;
    console.log(
      [
        String(step).padStart(4),
        ((performance.now() - began) / 1000).toFixed(0).padStart(8),
        show(metrics["digits/reward/mean"]).padStart(7),
        show(metrics["eval/reward/greedy"]).padStart(7),
        show(metrics["eval/reward/sampled"]).padStart(8),
        String(metrics["curriculum/max_tokens"] ?? "").padStart(8),
      ].join(" "),
    );
  },
});
console.log(`${result.ended} after step ${result.step}: ${result.model}`);
