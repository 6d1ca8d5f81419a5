import { PrmError } from "../errors.ts";
import type { Tokenizer } from "../model/types.ts";
import type { Convention, Piece } from "./convention.ts";

/** @internal A convention with its ids looked up in one tokenizer. */
export interface BoundConvention {
  readonly convention: Convention;
  readonly tokenizer: Tokenizer;
  /** Ids that close a step (plain parts, chat). */
  readonly separator: readonly number[] | undefined;
  /** Id of the token that is read. */
  readonly marker: number | undefined;
  /** Ids of the labels, in class order. */
  readonly labels: readonly number[] | undefined;
  /** Id that replaces the policy's separators. */
  readonly replace: number | undefined;
  /** The chat template's ids around an assistant's words. */
  readonly chat: ChatFrame | undefined;
}

/** @internal Ids that a chat template puts around an assistant's words. */
export interface ChatFrame {
  /** First id of every conversation. */
  readonly first: number;
  /** What the generation prompt adds. */
  readonly header: readonly number[];
  /** Between the header and the words: empty, or an empty think block. */
  readonly lead: readonly number[];
  /** After the words. */
  readonly tail: readonly number[];
}

/**
 * @internal Looks up separators, markers, labels and the chat template's assistant header. What the tokenizer lacks or
 * spells differently is an error here, at load, not a shifted score later.
 */
export function bindConvention(convention: Convention, tokenizer: Tokenizer): BoundConvention {
  const { input } = convention;
  const fail = (message: string): never => {
    throw new PrmError("ERR_CONVENTION", `convention ${convention.name}: ${message}`);
  };
  const find = (piece: Piece, name: string) => resolvePiece(piece, name, tokenizer, fail);
  const chat = input.form !== "plain" ? chatFrame(tokenizer, input.system, fail) : undefined;
  const separator = "separator" in input && input.separator ? find(input.separator, "separator") : undefined;
  if (input.form === "chat" && separator!.length !== 1)
    fail(`separator: expected one token, got ${separator!.join(" ")}`);
  const replace = convention.policy && find(convention.policy.replace, "policy.replace");
  if (replace !== undefined && replace.length !== 1)
    fail(`policy.replace: expected one token, got ${replace.join(" ")}`);
  if (input.form === "prefixes" && input.eos && tokenizer.eosId === undefined)
    fail("the input ends in EOS, and the tokenizer has none");
  const { lead = [] } = chat ?? {};
  if (lead.length > 0 && convention.read === "before" && !("lead" in input && input.lead === "keep")) {
    fail(
      `the chat template puts ${JSON.stringify(tokenizer.decode(lead))} between the assistant header and the reply; the model would be read behind text that it was not trained with. If it was, set input.lead to "keep"`,
    );
  }
  return {
    convention,
    tokenizer,
    separator,
    marker: convention.marker && markerInContext(convention.marker, tokenizer, fail),
    labels: convention.labels && labelIds(convention.labels, tokenizer, fail),
    replace: replace?.[0],
    chat,
  };
}

type Fail = (message: string) => never;

function resolvePiece(piece: Piece, name: string, tokenizer: Tokenizer, fail: Fail): readonly number[] {
  if (piece.token !== undefined) {
    const id = tokenizer.idOf(piece.token);
    const wanted = piece.ids === undefined ? "" : ` (id ${piece.ids.join(" ")})`;
    if (id === undefined) {
      const note =
        piece.ids?.length === 1 ? `; there, id ${piece.ids[0]} is ${show(tokenizer, piece.ids[0]!)}` : "";
      return fail(
        `${name}: the tokenizer has no added token ${piece.token}${wanted}${note}. Use the PRM's own tokenizer files`,
      );
    }
    return agree([id], piece, name, fail);
  }
  if (piece.text !== undefined) return agree(tokenizer.encode(piece.text), piece, name, fail);
  for (const id of piece.ids!) {
    if (tokenizer.tokenText(id) === "") fail(`${name}: the tokenizer has no id ${id}`);
  }
  return piece.ids!;
}

function agree(ids: readonly number[], piece: Piece, name: string, fail: Fail): readonly number[] {
  if (ids.length === 0) fail(`${name}: ${JSON.stringify(piece.text)} gives no token`);
  if (
    piece.ids !== undefined &&
    (piece.ids.length !== ids.length || piece.ids.some((id, i) => id !== ids[i]))
  ) {
    fail(
      `${name}: expected ${JSON.stringify(piece.token ?? piece.text)} to be ${piece.ids.join(" ")}, the tokenizer gives ${ids.join(" ")}`,
    );
  }
  return ids;
}

function show(tokenizer: Tokenizer, id: number): string {
  return JSON.stringify(tokenizer.tokenText(id));
}

// Endings that a step may have. A marker that merges with one of them would be missing from the ids.
const contexts = ["a", "8.", "x)", "$", "}", "1", "。"];

function markerInContext(marker: Piece, tokenizer: Tokenizer, fail: Fail): number {
  if (marker.token !== undefined) return resolvePiece(marker, "marker", tokenizer, fail)[0]!;
  if (marker.text === undefined) {
    if (marker.ids!.length !== 1) fail(`marker: expected one id, got ${marker.ids!.join(" ")}`);
    return marker.ids![0]!;
  }
  // Alone, without the blank that a sentence-piece vocabulary writes before every text.
  const alone = tokenizer.encode(marker.text).at(-1)!;
  for (const context of contexts) {
    const before = tokenizer.encode(context);
    const all = tokenizer.encode(context + marker.text);
    const kept = before.every((id, i) => id === all[i]);
    if (!kept || all.length !== before.length + 1 || all.at(-1) !== alone) {
      fail(
        `marker: expected ${JSON.stringify(marker.text)} to be one token after ${JSON.stringify(context)} and the same as alone (${alone}), got ${all.slice(kept ? before.length : 0).join(" ")}`,
      );
    }
  }
  if (marker.ids !== undefined && (marker.ids.length !== 1 || marker.ids[0] !== alone)) {
    fail(
      `marker: expected ${JSON.stringify(marker.text)} to be ${marker.ids.join(" ")}, the tokenizer gives ${alone}`,
    );
  }
  return alone;
}

function labelIds(labels: readonly (string | number)[], tokenizer: Tokenizer, fail: Fail): number[] {
  const ids = labels.map((label) => {
    if (typeof label === "number") {
      if (tokenizer.tokenText(label) === "") fail(`labels: the tokenizer has no id ${label}`);
      return label;
    }
    const found = tokenizer.encode(label);
    if (found.length !== 1)
      fail(`labels: expected ${JSON.stringify(label)} to be one token, got ${found.join(" ")}`);
    return found[0]!;
  });
  if (new Set(ids).size !== ids.length) fail(`labels: expected distinct tokens, got ${ids.join(" ")}`);
  return ids;
}

/** @internal The messages before an assistant turn. */
export function openingMessages(
  system: string | undefined,
  user: string,
): { role: string; content: string }[] {
  const turn = { role: "user", content: user };
  return system === undefined ? [turn] : [{ role: "system", content: system }, turn];
}

/** @internal Whether `ids` begins with `start`. */
export function startsWith(ids: readonly number[], start: readonly number[]): boolean {
  return start.length <= ids.length && start.every((id, i) => id === ids[i]);
}

// The header is what the generation prompt adds; the tail is what follows an assistant's words.
function chatFrame(tokenizer: Tokenizer, system: string | undefined, fail: Fail): ChatFrame {
  if (!tokenizer.hasChatTemplate) fail("needs a chat template, and the tokenizer has none");
  const opening = openingMessages(system, "x");
  const asked = tokenizer.encodeChat(opening);
  const open = tokenizer.encodeChat(opening, { addGenerationPrompt: true });
  if (open.length <= asked.length || !startsWith(open, asked))
    fail("the chat template's generation prompt adds no assistant header");
  const word = tokenizer.encode("x");
  const closed = tokenizer.encodeChat([...opening, { role: "assistant", content: "x" }]);
  const start = closed.findIndex((_, i) => i >= open.length && startsWith(closed.slice(i), word));
  if (!startsWith(closed, open) || start < 0)
    fail("the chat template does not put the assistant's words behind the generation prompt");
  return {
    first: open[0]!,
    header: open.slice(asked.length),
    lead: closed.slice(open.length, start),
    tail: closed.slice(start + word.length),
  };
}
