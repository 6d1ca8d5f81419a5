import { InvalidArgumentError, Option } from "commander";
import { BASELINES, CREDIT_FORMS, VERIFIABLE_CODINGS } from "../rollouts/options.ts";

/** @internal Reads a number, and nothing that only begins like one. */
export function number(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw new InvalidArgumentError("expected a number.");
  return value;
}

/** @internal Reads an integer of at least 1. */
export function count(text: string): number {
  const value = number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError("expected an integer of at least 1.");
  return value;
}

/** @internal Options that say how rewards become advantages; `creditSettings` checks their ranges. */
export function creditOptions(): Option[] {
  return [
    new Option("--credit <form>", "form of credit beside sum-form").choices(CREDIT_FORMS).default("min-form"),
    new Option("--temperature <T>", "temperature of min-form, > 0").argParser(number).default(0.1),
    new Option("--baseline <name>", "baseline of RLOO").choices(BASELINES).default("return"),
    new Option("--coefficient <c>", "factor of the verifiable reward, 0 for none")
      .argParser(number)
      .default(1),
    new Option("--verifiable-coding <name>", "what a right; a wrong answer adds: 0; -1 or 1; 0")
      .choices(VERIFIABLE_CODINGS)
      .default("minus-one-zero"),
    new Option("--clip-ratio <epsilon>", "clip range of the PPO loss").argParser(number).default(0.2),
  ];
}
