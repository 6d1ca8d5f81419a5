import { findStepEnds } from "../../credit/index.ts";
import type { Ragged } from "../../ragged.ts";
import type { TextCodec } from "../text/codec.ts";

/** @internal Finds the steps of responses: a step ends on a token whose text ends with the separator, and at the end. */
export class StepFinder {
  private readonly known = new Map<number, boolean>();

  constructor(
    private readonly codec: TextCodec,
    private readonly separator: string,
  ) {}

  /** Token index (within the response) of each step's last token. */
  find(tokens: Ragged<Int32Array>): Ragged<Int32Array> {
    for (const id of tokens.data) {
      if (!this.known.has(id)) this.known.set(id, this.codec.decode([id]).endsWith(this.separator));
    }
    const separators = [...this.known].filter(([, ends]) => ends).map(([id]) => id);
    const { eosId } = this.codec;
    return findStepEnds(tokens, { separators, ...(eosId === undefined ? {} : { eos: eosId }) }).stepEnds;
  }
}
