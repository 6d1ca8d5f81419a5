import { dirname, resolve } from "node:path";
import * as z from "zod";
import { InputError } from "../../errors.ts";
import { parseTrainConfig, readYaml } from "../config/parse.ts";
import { resolvePaths } from "../config/paths.ts";
import type { TrainConfig, TrainConfigInput } from "../config/schema.ts";
import { prmSchema } from "../prm/config.ts";
import { parseConfig } from "../run/parse.ts";
import { sftSchema } from "../sft/config.ts";
import { type Experiment, isReference, type SetupStep, withModels } from "./experiment.ts";
import { assertRunInputs, assertStepInputs } from "./inputs.ts";
import { merged } from "./merge.ts";

const stepName = z.string().regex(/^[a-z-]+$/, "expected small letters and hyphens");
const someConfig = z.record(z.string(), z.unknown());

const setupStep = z.union([
  z.strictObject({ as: stepName.default("sft"), sft: someConfig }),
  z.strictObject({ as: stepName.default("prm"), trainPrm: someConfig }),
]);

// A name becomes a folder.
const RUN_NAME = /^[\w+-][\w+.-]*$/;

/** @internal An experiment as it is written. */
export const experimentSchema = z.strictObject({
  name: z.string().min(1),
  seeds: z
    .array(z.int().min(0))
    .min(1)
    .refine((seeds) => new Set(seeds).size === seeds.length, "expected each seed once"),
  setup: z.array(setupStep).default([]),
  base: someConfig,
  runs: z
    .record(z.string(), someConfig.nullable())
    .refine((runs) => Object.keys(runs).length > 0, "expected at least one run"),
});

/**
 * Reads an experiment from a YAML (or JSON) file and checks every config in it. Paths are relative to the file; what a run
 * says is laid over `base`, key by key.
 *
 * @throws {@link InputError} `ERR_INPUT` for a file that cannot be read, for a wrong key, and for a model or data that are
 * not there, naming the run and the key
 */
export async function readExperiment(path: string): Promise<Experiment> {
  const { name, seeds, setup, base, runs } = parseConfig(experimentSchema, await readYaml(path), path);
  const steps: SetupStep[] = [];
  for (const step of setup) {
    assertNewName(step.as, steps, path);
    const before = namesOf(steps);
    const source = `${path}: setup.${step.as}`;
    const checked = withModels(checkedStep(step, path), (of) => known(of, before, source));
    assertStepInputs(checked, source);
    steps.push(checked);
  }
  const settings = Object.entries(runs).map(([run, over]): [string, TrainConfig] => {
    if (!RUN_NAME.test(run)) {
      const message = `${path}: runs: ${run}: expected a name of letters, digits and any of + - . _`;
      throw new InputError("ERR_INPUT", message);
    }
    const source = `${path}: runs.${run}`;
    const config = merged(merged(base, over ?? {}), { name: run }) as TrainConfigInput;
    const resolved = resolvePaths(parseTrainConfig(config, source), dirname(path));
    const checked = withModels(resolved, (of) => known(of, namesOf(steps), source));
    assertRunInputs(checked, source);
    return [run, checked];
  });
  return { name, seeds, setup: steps, runs: Object.fromEntries(settings) };
}

// What is not read from a file: sets and models that are made.
const MADE = "arithmetic";

function checkedStep(step: z.output<typeof setupStep>, path: string): SetupStep {
  const at = (text: string) => (text === MADE || isReference(text) ? text : resolve(dirname(path), text));
  const placed = <T extends { model: string; data: string; heldOut?: string | undefined }>(config: T): T => ({
    ...config,
    model: at(config.model),
    data: at(config.data),
    ...(config.heldOut !== undefined && { heldOut: at(config.heldOut) }),
  });
  const source = `${path}: setup.${step.as}`;
  return "sft" in step
    ? { as: step.as, sft: placed(parseConfig(sftSchema, step.sft, source)) }
    : { as: step.as, trainPrm: placed(parseConfig(prmSchema, step.trainPrm, source)) };
}

function namesOf(steps: readonly SetupStep[]): string[] {
  return steps.map(({ as }) => as);
}

function assertNewName(name: string, steps: readonly SetupStep[], path: string): void {
  if (!namesOf(steps).includes(name)) return;
  throw new InputError(
    "ERR_INPUT",
    `${path}: setup: two steps are called ${name}; give one another name by "as"`,
  );
}

// The reference as it stands, once it is known to lead somewhere.
function known(name: string, names: readonly string[], source: string): string {
  if (names.includes(name)) return `setup:${name}`;
  const list = names.length === 0 ? "there is none before it" : `known: ${names.join(", ")}`;
  throw new InputError("ERR_INPUT", `${source}: setup:${name}: no such set-up step; ${list}`);
}
