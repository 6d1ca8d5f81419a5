/** One measured job: the library's own code, and optionally the same job in plain JavaScript and in PyTorch. */
export interface BenchCase {
  /** Kernel family, e.g. `"loss"`. */
  family: string;
  /** What is measured, with its size, e.g. `"ppoLoss 64 x 4096"`. */
  name: string;
  /** Bytes that the job must read and write at least once; gives GB/s and the share of the machine's bandwidth. */
  bytes: number;
  /** The bandwidth to compare with: `"read"` (default) or `"copy"` for jobs that write about as much as they read. */
  traffic?: "read" | "copy";
  /** The library. Promises are awaited. */
  run(): unknown;
  /** The same job in plain JavaScript, written as a user would. */
  javascript?(): unknown;
  /** Key of `CASES` in bench/torch/<family>.py. */
  torch?: string;
  /** What else is known about it, to be printed below the table. */
  notes?: readonly string[];
}

/** What bench/<family>.bench.ts exports by default; a function, so that its arrays are freed before the next family. */
export type BenchCases = readonly BenchCase[] | (() => readonly BenchCase[] | Promise<readonly BenchCase[]>);

/** Numbers in [-1, 1) that are the same in every run. */
export function noise<T extends Float32Array | Float64Array>(data: T, seed = 1): T {
  let x = seed;
  for (let i = 0; i < data.length; i++) {
    x = (Math.imul(x, 1664525) + 1013904223) | 0;
    data[i] = x / 2 ** 31;
  }
  return data;
}
