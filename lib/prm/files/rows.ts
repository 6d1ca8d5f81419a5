import { InputError } from "../../errors.ts";
import type { Convention } from "../convention.ts";
import type { PrmItem } from "../items.ts";

/** @internal What can stand in an input row, for messages. */
export const ROW_FORMS =
  "question with steps, question with response, prompt_ids with response_ids, or conversation";

/**
 * @internal The item that a row asks to score. A row with the policy's ids is scored on them where the convention takes
 * ids, else by its text.
 */
export function rowToItem(row: Readonly<Record<string, unknown>>, convention: Convention): PrmItem {
  const has = (name: string): boolean => row[name] !== undefined && row[name] !== null;
  const text = has("question") && (has("steps") || has("response"));
  const extra = {
    ...(has("question") ? { question: row.question } : {}),
    ...(has("reference") ? { reference: row.reference } : {}),
  };
  if (has("conversation")) return { conversation: row.conversation } as PrmItem;
  if (has("prompt_ids") && has("response_ids") && (convention.policy !== undefined || !text))
    return { promptIds: row.prompt_ids, responseIds: row.response_ids, ...extra } as PrmItem;
  if (has("question") && has("steps")) return { steps: row.steps, ...extra } as PrmItem;
  if (has("question") && has("response")) return { response: row.response, ...extra } as PrmItem;
  if (has("input_ids")) return { inputIds: row.input_ids } as PrmItem;
  throw new InputError("ERR_INPUT", `expected ${ROW_FORMS}, got ${Object.keys(row).join(", ") || "nothing"}`);
}
