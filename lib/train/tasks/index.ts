export { type DigitOptions, digitHooks } from "./digit-hooks.ts";
export {
  completeDigits,
  type DigitPrompt,
  digitReward,
  type DigitScore,
  parseDigitPrompt,
  scoreDigits,
} from "./digits.ts";
export { endEpisodes } from "./episode.ts";
