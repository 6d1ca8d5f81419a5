import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { buildNative } from "./native.ts";

/** GB/s with all threads. */
export interface Bandwidth {
  read: number;
  copy: number;
}

const run = promisify(execFile);

/**
 * Builds and runs bench/native/bandwidth.cc: native kernels, all threads at work, best of several rounds. Undefined
 * when there is no CMake or compiler.
 */
export async function measureBandwidth(
  root: string,
  isa: string,
  threads: number,
): Promise<Bandwidth | undefined> {
  try {
    const { stdout } = await run(await buildNative(root, isa, "bandwidth"), [String(threads)]);
    return JSON.parse(stdout) as Bandwidth;
  } catch {
    return undefined;
  }
}
