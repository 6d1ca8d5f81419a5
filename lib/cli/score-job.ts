import { InputError, PrmError } from "../errors.ts";
import { inputName, openInput, parseRow, textLines } from "../files/lines.ts";
import { scoreFile, type ScoreFileJob, type ScoreFileResult } from "../prm/files/score-file.ts";
import { loadPrm } from "../prm/load.ts";
import type { Prm } from "../prm/prm.ts";
import { FirstLines } from "./first-lines.ts";
import { resumeSettings, toLoadOptions } from "./prm-options.ts";
import { COMPARED_ROWS, loadContext, reportQuantization } from "./quantization.ts";
import { countLines, RowProgress } from "./row-progress.ts";
import type { ScoreFlags } from "./score.ts";
import { interruptible } from "./signals.ts";
import { checkPaths } from "./streams.ts";

/** @internal Runs `minform score`. */
export async function runScore(flags: ScoreFlags): Promise<void> {
  checkPaths(flags.in, flags.out);
  const state =
    flags.out === "-" ? "rows scored so far are on standard output" : "rerun with --resume to go on";
  await interruptible((signal) => score(flags, signal), state);
}

async function score(flags: ScoreFlags, signal: AbortSignal): Promise<void> {
  const total = await (flags.in !== "-" && process.stderr.isTTY ? countLines(flags.in) : undefined);
  const name = inputName(flags.in);
  const lines = new FirstLines(textLines(openInput(flags.in, signal), name), COMPARED_ROWS);
  await using prm = await load(flags, lines, signal);
  signal.throwIfAborted();
  const progress = new RowProgress(total);
  let seenBad = 0;
  let result: ScoreFileResult;
  try {
    result = await scoreFile(prm, {
      ...jobOf(flags),
      lines,
      signal,
      onProgress: ({ rows, tokens }) => progress.update(rows + seenBad, tokens),
      onBadRow: ({ line, message }) => {
        seenBad++;
        progress.note(`${name}:${line}: ${message}`);
      },
    });
  } finally {
    progress.stop();
  }
  const { rows, tokens, bad, resumed } = result;
  process.stderr.write(
    `${rows} rows scored${resumed > 0 ? ` (went on after line ${resumed})` : ""}, ${bad.length} bad, ${tokens} tokens, ${progress.speed(tokens).toFixed(0)} tokens/s\n`,
  );
  await reportQuantization(prm, flags, lines.first);
  if (flags.strict && bad.length > 0)
    throw new InputError("ERR_INPUT", `${name}: ${bad.length} rows could not be scored (--strict)`);
}

function jobOf(flags: ScoreFlags): ScoreFileJob {
  const { in: input, out: output, aggregate, temperature, probability, resume } = flags;
  return {
    input,
    output,
    settings: resumeSettings(flags),
    ...(aggregate === undefined ? {} : { aggregate }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(probability === undefined ? {} : { probability }),
    ...(resume === undefined ? {} : { resume }),
  };
}

// Where the checkpoint does not tell, a conversation does: its "+" turns say what is read, and every convention that
// takes conversations reads them alike.
async function load(flags: ScoreFlags, lines: FirstLines, signal: AbortSignal): Promise<Prm> {
  const options = {
    ...toLoadOptions(flags),
    ...loadContext(signal),
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

async function startsWithConversation(lines: FirstLines): Promise<boolean> {
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
