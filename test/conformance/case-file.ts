// A file of cases: numbers that peers' own functions produced in float64.
import { existsSync, readFileSync } from "node:fs";
import type { FloatArray } from "../../lib/index.ts";
import { decodeNumber } from "./key.ts";

export type FloatKind = "float32" | "float64";

/** Expected values: numbers, arrays of any depth, objects of them. */
export type Expected = number | string | Expected[] | { [name: string]: Expected };

export interface RawCase {
  tag: string;
  inputs: Record<string, Expected>;
  out: Record<string, Expected>;
}

export type RawLogits = Record<string, Expected> & { temperature: number };

export interface CaseFile {
  cases: RawCase[];
  logits: RawLogits[];
}

/** The file that MINFORM_PEERS names, else the default; undefined when only the default is missing. */
export function readCaseFile(fallback: string): { path: string; file: CaseFile } | undefined {
  const path = process.env.MINFORM_PEERS || fallback;
  if (!existsSync(path)) {
    if (process.env.MINFORM_PEERS) throw new Error(`MINFORM_PEERS: no such file: ${path}`);
    return undefined;
  }
  const { cases = [], logits = [], ...rest } = JSON.parse(readFileSync(path, "utf8")) as CaseFile;
  if (Object.keys(rest).length > 0)
    throw new Error(`${path}: unknown entries ${Object.keys(rest).join(", ")}`);
  if (cases.length + logits.length === 0) throw new Error(`${path}: holds no case`);
  return { path, file: { cases, logits } };
}

/** All numbers of a nested array in order. */
export function flatten(value: Expected, where: string): number[] {
  if (Array.isArray(value)) return value.flatMap((element) => flatten(element, where));
  if (typeof value === "object") throw new Error(`${where}: expected numbers, got an object`);
  return [decodeNumber(value, where)];
}

/** The inputs of a case in one dtype. `rounded` is float64 with the values that float32 would have. */
export class Case {
  readonly tag: string;
  readonly rows: number;
  readonly width: number;
  readonly responseMask: Uint8Array;
  readonly group: (string | number)[];

  constructor(
    private readonly raw: RawCase,
    private readonly kind: FloatKind | "rounded",
  ) {
    const mask = raw.inputs.response_mask as number[][];
    this.tag = raw.tag;
    this.rows = mask.length;
    this.width = mask[0]!.length;
    this.responseMask = Uint8Array.from(mask.flat());
    this.group = raw.inputs.group as (string | number)[];
  }

  get shape(): { rows: number; width: number; responseMask: Uint8Array } {
    return { rows: this.rows, width: this.width, responseMask: this.responseMask };
  }

  has(name: string): boolean {
    return name in this.raw.inputs;
  }

  /** An input array, `[rows, width]` or `[rows]`. */
  input(name: string): FloatArray {
    if (!this.has(name)) throw new Error(`the case has no input ${name}`);
    return this.array(flatten(this.raw.inputs[name]!, name));
  }

  get stepEndMask(): Uint8Array {
    return Uint8Array.from(flatten(this.raw.inputs.step_end_mask!, "step_end_mask"));
  }

  /** One value for every response. */
  perRow(value: number): FloatArray {
    return this.array(new Array<number>(this.rows).fill(value));
  }

  array(values: number[]): FloatArray {
    if (this.kind === "float64") return Float64Array.from(values);
    const single = Float32Array.from(values);
    return this.kind === "float32" ? single : Float64Array.from(single);
  }
}
