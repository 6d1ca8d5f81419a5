import { existsSync } from "node:fs";
import { join } from "node:path";
import { PrmError } from "../errors.ts";
import {
  type Checkpoint,
  createRunner,
  detectHeads,
  type Head,
  type HeadRunner,
  type HubOptions,
  loadTokenizer,
  openCheckpoint,
  type RunnerOptions,
  type Tokenizer,
} from "../model/index.ts";
import { bindConvention } from "./bind.ts";
import { type Convention, type ConventionInput, readConvention } from "./convention.ts";
import { createPrm, type PrmOptions, resolveConvention } from "./create.ts";
import { detectConvention } from "./detect.ts";
import { families } from "./families.ts";
import type { Prm } from "./prm.ts";
import { headOf } from "./transform.ts";

/** Options of {@link loadPrm}. */
export interface LoadPrmOptions
  extends Omit<PrmOptions, "policyTokenizer">,
    Omit<RunnerOptions, "maxTokens"> {
  /** Built-in name, JSON file or object. Default: detected, where the checkpoint leaves no doubt. */
  convention?: string | ConventionInput;
  /** Second model of an implicit PRM: folder or hub id. */
  reference?: string;
  /** Tokenizer of `responseIds`, when the policy's is not the PRM's: the tokenizer, or a folder or hub id with one. */
  policyTokenizer?: string | Tokenizer;
  /** Called with the convention in force and what gave it away. */
  onDetected?: (convention: Convention, because: string) => void;
  /** Downloads from the hub. */
  hub?: HubOptions;
}

/**
 * Loads a process reward model from its own files: a checkpoint folder in Hugging Face layout, or a hub id.
 *
 * @param dirOrHubId - folder, or `owner/name`
 * @throws {@link PrmError} `ERR_CONVENTION_UNKNOWN` when no convention is given and the checkpoint does not tell,
 * `ERR_CONVENTION` when convention, tokenizer and head do not fit together
 * @throws {@link InputError} for what is wrong with the folder; {@link ModelError} when the model cannot be run
 */
export async function loadPrm(dirOrHubId: string, options: LoadPrmOptions = {}): Promise<Prm> {
  const { reference, onDetected, hub } = options;
  const asked = options.convention === undefined ? undefined : resolveConvention(options.convention);
  const checkpoint = await openCheckpoint(dirOrHubId, hub);
  const tokenizer = await loadTokenizer(checkpoint);
  const policyTokenizer =
    typeof options.policyTokenizer === "string"
      ? await loadTokenizer(await openTokenizer(options.policyTokenizer, hub))
      : options.policyTokenizer;
  const convention =
    asked === undefined
      ? conventionOf(dirOrHubId, checkpoint, tokenizer, reference)
      : { convention: asked, because: "asked for" };
  const head = chooseHead(convention.convention, checkpoint, tokenizer);
  onDetected?.(convention.convention, convention.because);
  const second = reference === undefined ? undefined : await openCheckpoint(reference, hub);
  const runnerOptions = pickRunnerOptions(options);
  const runner = await createRunner(checkpoint, head, runnerOptions);
  let other: { reference: HeadRunner } | undefined;
  try {
    other = second && { reference: await createRunner(second, { kind: "lm" }, runnerOptions) };
    const { overlong, packed, split, batchTokens } = options;
    return createPrm(
      { model: dirOrHubId, convention: convention.convention, tokenizer, runner, ...other },
      {
        ...(overlong === undefined ? {} : { overlong }),
        ...(packed === undefined ? {} : { packed }),
        ...(split === undefined ? {} : { split }),
        ...(batchTokens === undefined ? {} : { batchTokens }),
        ...(policyTokenizer === undefined ? {} : { policyTokenizer }),
      },
    );
  } catch (error) {
    await Promise.all([runner.close(), other?.reference.close()]);
    throw error;
  }
}

// A folder with a tokenizer alone is enough; a hub id brings its checkpoint.
async function openTokenizer(dirOrHubId: string, hub: HubOptions | undefined): Promise<{ path: string }> {
  return dirOrHubId.includes("/") && !dirOrHubId.startsWith(".") && !dirOrHubId.startsWith("/")
    ? openCheckpoint(dirOrHubId, hub)
    : { path: dirOrHubId };
}

/** @internal A convention that lies beside the weights: what a PRM was trained with. */
export const CONVENTION_FILE = "prm_convention.json";

/** @internal The convention that a checkpoint comes with, or else the one that it is detected by. */
export function conventionOf(
  source: string,
  checkpoint: Checkpoint,
  tokenizer: Tokenizer,
  reference?: string,
): { convention: Convention; because: string } {
  const own = join(checkpoint.path, CONVENTION_FILE);
  if (existsSync(own)) return { convention: readConvention(own), because: `its ${CONVENTION_FILE}` };
  const heads = detectHeads(checkpoint);
  if (reference !== undefined && heads.every((head) => head.kind === "lm"))
    return { convention: families.eurusprm!, because: "a reference model was given" };
  return detectConvention({ source, heads, tokenizer });
}

/** @internal The checkpoint's head that a convention reads; not there is an error at load. */
export function chooseHead(convention: Convention, checkpoint: Checkpoint, tokenizer: Tokenizer): Head {
  const heads = detectHeads(checkpoint);
  const kind = convention.head === "lm-rows" ? "lm" : convention.head;
  const found = heads.find((head) => head.kind === kind);
  if (found === undefined) {
    throw new PrmError(
      "ERR_CONVENTION",
      `convention ${convention.name}: expected a ${convention.head} head, ${checkpoint.path} has ${heads.map((head) => head.kind).join(", ") || "none"}`,
    );
  }
  return headOf(bindConvention(convention, tokenizer), "classes" in found ? found.classes : 1);
}

function pickRunnerOptions({ overlong, packed, split, batchTokens, ...rest }: LoadPrmOptions): RunnerOptions {
  const { convention, reference, policyTokenizer, onDetected, hub, ...runner } = rest;
  return { ...runner, ...(batchTokens === undefined ? {} : { maxTokens: batchTokens }) };
}
