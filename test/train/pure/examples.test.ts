import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { prmSchema } from "../../../lib/train/prm/config.ts";
import { EMBEDDED_RECIPE } from "../../../lib/train/pure/index.ts";
import { parseConfig } from "../../../lib/train/run/parse.ts";
import { readPhaseConfig } from "../../../lib/train/run/read-config.ts";
import { sftSchema } from "../../../lib/train/sft/config.ts";
import { rejection } from "../../support/errors.ts";

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const PATHS = ["model", "data", "heldOut"];

it("the examples are the recipe of minform pure", async () => {
  expect(await readPhaseConfig(sftSchema, at("examples/sft.yaml"), [], PATHS)).toEqual(
    parseConfig(sftSchema, EMBEDDED_RECIPE.sft(1), "recipe"),
  );
  expect(await readPhaseConfig(prmSchema, at("examples/prm.yaml"), [], PATHS)).toEqual(
    parseConfig(prmSchema, EMBEDDED_RECIPE.prm(at("out/sft/model"), 1), "recipe"),
  );
});

it("settings go over the file's, and a wrong key is named with the file", async () => {
  const file = at("examples/prm.yaml");
  const config = await readPhaseConfig(prmSchema, file, ["all.epochs=2", "data=rows.jsonl"], PATHS);
  expect([config.all.epochs, config.all.batch, config.data]).toEqual([2, 16, at("examples/rows.jsonl")]);
  expect(await rejection(() => readPhaseConfig(prmSchema, file, ["all.epoch=2"], PATHS))).toEqual({
    code: "ERR_INPUT",
    message: `${file}: all.epoch: no such key; did you mean all.epochs?`,
  });
});
