// PyTorch as a second process: bench/torch/serve.py reads one request per line and answers with milliseconds, so that
// its rounds alternate with ours.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Contender } from "./measure.ts";

/** How a case is run by PyTorch: operator by operator, or through torch.compile. */
export type TorchMode = "eager" | "compiled";

interface Answer {
  ms?: number;
  error?: string;
  version?: string;
}

/** The PyTorch process, or the reason why there is none. */
export class Torch {
  readonly version: string;
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  private constructor(
    process: ChildProcessByStdio<Writable, Readable, null>,
    lines: AsyncIterator<string>,
    version: string,
  ) {
    this.#process = process;
    this.#lines = lines;
    this.version = version;
  }

  /** Starts python3; undefined when it has no torch. */
  static async start(script: string, threads: number): Promise<Torch | undefined> {
    const child = spawn("python3", [script, String(threads)], { stdio: ["pipe", "pipe", "ignore"] });
    const failed = new Promise<undefined>((resolve) => child.once("error", () => resolve(undefined)));
    child.stdin.on("error", () => {}); // a process that has died answers nothing, which is noticed below
    const reader: Interface = createInterface({ input: child.stdout });
    const lines = reader[Symbol.asyncIterator]();
    const hello = await Promise.race([failed, read(lines)]);
    return hello?.version === undefined ? undefined : new Torch(child, lines, hello.version);
  }

  /** A contender for one case; `report` hears why it cannot run. */
  contender(family: string, name: string, mode: TorchMode, report: (reason: string) => void): Contender {
    return async () => {
      this.#process.stdin.write(`${JSON.stringify({ family, case: name, mode })}\n`);
      const answer = (await read(this.#lines)) ?? { error: "the python process has ended" };
      if (answer.error !== undefined) report(`torch ${mode}: ${answer.error}`);
      return answer.ms;
    };
  }

  /** Frees what the cases of a family hold. */
  async forget(): Promise<void> {
    this.#process.stdin.write(`${JSON.stringify({ forget: true })}\n`);
    await read(this.#lines);
  }

  /** Ends the process. */
  stop(): void {
    this.#process.stdin.end();
  }
}

async function read(lines: AsyncIterator<string>): Promise<Answer | undefined> {
  const { value, done } = await lines.next();
  if (done) return undefined;
  try {
    return JSON.parse(value) as Answer;
  } catch {
    return { error: `unreadable answer ${value}` };
  }
}
