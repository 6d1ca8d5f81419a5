import { openRlhf, type OpenRlhfPreset } from "./openrlhf.ts";
import { pureOpenRlhf, type PureOpenRlhfPreset } from "./pure-openrlhf.ts";
import { pureVerl, type PureVerlPreset } from "./pure-verl.ts";
import { trl, type TrlPreset } from "./trl.ts";
import { type VerlAdvantages, verlAdvantages } from "./verl-advantage.ts";
import { type VerlLosses, verlLosses } from "./verl-loss.ts";

/** verl 0.8 (github.com/verl-project/verl). */
export interface VerlPreset extends VerlAdvantages, VerlLosses {}

/** The peers whose arithmetic is reproduced. */
export interface Presets {
  /** The verl branch of PURE. */
  readonly pureVerl: PureVerlPreset;
  /** The main branch of PURE. */
  readonly pureOpenRlhf: PureOpenRlhfPreset;
  /** verl 0.8. */
  readonly verl: VerlPreset;
  /** TRL 1.10. */
  readonly trl: TrlPreset;
  /** OpenRLHF 0.11. */
  readonly openRlhf: OpenRlhfPreset;
}

/**
 * Other projects' own arithmetic, quirks included, under their function names: to compare a result with theirs and to
 * explain a difference. The functions take padded batches, because the quirks depend on the padding; unlike the rest of
 * this library they read it, multiply by masks, and let NaN through where the peer does. Sources: the named
 * repositories; docs/guides/presets.md lists what differs from this library's defaults.
 */
export const presets: Presets = {
  pureVerl,
  pureOpenRlhf,
  verl: { ...verlAdvantages, ...verlLosses },
  trl,
  openRlhf,
};

export type {
  PaddedAdvantages,
  PaddedBatch,
  PaddedKl,
  PaddedPolicyLoss,
  PaddedValueLoss,
} from "./padded.ts";
export type * from "./openrlhf.ts";
export type * from "./pure-openrlhf.ts";
export type * from "./pure-verl.ts";
export type * from "./trl.ts";
export type * from "./verl-advantage.ts";
export type * from "./verl-loss.ts";
