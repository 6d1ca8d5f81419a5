import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

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
export async function measureBandwidth(root: string, threads: number): Promise<Bandwidth | undefined> {
  const build = join(root, "build", "bandwidth");
  try {
    await run("cmake", ["-S", join(root, "bench", "native"), "-B", build]);
    await run("cmake", ["--build", build, "--config", "Release"]);
    const { stdout } = await run(join(build, "bandwidth"), [String(threads)]);
    return JSON.parse(stdout) as Bandwidth;
  } catch {
    return undefined;
  }
}
