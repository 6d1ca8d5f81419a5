import { assertOneOf } from "../../validate.ts";
import type { EvalDataset } from "./dataset.ts";
import type { EvalProblem } from "./problem.ts";

/** How an engine is to sample. */
export interface Sampling {
  /** >= 0; 0 is greedy. */
  readonly temperature: number;
  /** Probability mass that is sampled from, in (0, 1]; 1 keeps all tokens. */
  readonly topP: number;
  /** Samples per problem. */
  readonly n: number;
  /** Integer that an engine starts its random numbers from. */
  readonly seed: number;
  /** Most tokens of a response. */
  readonly maxTokens: number;
  /** Strings that end a response; they are not part of it. */
  readonly stop: readonly string[];
}

/** Strings at which Qwen2.5-Math's evaluation, and PURE's after it, cuts a response. */
export const stopStrings: readonly string[] = ["</s>", "<|im_end|>", "<|endoftext|>"];

/** Settings of published numbers. */
export const sampling = {
  /** PURE's evaluation: greedy, one sample, 3000 tokens. */
  greedy: {
    /** Greedy. */
    temperature: 0,
    /** All tokens. */
    topP: 1,
    /** One sample per problem. */
    n: 1,
    /** Without effect where decoding is greedy. */
    seed: 42,
    /** Most tokens of a response. */
    maxTokens: 3000,
    /** {@link stopStrings} */
    stop: stopStrings,
  },
  /** Models distilled from R1, as PURE evaluates them: long samples. */
  r1: {
    /** Sampled, somewhat sharper than the model's own distribution. */
    temperature: 0.6,
    /** The likeliest tokens that make up 95 % of the probability. */
    topP: 0.95,
    /** One sample per problem. */
    n: 1,
    /** Start of the random numbers. */
    seed: 42,
    /** Most tokens of a response, the thinking included. */
    maxTokens: 32768,
    /** {@link stopStrings} */
    stop: stopStrings,
  },
} as const satisfies Record<string, Sampling>;

/** Prompt templates by the names of PURE's evaluation. */
export const promptTemplates = {
  /** PURE's own, given to the model as it is, without a chat template. The quotes hold two line ends. */
  "qwen25-math-cot-ft": (question: string): string =>
    `${question}\n\nPlease reason step by step with steps separated by "\n\n", and put your final answer within \\boxed{}.`,
  /** Qwen2.5-Math-Instruct's: the markup of its chat template written out. */
  "qwen25-math-cot": (question: string): string =>
    `<|im_start|>system\nPlease reason step by step, and put your final answer within \\boxed{}.<|im_end|>\n<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`,
} as const;

/** One of {@link promptTemplates}. */
export type PromptTemplate = keyof typeof promptTemplates;

/** A prompt for one problem. */
export interface EvalPrompt {
  /** {@link EvalDataset.name} */
  readonly dataset: string;
  /** {@link EvalProblem.id} */
  readonly id: string;
  /** The text for the model, the template filled with the question. */
  readonly prompt: string;
}

/**
 * The prompts of a dataset, in its order.
 *
 * @param template - a name, or a function of the question
 * @throws {@link index.ArgumentError | ArgumentError} `ERR_ARGUMENT_VALUE` for an unknown name
 */
export function buildPrompts(
  dataset: EvalDataset,
  template: PromptTemplate | ((question: string) => string) = "qwen25-math-cot-ft",
): EvalPrompt[] {
  if (typeof template === "string")
    assertOneOf(template, "template", Object.keys(promptTemplates) as PromptTemplate[]);
  const fill = typeof template === "string" ? promptTemplates[template] : template;
  return dataset.problems.map((problem) => ({
    dataset: dataset.name,
    id: problem.id,
    prompt: fill(asked(problem)),
  }));
}

// Qwen's evaluation tells the model of answers that are one of two words.
function asked({ question, reference }: EvalProblem): string {
  const gold = reference.toLowerCase();
  const hint =
    gold === "true" || gold === "false"
      ? " (True or False)"
      : gold === "yes" || gold === "no"
        ? " (Yes or No)"
        : "";
  return `${question}${hint}`;
}

/** @internal A response as it is graded: cut at the first stop string, trimmed. */
export function cutResponse(response: string, stop: readonly string[] = stopStrings): string {
  let end = response.length;
  for (const text of stop) {
    const at = response.indexOf(text);
    if (at >= 0 && at < end) end = at;
  }
  return response.slice(0, end).trim();
}
