import type { NativeJob } from "./addon.ts";
import { DeviceStatus, type Status } from "./cuda/status.ts";
import { ArgumentError } from "./errors.ts";
import { nativeError } from "./native-error.ts";
import { describe } from "./validate.ts";

/**
 * @internal Runs a native job under an AbortSignal. The promise settles only when native code has let go of the arrays;
 * a signal that has fired by then makes it reject with `signal.reason`, one that has fired before keeps the job from
 * starting. What `start` gives instead of a job (a call on the device is no job) is passed on.
 */
export async function runJob(signal: AbortSignal | undefined, start: () => NativeJob): Promise<number>;
export async function runJob(
  signal: AbortSignal | undefined,
  start: () => NativeJob | DeviceStatus,
): Promise<Status>;
export async function runJob(
  signal: AbortSignal | undefined,
  start: () => NativeJob | DeviceStatus,
): Promise<Status> {
  if (signal === undefined) return settled(start());
  if (typeof signal !== "object" || signal === null || typeof signal.addEventListener !== "function") {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `signal: expected an AbortSignal, got ${describe(signal)}`);
  }
  signal.throwIfAborted();
  const job = start();
  if (job instanceof DeviceStatus) return job;
  const release = cancelOnAbort(signal, job);
  try {
    const status = await settled(job);
    signal.throwIfAborted();
    return status;
  } finally {
    release();
  }
}

async function settled(job: NativeJob | DeviceStatus): Promise<Status> {
  if (job instanceof DeviceStatus) return job;
  try {
    return await job.promise;
  } catch (cause) {
    throw nativeError("the native job", cause);
  }
}

// One listener per signal, however many jobs share it: Node warns of a leak from the eleventh on.
const watched = new WeakMap<AbortSignal, { jobs: Set<NativeJob>; cancelAll: () => void }>();

function cancelOnAbort(signal: AbortSignal, job: NativeJob): () => void {
  let entry = watched.get(signal);
  if (entry === undefined) {
    const jobs = new Set<NativeJob>();
    const cancelAll = () => {
      for (const running of jobs) running.cancel();
    };
    entry = { jobs, cancelAll };
    watched.set(signal, entry);
    signal.addEventListener("abort", cancelAll);
  }
  const { jobs, cancelAll } = entry;
  jobs.add(job);
  return () => {
    jobs.delete(job);
    if (jobs.size > 0) return;
    watched.delete(signal);
    signal.removeEventListener("abort", cancelAll);
  };
}
