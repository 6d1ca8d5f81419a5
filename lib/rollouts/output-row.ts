import { row as rowOf } from "../ragged.ts";
import type { RolloutBatch } from "./batch.ts";
import { type CreditedBatch, perStep } from "./pipeline.ts";

const CLOSE = 0x7d;

/** @internal Key of a form of credit in an output row. */
export function formKey(form: CreditedBatch["form"]): string {
  return form.replaceAll("-", "_");
}

/** @internal Row `i` of a batch as a line of output: the input row as it came, and one object per form of credit. */
export function outputLine(batch: RolloutBatch, forms: readonly CreditedBatch[], i: number): Buffer {
  const added = Object.fromEntries(
    forms.map((credited) => [formKey(credited.form), valuesOf(batch, credited, i)]),
  );
  return append(batch.rollouts[i]!.bytes, added);
}

function valuesOf(batch: RolloutBatch, credited: CreditedBatch, i: number): object {
  const { weights, rewards, outcomes, returns, advantages } = credited;
  const tokens = batch.rollouts[i]!.tokens && {
    token_returns: Array.from(rowOf(returns, i)),
    token_advantages: Array.from(rowOf(advantages, i)),
  };
  return {
    outcome: outcomes[i],
    ...(weights && { weights: Array.from(rowOf(weights, i)) }),
    rewards: Array.from(rowOf(rewards, i)),
    returns: perStep(returns, batch, i),
    advantages: perStep(advantages, batch, i),
    ...tokens,
  };
}

// The bytes of the row stay as they are (numbers keep their digits), unless it holds one of the keys already: output
// that is used as input again.
function append(bytes: Buffer, added: Record<string, object>): Buffer {
  if (Object.keys(added).some((key) => bytes.includes(`"${key}"`))) {
    return Buffer.from(`${JSON.stringify({ ...(JSON.parse(bytes.toString()) as object), ...added })}\n`);
  }
  const head = bytes.subarray(0, bytes.lastIndexOf(CLOSE));
  return Buffer.concat([head, Buffer.from(`, ${JSON.stringify(added).slice(1)}\n`)]);
}
