import {
  accessSync,
  constants,
  createReadStream,
  createWriteStream,
  mkdtempSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { InputError } from "../errors.ts";

/** @internal A file to read, which may be a copy of standard input. */
export interface Spooled extends Disposable {
  readonly path: string;
  /** For messages. */
  readonly name: string;
}

/** @internal A file to write, which may be on its way to standard output. */
export interface Target extends Disposable {
  readonly path: string;
  /** Hands the finished file on. */
  deliver(): Promise<void>;
}

function temporaryFolder(): Disposable & { file: string } {
  const folder = mkdtempSync(join(tmpdir(), "minform-"));
  return {
    file: join(folder, "rows.jsonl"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** @internal The input is read twice, so standard input goes to a temporary file first. */
export async function spoolInput(path: string, signal: AbortSignal): Promise<Spooled> {
  if (path !== "-") return { path, name: path, [Symbol.dispose]() {} };
  const folder = temporaryFolder();
  try {
    await pipeline(process.stdin, createWriteStream(folder.file), { signal });
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
  return { path: folder.file, name: "standard input", [Symbol.dispose]: folder[Symbol.dispose] };
}

/** @internal The output is finished before any of it is seen, on standard output too. */
export function outputPath(path: string): Target {
  if (path !== "-") return { path, async deliver() {}, [Symbol.dispose]() {} };
  const folder = temporaryFolder();
  return {
    path: folder.file,
    deliver: () => pipeline(createReadStream(folder.file), process.stdout, { end: false }),
    [Symbol.dispose]: folder[Symbol.dispose],
  };
}

/**
 * @internal Checks before a model is loaded that the input can be read and that the output has a folder.
 *
 * @throws {@link InputError} `ERR_INPUT`
 */
export function checkPaths(input: string, output: string): void {
  try {
    if (input !== "-") accessSync(input, constants.R_OK);
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${input}: cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (output !== "-" && !statSync(dirname(output), { throwIfNoEntry: false })?.isDirectory())
    throw new InputError("ERR_INPUT", `${output}: cannot be written: there is no folder ${dirname(output)}`);
}
