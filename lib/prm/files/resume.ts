import { createHash, type Hash } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { z } from "zod";
import { writeWhole } from "../../atomic-file.ts";
import { InputError } from "../../errors.ts";
import type { TextLine } from "../../files/lines.ts";

const schema = z.strictObject({
  version: z.literal(1),
  /** Model, convention and options: rows of one file are scored alike. */
  settings: z.string(),
  /** Input lines that are dealt with, and their digest. */
  lines: z.int().min(0),
  digest: z.string(),
  /** Bytes of output that belong to them. */
  bytes: z.int().min(0),
  rows: z.int().min(0),
  bad: z.array(z.strictObject({ line: z.int(), message: z.string() })),
});

/** @internal How far a file of scores is. */
export type ResumeState = z.output<typeof schema>;

/**
 * @internal A JSONL output that grows in `<path>.partial`, with a note beside it of how many input lines the bytes so far
 * stand for. Killed at any point, the next run cuts the partial file back to the note and goes on; the result is
 * byte for byte that of an unbroken run.
 */
export class ResumableOutput {
  readonly #path: string;
  readonly #partial: string;
  readonly #note: string;
  readonly #hash: Hash = createHash("sha256");
  readonly state: ResumeState;
  #file: number;
  #skip: number;

  constructor(path: string, settings: string, resume: boolean) {
    this.#path = path;
    this.#partial = `${path}.partial`;
    this.#note = `${path}.resume.json`;
    const found = resume ? this.#load(settings) : undefined;
    this.state = found ?? { version: 1, settings, lines: 0, digest: "", bytes: 0, rows: 0, bad: [] };
    this.#skip = this.state.lines;
    try {
      // A note of an earlier run would be taken for one of this.
      if (found === undefined) rmSync(this.#note, { force: true });
      this.#file = openSync(this.#partial, found === undefined ? "w" : "r+");
      ftruncateSync(this.#file, this.state.bytes);
    } catch (cause) {
      throw new InputError("ERR_INPUT", `${path}: cannot be written: ${(cause as Error).message}`, { cause });
    }
  }

  #load(settings: string): ResumeState | undefined {
    if (!existsSync(this.#note)) return undefined;
    const broken = (why: string, cause?: unknown): InputError =>
      new InputError("ERR_INPUT", `${this.#note}: ${why}; run without --resume to start over`, { cause });
    let state: ResumeState;
    try {
      state = schema.parse(JSON.parse(readFileSync(this.#note, "utf8")));
    } catch (cause) {
      throw broken("is damaged", cause);
    }
    if (state.settings !== settings)
      throw broken("was written with another model, convention or other options");
    const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;
    // Killed between the last two steps of finish.
    if (sizeOf(this.#partial) === undefined && sizeOf(this.#path) === state.bytes)
      copyFileSync(this.#path, this.#partial);
    const size = sizeOf(this.#partial) ?? 0;
    if (size < state.bytes) throw broken(`expected ${state.bytes} bytes in ${this.#partial}, found ${size}`);
    return state;
  }

  /** Takes note of an input line; true when it was dealt with before. */
  skip(line: TextLine): boolean {
    this.#hash.update(line.text).update("\n");
    if (this.#skip === 0) return false;
    this.#skip--;
    if (this.#skip === 0 && this.#digest() !== this.state.digest) {
      throw new InputError(
        "ERR_INPUT",
        `${this.#note}: the first ${this.state.lines} lines of the input are not those that were scored; run without --resume to start over`,
      );
    }
    return true;
  }

  /** Appends rows and notes that the input is dealt with up to `lines`. */
  append(text: string, rows: number, lines: number): void {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.#file, bytes, done, bytes.length - done, this.state.bytes + done);
    fsyncSync(this.#file);
    Object.assign(this.state, {
      bytes: this.state.bytes + bytes.length,
      rows: this.state.rows + rows,
      lines,
      digest: this.#digest(),
    });
    writeWhole(this.#note, JSON.stringify(this.state));
  }

  /** Gives the file its name. */
  finish(): void {
    if (this.#skip > 0) {
      throw new InputError(
        "ERR_INPUT",
        `${this.#note}: the input has ${this.#skip} lines less than were scored; run without --resume to start over`,
      );
    }
    fsyncSync(this.#file);
    this.close();
    renameSync(this.#partial, this.#path);
    rmSync(this.#note, { force: true });
  }

  /** Leaves what is there for another run. */
  close(): void {
    if (this.#file >= 0) closeSync(this.#file);
    this.#file = -1;
  }

  #digest(): string {
    return this.#hash.copy().digest("hex");
  }
}
