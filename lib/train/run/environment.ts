import { arch, cpus, platform, totalmem } from "node:os";
import { readFileSync } from "node:fs";
import { capabilities } from "../../device.ts";

/** What a run ran on: environment.json. */
export interface Environment {
  /** Version of this library. */
  readonly minform: string;
  /** Version of Node. */
  readonly node: string;
  /** Operating system and processor, as Node names them. */
  readonly platform: string;
  /** Model of the processor. */
  readonly cpu: string;
  /** Main memory. */
  readonly memoryBytes: number;
  /** Instruction-set level of the kernels. */
  readonly isa: string;
  /** Threads of the kernels. */
  readonly threads: number;
}

/** @internal The environment of this process. */
export function readEnvironment(): Environment {
  const { isaInUse, threads } = capabilities();
  const file = new URL("../../../package.json", import.meta.url);
  return {
    minform: (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version,
    node: process.version,
    platform: `${platform()} ${arch()}`,
    cpu: cpus()[0]?.model ?? "unknown",
    memoryBytes: totalmem(),
    isa: isaInUse,
    threads,
  };
}
