import { existsSync } from "node:fs";
import { InputError } from "../../errors.ts";
import { hubId } from "../../hub/hub.ts";
import type { TrainConfig } from "../config/schema.ts";
import { isReference, type SetupStep } from "./experiment.ts";

// What is not read from a file: sets and models that are made.
const MADE = /^arithmetic(:[a-z-]+)?$/;

/**
 * @internal Asserts that what a set-up step reads is there.
 *
 * @throws {@link InputError} `ERR_INPUT` naming the key
 */
export function assertStepInputs(step: SetupStep, source: string): void {
  const { model, data, heldOut } = "sft" in step ? step.sft : step.trainPrm;
  assertThere({ model, data, heldOut }, source);
}

/**
 * @internal Asserts that what a run reads is there: after an hour of set-up is late to learn that it is not.
 *
 * @throws {@link InputError} `ERR_INPUT` naming the key
 */
export function assertRunInputs({ model, data, reward, kl, critic }: TrainConfig, source: string): void {
  const inputs = {
    "model.path": model.path,
    "data.train": data.train,
    "data.eval": data.eval,
    "reward.prm": reward.prm,
    "kl.reference": kl.reference,
    "critic.path": critic.path,
  };
  assertThere(inputs, source);
}

function assertThere(inputs: Readonly<Record<string, string | undefined>>, source: string): void {
  for (const [key, path] of Object.entries(inputs)) {
    if (path === undefined || MADE.test(path) || isReference(path) || existsSync(path)) continue;
    // A model of the hub is fetched when it is opened.
    if (!key.startsWith("data") && key !== "heldOut" && hubId(path) !== undefined) continue;
    throw new InputError("ERR_INPUT", `${source}: ${key}: ${path}: no such file or folder`);
  }
}
