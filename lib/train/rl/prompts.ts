import { InputError } from "../../errors.ts";
import { definite } from "../config/definite.ts";
import type { TrainConfig } from "../config/schema.ts";
import { ANSWER_KEYS, type PromptRow, readPrompts } from "../data/prompts.ts";
import type { TextCodec } from "../text/codec.ts";
import type { TrainHooks } from "./types.ts";

/** @internal The prompts of a run that its model can answer. */
export interface Prompts {
  readonly train: readonly PromptRow[];
  readonly heldOut: readonly PromptRow[];
}

/**
 * @internal Reads the prompts, leaves out what is too long, and looks for the answers that the reward mode needs.
 *
 * @param context - tokens that the model reads at most, prompt and response together
 * @throws {@link InputError} `ERR_INPUT` naming the key: no room for prompts, too few of them, none with an answer
 */
export async function openPrompts(
  config: TrainConfig,
  codec: TextCodec,
  context: number,
  { onWarning = () => {} }: TrainHooks,
): Promise<Prompts> {
  const { data, rollout } = config;
  const room = roomOf(config, context);
  const read = (source: string, limit: number | undefined) =>
    readPrompts(source, codec, promptOptions(config, limit));
  const rows = await read(data.train, data.limit);
  checkAnswers(config, rows, onWarning);
  const longest = room.tokens < data.maxPromptTokens ? room : { tokens: data.maxPromptTokens, why: "" };
  const train = fitting(data.train, rows, longest, onWarning);
  if (train.length < rollout.prompts) {
    const which = train.length < rows.length ? ` of at most ${longest.tokens} tokens${longest.why}` : "";
    throw new InputError(
      "ERR_INPUT",
      `${data.train}: expected at least rollout.prompts = ${rollout.prompts} prompts${which}, got ${train.length}`,
    );
  }
  if (data.eval === undefined) return { train, heldOut: [] };
  const heldOut = await read(data.eval, config.eval.prompts);
  if (config.reward.mode !== "function" && heldOut.every(({ answer }) => answer === null)) {
    onWarning(`${data.eval}: 0 of ${heldOut.length} prompts have ${anAnswer(config)}: no eval/pass@1`);
  }
  return { train, heldOut: fitting(data.eval, heldOut, room, onWarning) };
}

interface Room {
  readonly tokens: number;
  readonly why: string;
}

function roomOf({ rollout }: TrainConfig, context: number): Room {
  const tokens = context - rollout.maxTokens;
  const of = `the model's context of ${context} tokens`;
  if (tokens > 0) return { tokens, why: `, what rollout.maxTokens = ${rollout.maxTokens} leaves of ${of}` };
  throw new InputError(
    "ERR_INPUT",
    `rollout.maxTokens: expected less than ${of}, got ${rollout.maxTokens}, which leaves none for prompts`,
  );
}

function promptOptions({ data }: TrainConfig, limit: number | undefined) {
  const { promptKey: prompt, answerKey: answer, idKey: id, levelKey: level, template } = data;
  return { keys: definite({ prompt, answer, id, level }), ...definite({ limit, template }) };
}

type Warn = (message: string) => void;

function fitting(source: string, rows: readonly PromptRow[], { tokens, why }: Room, warn: Warn): PromptRow[] {
  const kept = rows.filter(({ ids }) => ids.length <= tokens);
  const out = rows.length - kept.length;
  if (out > 0)
    warn(`${source}: ${out} of ${rows.length} prompts are longer than ${tokens} tokens${why}, and left out`);
  return kept;
}

// Without answers the verifiable reward is nothing, and nothing would be learnt from it.
function checkAnswers(config: TrainConfig, rows: readonly PromptRow[], warn: Warn): void {
  const { data, reward } = config;
  if (reward.mode !== "vr" && reward.mode !== "prm+vr") return;
  const answered = rows.filter(({ answer }) => answer !== null).length;
  if (answered === rows.length) return;
  const found = `${answered} of ${rows.length} prompts have ${anAnswer(config)}`;
  if (answered > 0) {
    warn(`${data.train}: ${found}; the others get no verifiable reward`);
    return;
  }
  throw new InputError(
    "ERR_INPUT",
    `data.train: ${data.train}: expected answers for reward.mode "${reward.mode}", ${found}`,
  );
}

function anAnswer({ data }: TrainConfig): string {
  const at =
    data.answerKey === undefined ? ` (by default ${ANSWER_KEYS.join(", ")})` : ` = ${data.answerKey}`;
  return `an answer at data.answerKey${at}`;
}
