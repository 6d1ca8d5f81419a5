import type { Command } from "commander";
import { InputError, PrmError } from "../errors.ts";
import type { Aggregator } from "../prm/aggregate.ts";
import { openInput, parseRow, type TextLine, textLines } from "../prm/files/lines.ts";
import { scoreFile } from "../prm/files/score-file.ts";
import { loadPrm } from "../prm/load.ts";
import type { Prm } from "../prm/prm.ts";
import {
  addModelFlags,
  aggregateOption,
  type ModelFlags,
  number,
  resumeSettings,
  toLoadOptions,
} from "./prm-options.ts";
import { countLines, RowProgress } from "./row-progress.ts";
import { interruptible } from "./signals.ts";

interface Flags extends ModelFlags {
  in: string;
  out: string;
  aggregate?: Aggregator;
  temperature?: number;
  probability?: boolean;
  resume?: boolean;
  strict?: boolean;
}

/** @internal Adds `minform score`. */
export function register(program: Command): void {
  addModelFlags(program.command("score"), "error")
    .description("step rewards of the solutions in a JSONL file, from a PRM checkpoint")
    .addOption(aggregateOption())
    .option("--temperature <t>", "T of soft-min", number)
    .option("--probability", "aggregate signed scores as probabilities, (r + 1) / 2")
    .requiredOption(
      "--in <file|->",
      "rows: question with steps or response, prompt_ids with response_ids, or conversation",
    )
    .requiredOption("--out <file|->", "the rows with step_rewards, score, model, convention, aggregate")
    .option("--resume", "go on from where a killed run stood")
    .option("--strict", "exit with 1 when a row could not be scored")
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const total = await (flags.in !== "-" && process.stderr.isTTY ? countLines(flags.in) : undefined);
  const lines = peekable(textLines(openInput(flags.in), flags.in === "-" ? "standard input" : flags.in));
  const prm = await load(flags, lines);
  const progress = new RowProgress(total);
  try {
    const result = await interruptible(
      (signal) =>
        scoreFile(prm, {
          input: flags.in,
          lines,
          output: flags.out,
          signal,
          settings: resumeSettings(flags),
          ...(flags.aggregate === undefined ? {} : { aggregate: flags.aggregate }),
          ...(flags.temperature === undefined ? {} : { temperature: flags.temperature }),
          ...(flags.probability === undefined ? {} : { probability: flags.probability }),
          ...(flags.resume === undefined ? {} : { resume: flags.resume }),
          onProgress: ({ rows, tokens }) => progress.update(rows, tokens),
          onBadRow: ({ line, message }) => progress.note(`${flags.in}:${line}: ${message}`),
        }),
      "rerun with --resume to go on",
    );
    progress.stop();
    const { rows, tokens, bad, resumed } = result;
    process.stderr.write(
      `${rows} rows scored${resumed > 0 ? ` (went on after line ${resumed})` : ""}, ${bad.length} bad, ${tokens} tokens, ${progress.speed(tokens).toFixed(0)} tokens/s\n`,
    );
    if (flags.strict && bad.length > 0) {
      throw new InputError("ERR_INPUT", `${flags.in}: ${bad.length} rows could not be scored (--strict)`);
    }
  } finally {
    progress.stop();
    await prm.close();
  }
}

// Where the checkpoint does not tell, a conversation does: its "+" turns say what is read, and every convention that
// takes conversations reads them alike.
async function load(flags: Flags, lines: Peekable): Promise<Prm> {
  const options = {
    ...toLoadOptions(flags),
    onDetected: ({ name }: { name: string }, because: string) => {
      if (flags.convention === undefined) process.stderr.write(`convention ${name} (${because})\n`);
    },
  };
  try {
    return await loadPrm(flags.model, options);
  } catch (error) {
    if (!(error instanceof PrmError) || error.code !== "ERR_CONVENTION_UNKNOWN") throw error;
    if (!(await startsWithConversation(lines))) throw error;
  }
  process.stderr.write("convention dreamprm (the rows are conversations with the replies to be judged)\n");
  return loadPrm(flags.model, { ...options, convention: "dreamprm", onDetected: () => {} });
}

async function startsWithConversation(lines: Peekable): Promise<boolean> {
  const first = await lines.peek();
  if (first === undefined) return false;
  try {
    const { conversation } = parseRow(first);
    if (!Array.isArray(conversation)) return false;
    const replies = conversation.filter((message) => message?.role === "assistant");
    return replies.every((message) => ["+", "-"].includes(message.content));
  } catch {
    return false;
  }
}

interface Peekable extends AsyncIterable<TextLine> {
  /** The first line that is not blank, without taking it. */
  peek(): Promise<TextLine | undefined>;
}

function peekable(lines: AsyncGenerator<TextLine>): Peekable {
  const held: TextLine[] = [];
  return {
    async peek() {
      for (;;) {
        const found = held.find((line) => line.text.trim() !== "");
        if (found) return found;
        const next = await lines.next();
        if (next.done) return undefined;
        held.push(next.value);
      }
    },
    async *[Symbol.asyncIterator]() {
      yield* held;
      yield* lines;
    },
  };
}
