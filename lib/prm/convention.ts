import { readFileSync } from "node:fs";
import { z } from "zod";
import { PrmError } from "../errors.ts";

// "\\n" typed as two characters in JSON or on a command line is never what a PRM was trained with.
const text = z.string().refine((value) => !/\\[nrt](?![A-Za-z])/.test(value), {
  message: "holds a backslash followed by n, r or t as two characters; write the control character itself",
});
/** @internal Text of a separator; its control characters are themselves. */
export const control = z.string().refine((value) => !/\\[nrt]/.test(value), {
  message: "holds a backslash followed by n, r or t as two characters; write the control character itself",
});
const ids = z.array(z.int().min(0)).min(1);

const piece = z.strictObject({
  /** What is encoded, alone, to get the ids. */
  text: control.min(1).optional(),
  /** The ids; with `text`, the tokenizer must agree. */
  ids: ids.optional(),
  /** The text is one added token, looked up by its exact spelling. */
  token: text.min(1).optional(),
});
const separator = piece.refine((value) => Object.keys(value).length > 0, {
  message: "needs text, ids or token",
});

const system = text.optional();
const template = text.min(1);
const lead = z.enum(["refuse", "keep"]).default("refuse");

const plain = z.strictObject({
  /** Question and steps as plain text, without a chat template. */
  form: z.literal("plain"),
  /** Starts with the tokenizer's BOS, where it has one. */
  bos: z.boolean().default(false),
  /** Text before the first step; holds `{question}`. */
  prompt: template,
  /** Text of a step; holds `{step}`. */
  step: template.default("{step}"),
  /** Text between steps; only when tokenised whole. */
  join: control.default(""),
  /** `parts`: prompt, steps and separators are tokenised alone and their ids joined; `whole`: one text. */
  tokenise: z.enum(["parts", "whole"]),
  /** Ids after each step; only with `parts`. */
  separator: separator.optional(),
});

const chat = z.strictObject({
  /** A chat of one user and one assistant turn, with the steps inside the latter. */
  form: z.literal("chat"),
  /** Text of the system turn; none when it is left out. */
  system,
  /** Text of the user turn; holds `{question}`. */
  user: template.default("{question}"),
  /** Closes each step inside the one assistant turn. */
  separator,
});

const turns = z.strictObject({
  /** A chat with a user turn per step and a fixed reply. */
  form: z.literal("turns"),
  /** Text of the system turn; none when it is left out. */
  system,
  /** First user turn; holds the question and the first step. */
  first: template,
  /** Each later user turn; holds its step. */
  next: template,
  /** What the assistant says after each step; the read stands before it. */
  reply: text.min(1),
  /** What the chat template puts between header and reply (an empty think block): refused, or kept where the model knows it. */
  lead,
});

const prefixes = z.strictObject({
  /** A conversation per step, which shows all steps up to it. */
  form: z.literal("prefixes"),
  /** Text of the system turn; none when it is left out. */
  system,
  /** User turn of the k-th prefix: `{steps}` is the first k steps joined. */
  user: template,
  /** Text after the assistant header; without it the read stands on the header's last token. */
  assistant: text.optional(),
  /** Ends each prefix with the EOS token and reads there. */
  eos: z.boolean().default(false),
  /** Text between the steps of a prefix. */
  join: control.default("\n"),
  /** Stands for `{reference}` when an item has none. */
  noReference: text.optional(),
  /** What the chat template puts between header and reply (an empty think block): refused, or kept where the model knows it. */
  lead,
});

const response = z.strictObject({
  /** Question and response as the policy saw them, for implicit PRMs. */
  form: z.literal("response"),
  /** Text of the system turn; none when it is left out. */
  system,
  /** Text of the user turn; holds `{question}`. */
  user: template.default("{question}"),
  /** Text of a step; holds `{step}`. */
  step: template.default("{step}"),
  /** Text between steps. */
  join: control.default("\n\n"),
});

const schema = z
  .strictObject({
    /** Name, of lower-case letters, digits, dots and dashes. */
    name: z.string().regex(/^[a-z0-9][a-z0-9._-]*$/, "lower-case letters, digits, dot, dash"),
    /** What it is for, for people. */
    about: z.string().optional(),
    /** Hub ids that it is detected by. */
    hubIds: z.array(z.string()).default([]),
    /** Head that is read. */
    head: z.enum(["token-classification", "mlp", "value", "lm-rows", "lm", "scalar"]),
    /** How question and steps are fed. */
    input: z.discriminatedUnion("form", [plain, chat, turns, prefixes, response]),
    /** Token that is read, as it stands in context; only for text tokenised whole or steps that end in it. */
    marker: piece.optional(),
    /** Whether the read stands at the marker, or on the token before the reply. */
    read: z.enum(["at", "before"]),
    /** Candidate tokens of an LM head, in class order. Text is encoded alone, without BOS. */
    labels: z.array(z.union([text.min(1), z.int().min(0)])).optional(),
    /** How outputs become a score. */
    score: z.strictObject({
      /** From the head's outputs at a read to a number. */
      transform: z.enum(["softmax", "softmax-difference", "sigmoid", "identity", "log-ratio"]),
      /** Class (or classes, summed) that means good. */
      good: z.union([z.int().min(0), z.array(z.int().min(0)).min(1)]).optional(),
      /** Class that means bad, for softmax-difference. */
      bad: z.int().min(0).optional(),
      /** log-ratio: factor of the log-ratio, > 0. */
      beta: z.number().positive().optional(),
      /** log-ratio: each step's own part, or the sum up to its end. */
      accumulate: z.enum(["step", "cumulative"]).optional(),
    }),
    /** Range of the scores; follows from the transform. */
    range: z.enum(["probability", "signed", "unbounded"]),
    /** Aggregator used when none is asked for. */
    aggregate: z.enum(["min", "product", "mean", "last", "max", "soft-min", "log-odds-mean"]),
    /** Score below which a step counts as wrong. */
    threshold: z.number(),
    /** Splits a response into steps. */
    split: control.min(1).default("\n\n"),
    /** Strips blanks around each step. */
    trim: z.boolean().default(false),
    /** How the policy's own ids are fed: every token whose text ends with `separator`, and the last one, is replaced. */
    policy: z
      .strictObject({
        /** Text at which the policy ends a step. */
        separator: control.min(1),
        /** What the token that ends a step is replaced by. */
        replace: separator,
      })
      .optional(),
  })
  .superRefine((c, context) => {
    const bad = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: path.split("."), message });
    const { input, score } = c;
    if ((c.head === "lm-rows") !== (c.labels !== undefined))
      bad("labels", "stands with the head lm-rows and only there");
    if (c.labels !== undefined && c.labels.length < 2) bad("labels", "needs at least two");
    if (c.labels !== undefined && new Set(c.labels).size !== c.labels.length)
      bad("labels", "must be distinct");
    if ((c.head === "lm") !== (score.transform === "log-ratio"))
      bad("score.transform", "log-ratio stands with the head lm and only there");
    if ((input.form === "response") !== (c.head === "lm"))
      bad("input.form", "response stands with the head lm and only there");
    const oneOutput = c.head === "value" || c.head === "scalar";
    if (oneOutput && !["sigmoid", "identity"].includes(score.transform))
      bad("score.transform", "a head of one value takes sigmoid or identity, never a softmax over one class");
    if (score.transform.startsWith("softmax") && score.good === undefined)
      bad("score.good", "a softmax needs the class that means good");
    if (score.transform === "softmax-difference" && (score.bad === undefined || score.bad === score.good))
      bad("score.bad", "softmax-difference needs a class that means bad, other than good");
    if (score.transform === "log-ratio" && (score.beta === undefined || score.accumulate === undefined))
      bad("score", "log-ratio needs beta and accumulate");
    const expected = {
      softmax: "probability",
      sigmoid: "probability",
      "softmax-difference": "signed",
      identity: "unbounded",
      "log-ratio": "unbounded",
    }[score.transform];
    if (c.range !== expected) bad("range", `${score.transform} gives ${expected} scores`);
    if (input.form === "plain") {
      const whole = input.tokenise === "whole";
      if (whole && c.marker === undefined) bad("marker", "text tokenised whole is read at a marker");
      if (whole && input.separator !== undefined)
        bad("input.separator", "separator ids stand only between parts");
      if (!whole && input.join !== "") bad("input.join", "stands only in text tokenised whole");
      if (!whole && (input.separator === undefined) === (c.marker === undefined))
        bad("input.separator", "parts end either in separator ids or in a marker of the step template");
      if (!input.step.includes("{step}")) bad("input.step", "must hold {step}");
      if (!input.prompt.includes("{question}")) bad("input.prompt", "must hold {question}");
    }
    const before = input.form === "turns" || (input.form === "prefixes" && !input.eos);
    if (before !== (c.read === "before"))
      bad("read", `${input.form} is read ${before ? "before the reply" : "at the marker"}`);
  });

/**
 * How one PRM family is fed and read, as data: the template, the separator as ids, the marker, whether the read stands
 * at or before it, label tokens, class order, transform and range. {@link families} holds the built-in ones; write
 * your own as JSON and pass the object or the file to {@link loadPrm}.
 */
export type Convention = z.output<typeof schema>;

/** What a convention may leave out. */
export type ConventionInput = z.input<typeof schema>;

/** @internal A separator, marker or replacement. */
export type Piece = z.output<typeof piece>;

/**
 * Checks a convention and fills in its defaults.
 *
 * @throws {@link PrmError} `ERR_CONVENTION` naming each wrong field
 */
export function parseConvention(value: unknown): Convention {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const name = (value as { name?: unknown } | null)?.name;
  const issues = result.error.issues.map(
    ({ path, message }) => `${path.map(String).join(".") || "convention"}: ${message}`,
  );
  throw new PrmError(
    "ERR_CONVENTION",
    `convention${typeof name === "string" ? ` ${name}` : ""}: ${issues.join("; ")}`,
  );
}

/**
 * Reads a convention from a JSON file.
 *
 * @throws {@link PrmError} `ERR_CONVENTION` when the file is missing, is no JSON or no convention
 */
export function readConvention(path: string): Convention {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new PrmError(
      "ERR_CONVENTION",
      `convention file ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
  return parseConvention(value);
}
