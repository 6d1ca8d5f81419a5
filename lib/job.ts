import type { NativeJob } from "./addon.ts";
import { AddonError, ArgumentError } from "./errors.ts";
import { describe } from "./validate.ts";

/**
 * @internal Runs a native job under an AbortSignal. The promise settles only when native code has let go of the arrays;
 * a signal that has fired by then makes it reject with `signal.reason`, one that has fired before keeps the job from
 * starting.
 */
export async function runJob(signal: AbortSignal | undefined, start: () => NativeJob): Promise<number> {
  if (signal === undefined) return settled(start());
  if (typeof signal !== "object" || signal === null || typeof signal.addEventListener !== "function") {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `signal: expected an AbortSignal, got ${describe(signal)}`);
  }
  signal.throwIfAborted();
  const job = start();
  signal.addEventListener("abort", job.cancel);
  try {
    const status = await settled(job);
    signal.throwIfAborted();
    return status;
  } finally {
    signal.removeEventListener("abort", job.cancel);
  }
}

async function settled(job: NativeJob): Promise<number> {
  try {
    return await job.promise;
  } catch (cause) {
    throw new AddonError("ERR_ADDON", `the native job failed: ${(cause as Error).message}`, { cause });
  }
}
